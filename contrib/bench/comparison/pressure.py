"""Clients that do not read, flood, or hang up, against one worker of runneld with module echo."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from . import procfs
from .servers import free_port

CONF = """\
workers = 1
module-dir = "{modules}"
module echo {{ }}
listen main {{
    address = "127.0.0.1:{port}"
    modules = {{ echo }}
    {options}
}}
"""

READY_TIMEOUT_S = 20.0
STALLED_CLIENTS = 200
STALLED_PAYLOAD = 1024
QUEUE_BYTES = 1 << 20
FLOODERS = 4
ABRUPT_ROUNDS = 20_000


def frame(payload: bytes) -> bytes:
    return struct.pack(">II", 1, len(payload)) + payload


@dataclass(frozen=True)
class Daemon:
    port: int
    worker: int
    log: Path

    def connect(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def cpu_s(self) -> float:
        fields = procfs.stat_fields(self.worker)
        assert fields is not None, "the worker is gone"
        return (int(fields[11]) + int(fields[12])) / 100

    def memory(self) -> int:
        return procfs.anonymous_bytes([self.worker])

    def sockets(self) -> int:
        return procfs.socket_count([self.worker])


@contextmanager
def daemon(
    build: Path, options: str = "", conf: str = CONF, modules: Path | None = None
) -> Iterator[Daemon]:
    """A runneld of its own on a free port; it must end with status 0 and without a respawn."""
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "runnel.conf"
        modules = modules or build / "src/modules/.libs"
        path.write_text(conf.format(modules=modules, port=port, options=options))
        log = folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(build / "runneld"), "-F", "-c", str(path)],
                stdin=subprocess.DEVNULL,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield Daemon(port, await_worker(process, log), log)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                status = process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
        starts = len(re.findall(r"worker 0: started", log.read_text(errors="replace")))
        if status != 0 or starts != 1:
            sys_exit(f"the daemon ended with status {status} after {starts} starts of a worker")


def sys_exit(text: str) -> None:
    raise SystemExit(f"pressure: {text}")


def await_worker(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        text = log.read_text(errors="replace")
        if "ready: " in text and (found := re.search(r"worker 0: started, pid (\d+)", text)):
            return int(found[1])
        time.sleep(0.01)
    sys_exit(f"runneld did not start: {log.read_text(errors='replace').strip()}")
    raise AssertionError


def run_first() -> None:
    """Have a processor at once, where root allows it: what counts is how long the worker lets a
    client wait, not how long the scheduler does beside clients that use all processors."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print("pressure: not root: the times below include waits for a processor", file=sys.stderr)


def ping(it: Daemon, stop: Connection) -> None:
    """A polite client: a request of 64 bytes, its reply, a pause; then the list of times, in ms."""
    run_first()
    client = it.connect()
    request = frame(b"p" * 64)
    times: list[float] = []
    while not stop.poll():
        begun = time.perf_counter()
        client.sendall(request)
        missing = len(request)
        while missing > 0:
            missing -= len(client.recv(missing))
        times.append((time.perf_counter() - begun) * 1e3)
        time.sleep(0.002)
    stop.send(times)


@contextmanager
def pinger(it: Daemon, times: list[float]) -> Iterator[None]:
    """Fills times in the end."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=ping, args=(it, theirs), daemon=True)
    process.start()
    try:
        yield
        ours.send("stop")
        if not ours.poll(30):
            sys_exit("the polite client got no reply for 30 s")
        times.extend(ours.recv())
    finally:
        process.terminate()
        process.join()


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


@dataclass(frozen=True)
class Goal:
    what: str
    limit: str
    measured: str
    is_met: bool


def stalled(build: Path) -> list[Goal]:
    """Clients that send requests as fast as they can and never read a reply."""
    times: list[float] = []
    with daemon(build) as it, pinger(it, times):
        base = it.memory()
        clients = [it.connect() for _ in range(STALLED_CLIENTS)]
        for client in clients:
            client.setblocking(False)
        data = frame(b"x" * STALLED_PAYLOAD) * 64
        sent = [0] * len(clients)
        progress = time.monotonic()
        while time.monotonic() - progress < 1:
            for i, client in enumerate(clients):
                try:
                    sent[i] += client.send(data[sent[i] % len(data) :])
                    progress = time.monotonic()
                except BlockingIOError:
                    pass
        begun, cpu = time.monotonic(), it.cpu_s()
        first = it.memory()
        time.sleep(5)
        share = (it.cpu_s() - cpu) / (time.monotonic() - begun)
        held, growth = it.memory() - base, it.memory() - first
        for client in clients:
            client.close()
        rest = await_memory(it, base)
    # Each also has input that waits: at most one read.
    bound = STALLED_CLIENTS * (QUEUE_BYTES + (96 << 10))
    p99 = percentile(times, 0.99)
    return [
        Goal(
            f"{STALLED_CLIENTS} clients that never read: memory of the worker",
            f"at most {bound >> 20} MiB, not growing",
            f"{held >> 20} MiB, {growth >> 10:+d} KiB in 5 s",
            held <= bound and growth <= 1 << 20,
        ),
        Goal("the same: processor once all are stalled", "under 20 %", f"{share:.1%}", share < 0.2),
        Goal("the same: p99 of a client beside them", "under 50 ms", f"{p99:.2f} ms", p99 < 50),
        Goal(
            "the same: memory when they are gone, against before",
            "1.5 x within 60 s",
            f"{rest:.2f} x",
            rest <= 1.5,
        ),
    ]


def await_memory(it: Daemon, base: int) -> float:
    deadline = time.monotonic() + 60
    while it.memory() > 1.5 * base and time.monotonic() < deadline:
        time.sleep(0.1)
    return it.memory() / base


def flood(it: Daemon, seconds: float) -> None:
    """Clients that send as fast as it goes, and read as fast as it comes. They share a process, so
    that the clients' need of processors does not hide what the worker does."""
    clients = [it.connect() for _ in range(FLOODERS)]
    for client in clients:
        client.setblocking(False)
    data = frame(b"f" * 64) * 1024
    sent = [0] * len(clients)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for i, client in enumerate(clients):
            try:
                sent[i] += client.send(data[sent[i] % len(data) :])
            except BlockingIOError:
                pass
            try:
                client.recv(1 << 20)
            except BlockingIOError:
                pass


def flooded(build: Path) -> list[Goal]:
    times: list[float] = []
    with daemon(build) as it, pinger(it, times):
        flooder = multiprocessing.Process(target=flood, args=(it, 8.0), daemon=True)
        flooder.start()
        flooder.join()
    p99 = percentile(times, 0.99)
    what = f"{FLOODERS} clients that flood: p99 of a client beside them"
    return [Goal(what, "under 5 ms", f"{p99:.2f} ms", p99 < 5)]


def lone(build: Path) -> list[Goal]:
    goals = []
    for depth in (1, 1024, 1 << 20):
        times: list[float] = []
        with daemon(build, f"send-queue-messages = {depth}") as it, pinger(it, times):
            time.sleep(2)
        median = statistics.median(times)
        goals.append(Goal(f"a lone request, queue of {depth} messages: median", "under 1 ms",
                          f"{median:.3f} ms", median < 1))
    return goals


def abrupt(build: Path) -> list[Goal]:
    """Connect, send, and reset the connection with the reply on its way."""
    with daemon(build) as it:
        sockets = it.sockets()
        for i in range(ABRUPT_ROUNDS):
            client = it.connect()
            client.send(frame(b"a" * (i % 2000)))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        deadline = time.monotonic() + 10
        while it.sockets() != sockets and time.monotonic() < deadline:
            time.sleep(0.05)
        left = it.sockets() - sockets
    return [Goal(f"{ABRUPT_ROUNDS:,} connections that send and reset: sockets left open", "0",
                 f"{left}", left == 0)]


def main(
    arguments: list[str],
    program: str = "pressure",
    runs: Sequence[Callable[[Path], list[Goal]]] = (stalled, flooded, lone, abrupt),
) -> int:
    if len(arguments) != 1:
        raise SystemExit(f"usage: {program} BUILD")
    build = Path(arguments[0]).resolve()
    goals = [goal for run in runs for goal in run(build)]
    print("| what | goal | measured | met |\n| --- | --- | --- | --- |")
    for goal in goals:
        print(f"| {goal.what} | {goal.limit} | {goal.measured} | {'yes' if goal.is_met else 'no'} |")
    return 0 if all(goal.is_met for goal in goals) else 1
