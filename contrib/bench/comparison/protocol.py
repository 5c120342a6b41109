"""Asks a server whether it speaks the c10k protocol, before it is measured."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

TIMEOUT_S = 10.0


class ProtocolError(Exception):
    """The server answered wrongly."""


@dataclass(frozen=True)
class Kind:
    """A message id: the size of its payload, and the int32 field that the reply changes."""

    id: int
    size: int
    field: int

    def payload(self, seed: int) -> bytes:
        return bytes((seed + i) % 256 for i in range(self.size))

    def reply(self, payload: bytes) -> bytes:
        fields = list(struct.unpack(f">{self.size // 4}I", payload))
        if self.id == 1001:
            fields[self.field] = (fields[0] + fields[1]) % 2**32
        else:
            fields[self.field] = (fields[self.field] + 1) % 2**32
        return struct.pack(f">{self.size // 4}I", *fields)


KINDS = (Kind(1001, 12, 2), Kind(2001, 16, 0), Kind(3001, 64, 1), Kind(4001, 256, 2))


def frame(message_id: int, payload: bytes) -> bytes:
    return struct.pack(">II", message_id, len(payload)) + payload


def receive(conn: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = conn.recv(size - len(data))
        if not part:
            raise ProtocolError(
                f"the connection was closed after {len(data)} of {size} bytes of replies"
            )
        data += part
    return bytes(data)


def connect(port: int) -> socket.socket:
    conn = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return conn


def exchange(conn: socket.socket, requests: bytes, expected: bytes, what: str) -> None:
    conn.sendall(requests)
    expect(conn, expected, what)


def expect(conn: socket.socket, expected: bytes, what: str) -> None:
    try:
        if receive(conn, len(expected)) != expected:
            raise ProtocolError(f"{what}: wrong reply")
    except TimeoutError:
        raise ProtocolError(f"{what}: no reply within {TIMEOUT_S:g} s") from None


def check_each_kind(port: int) -> None:
    with connect(port) as conn:
        for kind in KINDS:
            payload = kind.payload(seed=kind.id)
            exchange(
                conn,
                frame(kind.id, payload),
                frame(kind.id, kind.reply(payload)),
                f"id {kind.id}",
            )


def check_wrap(port: int) -> None:
    with connect(port) as conn:
        payload = struct.pack(">III", 2**31 - 1, 1, 0)
        exchange(
            conn,
            frame(1001, payload),
            frame(1001, payload[:8] + struct.pack(">I", 2**31)),
            "wrapping sum",
        )


def check_order(port: int) -> None:
    """Many requests at once, among them some without a reply, cut at odd places."""
    requests, expected = bytearray(), bytearray()
    for i in range(50):
        for kind in KINDS:
            payload = kind.payload(seed=i)
            requests += frame(kind.id, payload)
            expected += frame(kind.id, kind.reply(payload))
            requests += frame(kind.id, payload[: kind.size - 1]) if i % 10 == 0 else b""
        requests += frame(77, b"nobody's") if i % 10 == 5 else b""
    with connect(port) as conn:
        for start in range(0, len(requests), 997):
            conn.sendall(requests[start : start + 997])
            time.sleep(0.0005)  # lets the server see the cuts
        expect(conn, bytes(expected), "order of 200 replies")


def check_close(port: int) -> None:
    with connect(port) as conn:
        exchange(conn, frame(1001, bytes(12)), frame(1001, bytes(12)), "before the end")
        conn.shutdown(socket.SHUT_WR)
        try:
            if conn.recv(1):
                raise ProtocolError("bytes after the last reply")
        except TimeoutError:
            raise ProtocolError(
                f"not closed within {TIMEOUT_S:g} s after the client's end"
            ) from None


def check(port: int) -> None:
    """Raise ProtocolError if the server on 127.0.0.1:port does not keep to the protocol."""
    check_each_kind(port)
    check_wrap(port)
    check_order(port)
    check_close(port)
