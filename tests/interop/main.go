// zinx's own client, as released, against runneld with module echo: what it sends comes back, in
// each of the two framings that zinx has, for one client and for many, and its heartbeat is heard.
//
//	interop -framing tlv|ltv HOST:PORT
//	interop -framing tlv|ltv -beats HOST:PORT
//
// The second expects runneld's own heartbeats, with zinx's default id, of a listener that sends them.
//
// The status is 0 when all went well; otherwise a line says what did not.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aceld/zinx/zconf"
	"github.com/aceld/zinx/zdecoder"
	"github.com/aceld/zinx/ziface"
	"github.com/aceld/zinx/zlog"
	"github.com/aceld/zinx/znet"
	"github.com/aceld/zinx/zpack"
)

const (
	pingID  = 1
	clients = 1000
	rounds  = 5
	timeout = 60 * time.Second
)

// inbox is a route that keeps what has come.
type inbox struct {
	znet.BaseRouter
	payloads chan []byte
}

func newInbox(size int) *inbox {
	return &inbox{payloads: make(chan []byte, size)}
}

func (in *inbox) Handle(request ziface.IRequest) {
	in.payloads <- bytes.Clone(request.GetData())
}

func (in *inbox) receive() ([]byte, error) {
	select {
	case payload := <-in.payloads:
		return payload, nil
	case <-time.After(timeout):
		return nil, fmt.Errorf("no message within %v", timeout)
	}
}

type target struct {
	host    string
	port    int
	framing string
}

// start connects a client whose messages of id go to in. option, if there is one, is applied before.
func (to target) start(id uint32, in *inbox, option func(ziface.IClient)) (ziface.IClient, error) {
	started := make(chan struct{})
	client := znet.NewClient(to.host, to.port)
	if to.framing == "ltv" {
		client.SetPacket(zpack.Factory().NewPack(ziface.ZinxDataPackOld))
		client.SetDecoder(zdecoder.NewLTV_Little_Decoder())
	}
	if in != nil {
		client.AddRouter(id, in)
	}
	if option != nil {
		option(client)
	}
	client.SetOnConnStart(func(ziface.IConnection) { close(started) })
	client.Start()
	select {
	case <-started:
		return client, nil
	case err := <-client.GetErrChan():
		return nil, err
	case <-time.After(timeout):
		return nil, fmt.Errorf("no connection within %v", timeout)
	}
}

// payload number i of a client: of 0 to 2000 bytes or so, all different.
func payload(client, i int) []byte {
	data := make([]byte, (client*7+i*131)%2000)
	for at := range data {
		data[at] = byte(client + i + at)
	}
	return binary.BigEndian.AppendUint32(data, uint32(client<<16|i))
}

// pingPong sends n messages without waiting, and expects each back once. zinx's client handles every
// message in a goroutine of its own, so their order is lost there.
func pingPong(to target, n int) error {
	in := newInbox(n)
	client, err := to.start(pingID, in, nil)
	if err != nil {
		return err
	}
	defer client.Stop()
	for i := range n {
		if err := client.Conn().SendMsg(pingID, payload(0, i)); err != nil {
			return err
		}
	}
	missing := make(map[string]bool, n)
	for i := range n {
		missing[string(payload(0, i))] = true
	}
	for len(missing) > 0 {
		got, err := in.receive()
		if err != nil {
			return fmt.Errorf("%d of %d have not come back: %w", len(missing), n, err)
		}
		if !missing[string(got)] {
			return fmt.Errorf("%d bytes have come that were not sent, or twice", len(got))
		}
		delete(missing, string(got))
	}
	return nil
}

// many has all clients connected at once before the first of them sends.
func many(to target) error {
	var connected, done sync.WaitGroup
	failures := make(chan error, clients)
	connected.Add(clients)
	done.Add(clients)
	for number := range clients {
		go func() {
			defer done.Done()
			in := newInbox(rounds)
			client, err := to.start(pingID, in, nil)
			connected.Done()
			if err != nil {
				failures <- err
				return
			}
			defer client.Stop()
			connected.Wait()
			for i := range rounds {
				sent := payload(number, i)
				// By default it gives up after 5 ms, on a busy machine too.
				if err := client.Conn().SendBuffMsg(pingID, sent,
					ziface.WithSendMsgTimeout(timeout)); err != nil {
					failures <- err
					return
				}
				got, err := in.receive()
				if err == nil && !bytes.Equal(got, sent) {
					err = fmt.Errorf("client %d got what it has not sent", number)
				}
				if err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	done.Wait()
	if len(failures) > 0 {
		return fmt.Errorf("%d of %d clients failed, the first: %w", len(failures), clients, <-failures)
	}
	return nil
}

// beats counts what comes back of zinx's own heartbeat messages, before they are decoded: their
// route is the checker's, and says nothing.
type beats struct {
	seen chan struct{}
}

func (b *beats) Intercept(chain ziface.IChain) ziface.IcResp {
	if message := chain.GetIMessage(); message != nil &&
		bytes.Contains(message.GetData(), []byte("heartbeat [")) {
		select {
		case b.seen <- struct{}{}:
		default:
		}
	}
	return chain.Proceed(chain.Request())
}

// heartbeat has zinx's checker send its messages, of its default id, and sees them come back.
func heartbeat(to target) error {
	const wanted = 5
	counter := &beats{seen: make(chan struct{}, wanted)}
	in := newInbox(1)
	client, err := to.start(pingID, in, func(client ziface.IClient) {
		client.StartHeartBeat(20 * time.Millisecond)
		client.AddInterceptor(counter)
	})
	if err != nil {
		return err
	}
	defer client.Stop()
	for i := range wanted {
		select {
		case <-counter.seen:
		case <-time.After(timeout):
			return fmt.Errorf("%d of %d came back within %v", i, wanted, timeout)
		}
	}
	if err := client.Conn().SendMsg(pingID, []byte("between beats")); err != nil {
		return err
	}
	_, err = in.receive()
	return err
}

// serverBeats has the server send heartbeats to a client that sends nothing.
func serverBeats(to target) error {
	in := newInbox(100)
	client, err := to.start(ziface.HeartBeatDefaultMsgID, in, nil)
	if err != nil {
		return err
	}
	defer client.Stop()
	for i := range 3 {
		if _, err := in.receive(); err != nil {
			return fmt.Errorf("heartbeat %d: %w", i, err)
		}
	}
	return nil
}

func run() error {
	framing := flag.String("framing", "tlv", "tlv or ltv")
	beats := flag.Bool("beats", false, "expect heartbeats of the server, and no more")
	flag.Parse()
	host, text, err := net.SplitHostPort(flag.Arg(0))
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	zlog.SetLogLevel(zlog.LogPanic)
	zconf.GlobalObject.MaxPacketSize = 4096
	to := target{host: host, port: port, framing: *framing}
	if *beats {
		return serverBeats(to)
	}
	if err := pingPong(to, 500); err != nil {
		return fmt.Errorf("ping/pong: %w", err)
	}
	if err := many(to); err != nil {
		return fmt.Errorf("%d clients: %w", clients, err)
	}
	if err := heartbeat(to); err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "interop: %v\n", err)
		os.Exit(1)
	}
}
