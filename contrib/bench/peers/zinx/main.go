// The c10k protocol served with zinx, as the peer of contrib/bench.
//
// The limits are those of the benchmark server that came with zinx's SendBuffMsg
// change (examples/c10k_test): a pool of 10 workers with task queues of 1024, a send
// queue of 1024 messages, packets of at most 4096 bytes. Two differ: the connection
// limit is higher than the 10,000 of a run, because zinx leaves a connection beyond
// its limit hanging, and nothing below a panic is logged, which favours zinx.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/aceld/zinx/zconf"
	"github.com/aceld/zinx/ziface"
	"github.com/aceld/zinx/zlog"
	"github.com/aceld/zinx/znet"
)

// handler answers one message id: edit changes a payload of at least size bytes
// into its reply.
type handler struct {
	znet.BaseRouter
	size int
	edit func(payload []byte)
}

func (h *handler) Handle(request ziface.IRequest) {
	payload := request.GetData()
	if len(payload) < h.size {
		return
	}
	// zinx's decoder made this slice for this one message, so it may be edited.
	payload = payload[:h.size]
	h.edit(payload)
	if err := request.GetConnection().SendBuffMsg(request.GetMsgID(), payload); err != nil {
		zlog.Ins().ErrorF("SendBuffMsg: %v", err)
	}
}

func field(payload []byte, index int) uint32 {
	return binary.BigEndian.Uint32(payload[4*index:])
}

func setField(payload []byte, index int, value uint32) {
	binary.BigEndian.PutUint32(payload[4*index:], value)
}

// increment adds one to the index-th int32 field.
func increment(index int) func([]byte) {
	return func(payload []byte) { setField(payload, index, field(payload, index)+1) }
}

func sum(payload []byte) {
	setField(payload, 2, field(payload, 0)+field(payload, 1))
}

// announce prints the ready line once the listener takes connections; zinx opens it
// in a goroutine and tells nobody when.
func announce(address string) {
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			fmt.Println("listening on", address)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1 (required)")
	flag.Parse()
	if *port < 1 || *port > 65535 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: zinx -port 1..65535")
		os.Exit(2)
	}

	server := znet.NewUserConfServer(&zconf.Config{
		Name:              "c10k",
		Mode:              zconf.ServerModeTcp,
		Host:              "127.0.0.1",
		TCPPort:           *port,
		MaxConn:           100000,
		WorkerPoolSize:    10,
		MaxWorkerTaskLen:  1024,
		MaxMsgChanLen:     1024,
		MaxPacketSize:     4096,
		LogIsolationLevel: zlog.LogPanic,
	})
	server.AddRouter(1001, &handler{size: 12, edit: sum})
	server.AddRouter(2001, &handler{size: 16, edit: increment(0)})
	server.AddRouter(3001, &handler{size: 64, edit: increment(1)})
	server.AddRouter(4001, &handler{size: 256, edit: increment(2)})
	go announce(fmt.Sprintf("127.0.0.1:%d", *port))
	server.Serve() // until SIGTERM or SIGINT
}
