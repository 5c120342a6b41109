//go:build ignore

// What zinx's newest commit does on top of the SendBuffMsg change on this path: a
// connection no longer keeps a goroutine whose only work is to wait for its end; the
// reader finishes the connection itself.
package znet

import (
	"context"

	"github.com/aceld/zinx/zlog"
)

func (c *Connection) Start() {
	defer func() {
		if err := recover(); err != nil {
			zlog.Ins().ErrorF("start: %v", err)
		}
	}()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.callOnConnStart()
	if c.hc != nil {
		c.hc.Start()
		c.updateActivity()
	}
	c.workerID = useWorker(c)
	go func() {
		c.StartReader()
		c.finalizer()
		freeWorker(c)
	}()
}
