// The c10k protocol served with gnet, as the peer of contrib/bench.
//
// A reply is its request with one field changed, so it is made in the read buffer, and
// all replies to one read leave in one write: what a careful user of gnet would do.
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/panjf2000/gnet/v2"
	"github.com/panjf2000/gnet/v2/pkg/logging"
)

const (
	headerSize = 8
	maxPayload = 4096
)

type server struct {
	gnet.BuiltinEventEngine
	address string
}

// OnBoot runs when the listener is open.
func (s *server) OnBoot(engine gnet.Engine) gnet.Action {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := engine.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "gnet: stop:", err)
			os.Exit(1)
		}
	}()
	fmt.Println("listening on", s.address)
	return gnet.None
}

func (s *server) OnTraffic(c gnet.Conn) gnet.Action {
	buf, err := c.Peek(-1)
	if err != nil {
		return gnet.Close
	}
	used, replies, ok := answer(buf)
	if replies > 0 {
		if _, err := c.Write(buf[:replies]); err != nil {
			return gnet.Close
		}
	}
	if !ok {
		return gnet.Close
	}
	if used > 0 { // Discard(0) would discard everything
		if _, err := c.Discard(used); err != nil {
			return gnet.Close
		}
	}
	return gnet.None
}

// answer turns the whole frames in buf into replies, which it leaves at the start of
// buf. It returns the bytes that were used, the bytes of replies, and whether the
// input is in order so far.
func answer(buf []byte) (used, replies int, ok bool) {
	for len(buf)-used >= headerSize {
		length := binary.BigEndian.Uint32(buf[used+4:])
		if length > maxPayload {
			return used, replies, false
		}
		size := headerSize + int(length)
		if len(buf)-used < size {
			break
		}
		frame := buf[used : used+size]
		used += size
		length = reply(binary.BigEndian.Uint32(frame), frame[headerSize:])
		if length == 0 {
			continue
		}
		binary.BigEndian.PutUint32(frame[4:], length)
		replies += copy(buf[replies:], frame[:headerSize+length])
	}
	return used, replies, true
}

// reply changes a payload into its reply and returns the reply's length; 0: none.
func reply(id uint32, payload []byte) uint32 {
	switch {
	case id == 1001 && len(payload) >= 12:
		setField(payload, 2, field(payload, 0)+field(payload, 1))
		return 12
	case id == 2001 && len(payload) >= 16:
		setField(payload, 0, field(payload, 0)+1)
		return 16
	case id == 3001 && len(payload) >= 64:
		setField(payload, 1, field(payload, 1)+1)
		return 64
	case id == 4001 && len(payload) >= 256:
		setField(payload, 2, field(payload, 2)+1)
		return 256
	}
	return 0
}

func field(payload []byte, index int) uint32 {
	return binary.BigEndian.Uint32(payload[4*index:])
}

func setField(payload []byte, index int, value uint32) {
	binary.BigEndian.PutUint32(payload[4*index:], value)
}

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1 (required)")
	loops := flag.Int("loops", 1, "event loops")
	flag.Parse()
	if *port < 1 || *port > 65535 || *loops < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: gnet -port 1..65535 [-loops N]")
		os.Exit(2)
	}

	s := &server{address: fmt.Sprintf("127.0.0.1:%d", *port)}
	err := gnet.Run(s, "tcp://"+s.address,
		gnet.WithNumEventLoop(*loops),
		gnet.WithMulticore(*loops > 1),
		gnet.WithTCPNoDelay(gnet.TCPNoDelay),
		gnet.WithLogLevel(logging.ErrorLevel))
	if err != nil {
		fmt.Fprintln(os.Stderr, "gnet:", err)
		os.Exit(1)
	}
}
