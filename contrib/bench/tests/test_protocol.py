"""The protocol check lets a right server pass, and no wrong one."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
import unittest
from collections.abc import Callable
from unittest import mock

from comparison import protocol

Answer = Callable[[int, bytes], bytes | None]


def right(message_id: int, payload: bytes) -> bytes | None:
    for kind in protocol.KINDS:
        if kind.id == message_id and len(payload) >= kind.size:
            return kind.reply(payload)
    return None


def serve(conn: socket.socket, answer: Answer) -> None:
    stream = conn.makefile("rwb")
    while len(header := stream.read(8)) == 8:
        message_id, length = struct.unpack(">II", header)
        reply = answer(message_id, stream.read(length))
        if reply is not None:
            stream.write(protocol.frame(message_id, reply))
            stream.flush()


def check(answer: Answer) -> None:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            serve(self.request, answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            protocol.check(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


class Check(unittest.TestCase):
    def test_right_server(self) -> None:
        check(right)

    def test_sum_that_does_not_wrap(self) -> None:
        def saturate(message_id: int, payload: bytes) -> bytes | None:
            reply = right(message_id, payload)
            if (
                message_id == 1001
                and reply is not None
                and payload.startswith(b"\x7f\xff\xff\xff")
            ):
                return reply[:8] + b"\x7f\xff\xff\xff"
            return reply

        with self.assertRaisesRegex(protocol.ProtocolError, "wrapping sum: wrong reply"):
            check(saturate)

    def test_echo(self) -> None:
        with self.assertRaisesRegex(protocol.ProtocolError, "id 1001: wrong reply"):
            check(lambda _, payload: payload)

    def test_silent_server(self) -> None:
        expected = self.assertRaisesRegex(protocol.ProtocolError, "no reply within")
        with mock.patch.object(protocol, "TIMEOUT_S", 0.05), expected:
            check(lambda _id, _payload: None)


if __name__ == "__main__":
    unittest.main()
