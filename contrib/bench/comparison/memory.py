"""What an idle connection costs a server in user space."""

from __future__ import annotations

import resource
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass

from . import procfs, protocol
from .servers import Running, ServerError

WARM_CONNECTIONS = 100
ACCEPT_TIMEOUT_S = 30.0
SETTLE_S = 0.2
SPARE_DESCRIPTORS = 100


@dataclass(frozen=True)
class IdleMemory:
    """Bytes of anonymous memory for each connection: while none has sent anything yet, and once
    each has had one reply and is silent again."""

    server: str
    connections: int
    silent_bytes: float
    served_bytes: float


def raise_descriptor_limit(needed: int) -> int:
    """Make room for descriptors of our own, and return how many there may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < needed:
        soft = hard if hard == resource.RLIM_INFINITY else min(max(needed, soft), hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def settled_sockets(running: Running) -> int:
    """The server's sockets, once it has closed what was opened to see whether it is ready."""
    count, earlier = procfs.socket_count(running.pids()), -1
    while count != earlier:
        time.sleep(SETTLE_S)
        count, earlier = procfs.socket_count(running.pids()), count
    return count


def wait_accepted(running: Running, sockets: int) -> None:
    """A connect succeeds before the accept; the server's descriptors tell when it has all."""
    deadline = time.monotonic() + ACCEPT_TIMEOUT_S
    while procfs.socket_count(running.pids()) < sockets:
        if time.monotonic() > deadline:
            raise ServerError(
                f"{running.server.name} did not accept all within {ACCEPT_TIMEOUT_S:g} s"
            )
        time.sleep(0.05)


def serve_each(conns: list[socket.socket]) -> None:
    kind = protocol.KINDS[0]
    payload = kind.payload(seed=1)
    request, reply = (
        protocol.frame(kind.id, payload),
        protocol.frame(kind.id, kind.reply(payload)),
    )
    for conn in conns:
        conn.sendall(request)
    for conn in conns:
        protocol.expect(conn, reply, "memory measurement")


def measure(running: Running, connections: int) -> IdleMemory:
    """Open that many idle connections, beyond a first few that make the server allocate what it
    allocates once. Fewer where our own descriptors do not suffice."""
    connections = min(
        connections,
        raise_descriptor_limit(connections + 2 * SPARE_DESCRIPTORS) - 2 * SPARE_DESCRIPTORS,
    )
    with ExitStack() as stack:

        def open_all(count: int) -> list[socket.socket]:
            before = settled_sockets(running)
            conns = [stack.enter_context(protocol.connect(running.port)) for _ in range(count)]
            wait_accepted(running, before + count)
            return conns

        serve_each(open_all(WARM_CONNECTIONS))
        base = procfs.anonymous_bytes(running.pids())
        conns = open_all(connections)
        silent = procfs.anonymous_bytes(running.pids()) - base
        serve_each(conns)
        served = procfs.anonymous_bytes(running.pids()) - base
    return IdleMemory(
        running.server.name, connections, silent / connections, served / connections
    )
