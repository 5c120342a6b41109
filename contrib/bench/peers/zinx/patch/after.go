//go:build ignore

// The two methods of znet.Connection that the SendBuffMsg change replaced, written
// for this benchmark from the change's description: the writer takes everything that
// is queued and then flushes at once, with no timer; a full queue is an error at
// once, with no waiting. The comparison builds zinx's release with these two in the
// place of its own (see README.md).
package znet

import (
	"errors"

	"github.com/aceld/zinx/zconf"
	"github.com/aceld/zinx/ziface"
	"github.com/aceld/zinx/zlog"
)

func (c *Connection) StartWriter() {
	defer c.Flush()
	for {
		var data []byte
		select {
		case <-c.ctx.Done():
			return
		case data = <-c.msgBuffChan:
		}
		for queued := true; queued; {
			if err := c.SendBuf(data); err != nil {
				zlog.Ins().ErrorF("writer: %v", err)
				return
			}
			select {
			case data = <-c.msgBuffChan:
			default:
				queued = false
			}
		}
		if err := c.Flush(); err != nil {
			zlog.Ins().ErrorF("writer: %v", err)
			return
		}
	}
}

func (c *Connection) SendToQueue(data []byte, _ ...ziface.MsgSendOption) error {
	if c.msgBuffChan == nil && c.setStartWriterFlag() {
		c.msgBuffChan = make(chan []byte, zconf.GlobalObject.MaxMsgChanLen)
		go c.StartWriter()
	}
	if c.isClosed() {
		return errors.New("send to a closed connection")
	}
	select {
	case <-c.ctx.Done():
		return errors.New("send to a closed connection")
	case c.msgBuffChan <- data:
		return nil
	default:
		zlog.Ins().ErrorF("send queue full")
		return errors.New("send queue full")
	}
}
