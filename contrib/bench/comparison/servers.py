"""The servers that are compared: how each is started, and that each is stopped."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import procfs

READY_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 10.0

CONF = """\
workers = {workers}
module-dir = "{modules}"
log = "stderr"

module c10k {{ }}

listen main {{
    address = "127.0.0.1:{port}"
    modules = {{ c10k }}
}}
"""


class ServerError(Exception):
    """A server did not start or did not live; says which and why."""


@dataclass(frozen=True)
class Server:
    """A row of the comparison. kind: floor, runneld, or a key of peers.PROGRAMS."""

    name: str
    title: str
    kind: str
    workers: int = 1

    def program(self, build: Path) -> Path:
        places = {"floor": build / "contrib/bench/floor", "runneld": build / "runneld"}
        return places.get(self.kind, peer_folder(build) / self.kind)

    def command(self, build: Path, port: int, folder: Path) -> list[str]:
        """What starts it on a port; folder is a temporary one of its own."""
        program = str(self.program(build))
        if self.kind == "floor":
            return [program, "-p", str(port), "-w", str(self.workers)]
        if self.kind == "gnet":
            return [program, "-port", str(port), "-loops", str(self.workers)]
        if self.kind == "runneld":
            conf = folder / "runnel.conf"
            modules = build / "src/modules/.libs"
            conf.write_text(CONF.format(workers=self.workers, modules=modules, port=port))
            return [program, "-F", "-c", str(conf)]
        return [program, "-port", str(port)]


SERVERS = (
    Server("floor", "floor, 1 process", "floor", 1),
    Server("floor-2", "floor, 2 processes", "floor", 2),
    Server("runneld", "runneld, 1 worker", "runneld", 1),
    Server("runneld-2", "runneld, 2 workers", "runneld", 2),
    Server("gnet", "gnet, 1 loop", "gnet", 1),
    Server("gnet-2", "gnet, 2 loops", "gnet", 2),
    Server("zinx-newest", "zinx newest", "zinx-newest"),
    Server("zinx-after", "zinx after", "zinx-after"),
    Server("zinx-before", "zinx before", "zinx-before"),
)


def peer_folder(build: Path) -> Path:
    return build / "contrib/bench/peers"


def free_port() -> int:
    """A port that was free a moment ago, outside the range of outgoing connections."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    first = max(1024, low - 8000)
    for port in range(first + os.getpid() % 4000, low):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServerError("no free port on 127.0.0.1")


@dataclass(frozen=True)
class Running:
    """A server that serves."""

    server: Server
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def pids(self) -> list[int]:
        return procfs.family(self.process.pid)

    def log_tail(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def wait_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                status = self.process.returncode
                raise ServerError(
                    f"{self.server.name} ended with status {status}: {self.log_tail()}"
                )
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise ServerError(
            f"{self.server.name} took no connection in {READY_TIMEOUT_S:g} s: {self.log_tail()}"
        )

    def stop(self) -> None:
        """TERM, and KILL for what is left of it after a while."""
        members = [(pid, procfs.start_time(pid)) for pid in self.pids()]
        self.process.terminate()
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pid, started in members:
            if started is not None and procfs.start_time(pid) == started:
                os.kill(pid, signal.SIGKILL)


@contextmanager
def running(server: Server, build: Path, folder: Path) -> Iterator[Running]:
    """Start a server on a free port, and stop it in the end, whatever happens. Its own session
    keeps a Ctrl-C at the terminal from it, so that the stop is always ours."""
    port = free_port()
    command = server.command(build, port, folder)
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    it = Running(server, port, process, log)
    try:
        it.wait_ready()
        yield it
    finally:
        it.stop()
