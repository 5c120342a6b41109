"""A runneld of the scenario's own: its folder, its conf, its processes, its log."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from comparison import procfs
from comparison.servers import free_port

READY_TIMEOUT_S = 20.0
TICK_S = 0.01

# What the master logs. The scenarios wait for these lines and for no others.
READY = re.compile(r"ready: \d+ worker")
RELOAD_DONE = re.compile(r"reload: generation \d+ serves")
RELOAD_FAILED = re.compile(r"reload failed|no reload now")
UPGRADE_FAILED = re.compile(r"upgrade failed")
STARTED = re.compile(r"worker (\d+): started, pid (\d+)")
COMPLAINT = re.compile(r"\S+ (warn|error) ")
COUNTERS = re.compile(r"worker \d+: (accepted=\d+ .*)$", re.MULTILINE)

CONF = """\
workers = {workers}
module-dir = "{modules}"
log = "{log}"
pid-file = "{pid_file}"
drain-timeout = {drain_s}s
{options}
module c10k {{ }}
listen main {{
    address = "127.0.0.1:{port}"
    modules = {{ c10k }}
    max-message = {max_message}
}}
"""


class ScenarioError(Exception):
    """The scenario cannot go on; says why."""


def await_true(condition: Callable[[], object], timeout_s: float) -> bool:
    """Poll a condition until it holds; False: it never did."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(TICK_S)
    return True


def own_orphans() -> None:
    """Whoever loses his parent below this process becomes its child (PR_SET_CHILD_SUBREAPER), so
    that an upgraded master or an orphaned worker is found, and ended in the end."""
    if ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) != 0:
        raise ScenarioError("prctl(PR_SET_CHILD_SUBREAPER) failed")


def reap(pid: int) -> None:
    """Bury an orphan that has died as our child; anybody else's is left alone."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def is_alive(pid: int) -> bool:
    if procfs.start_time(pid) is not None:
        return True
    reap(pid)
    return False


def end_descendants() -> list[int]:
    """Kill all that was started below this process. Returns whom that met."""
    met: list[int] = []
    while found := [pid for pid in procfs.family(os.getpid())[1:] if is_alive(pid)]:
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        met += [pid for pid in found if pid not in met]
        time.sleep(TICK_S)
    return met


def children(pid: int) -> list[tuple[int, str]]:
    """The children of a process, each with its state."""
    found = []
    for entry in procfs.PROC.iterdir():
        if entry.name.isdigit() and (fields := procfs.stat_fields(int(entry.name))):
            if int(fields[1]) == pid:
                found.append((int(entry.name), fields[0]))
    return sorted(found)


def descriptors(pid: int) -> int:
    return len(os.listdir(procfs.PROC / str(pid) / "fd"))


def pss_kb(pid: int) -> int:
    text = (procfs.PROC / str(pid) / "smaps_rollup").read_text()
    return sum(int(n) for n in re.findall(r"^Pss:\s+(\d+) kB", text, re.MULTILINE))


@dataclass(frozen=True)
class Snapshot:
    """What must be the same before and after. Memory is the master's Pss."""

    workers: int
    zombies: int
    master_fds: int
    worker_fds: tuple[int, ...]
    master_kb: int

    def equals(self, other: Snapshot) -> bool:
        """In all but memory."""
        mine = (self.workers, self.zombies, self.master_fds, self.worker_fds)
        return mine == (other.workers, other.zombies, other.master_fds, other.worker_fds)


class Daemon:
    """Started by start(); everything about it is learnt from its files and from /proc."""

    def __init__(self, build: Path, folder: Path, workers: int, options: str = "",
                 drain_s: int = 5) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.conf = folder / "runnel.conf"
        self.pid_file = folder / "pid"
        self.binary = folder / "runneld"
        self.original = build / "runneld"
        self.port = free_port()
        self.drain_s = drain_s
        self.options = options
        self.modules = build / "src/modules/.libs"
        self.process: subprocess.Popen[bytes] | None = None
        self.set_binary(self.original.read_bytes())
        self.set_conf(workers)

    def set_conf(self, workers: int, max_message: int = 4096, more: str = "") -> None:
        text = CONF.format(workers=workers, modules=self.modules, log=self.log, port=self.port,
                           pid_file=self.pid_file, drain_s=self.drain_s, options=self.options,
                           max_message=max_message)
        self.conf.write_text(text + more)

    def set_binary(self, content: bytes) -> None:
        """By rename, as a package manager does it: the old file stays for whom it runs."""
        new = self.folder / "runneld.new"
        new.write_bytes(content)
        new.chmod(0o755)
        new.rename(self.binary)

    def start(self) -> None:
        with (self.folder / "err").open("wb") as errors:
            self.process = subprocess.Popen(
                [str(self.binary), "-F", "-c", str(self.conf)],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        process = self.process
        if not await_true(lambda: self.find(READY) or process.poll() is not None,
                          READY_TIMEOUT_S) or process.poll() is not None:
            said = (self.folder / "err").read_text(errors="replace").strip()
            raise ScenarioError(f"runneld did not start: {said or self.log_tail(5)}")

    @property
    def master(self) -> int:
        """As the pid file says, since an upgrade changes it."""
        try:
            return int(self.pid_file.read_text())
        except (FileNotFoundError, ValueError):
            raise ScenarioError(f"{self.pid_file} names no master") from None

    def workers(self) -> list[int]:
        return [pid for pid, state in children(self.master) if state != "Z"]

    def slots(self) -> dict[int, int]:
        """Which slot a worker's process is in, by its pid."""
        return {int(pid): int(slot) for slot, pid in STARTED.findall(self.log_text())}

    def log_text(self, since: int = 0) -> str:
        """What the log has from that byte on."""
        try:
            with self.log.open("rb") as log:
                log.seek(since)
                return log.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def log_size(self) -> int:
        return self.log.stat().st_size

    def log_tail(self, n_lines: int) -> str:
        return "\n".join(self.log_text().splitlines()[-n_lines:])

    def complaints(self) -> str:
        """The last warnings and errors in the log."""
        lines = [line for line in self.log_text().splitlines() if COMPLAINT.match(line)]
        return "\n".join(lines[-20:])

    def find(self, pattern: re.Pattern[str], since: int = 0) -> bool:
        return pattern.search(self.log_text(since)) is not None

    def reload(self, timeout_s: float = 30.0) -> None:
        """HUP, and wait until the master has said how it went."""
        since = self.log_size()
        os.kill(self.master, signal.SIGHUP)
        if not await_true(lambda: self.find(RELOAD_DONE, since) or
                          self.find(RELOAD_FAILED, since), timeout_s):
            raise ScenarioError(f"a reload was not done within {timeout_s:g} s")
        if self.find(RELOAD_FAILED, since):
            raise ScenarioError(f"a reload failed:\n{self.log_text(since)}")

    def snapshot(self) -> Snapshot:
        master = self.master
        family = children(master)
        alive = [pid for pid, state in family if state != "Z"]
        fds = sorted(descriptors(pid) for pid in alive)
        return Snapshot(len(alive), len(family) - len(alive), descriptors(master), tuple(fds),
                        pss_kb(master))

    def settled(self, wanted: Snapshot | None = None) -> Snapshot:
        """A snapshot once all that ends has ended: the one that is wanted, or one that holds for
        a second; if that never comes, the last one."""
        deadline = time.monotonic() + self.drain_s + 10
        last, since = None, time.monotonic()
        while time.monotonic() < deadline:
            try:
                now = self.snapshot()
            except (FileNotFoundError, ProcessLookupError):
                now = None
            if now and wanted and now.equals(wanted):
                return now
            if last is None or now is None or not now.equals(last):
                last, since = now, time.monotonic()
            elif wanted is None and time.monotonic() - since > 1:
                return now
            time.sleep(5 * TICK_S)
        if last is None:
            raise ScenarioError("the daemon's processes change all the time")
        return last

    def stop(self) -> dict[str, int]:
        """TERM; it must end in time and leave nobody. Returns its counters, of all slots."""
        master = self.master
        members = procfs.family(master)
        os.kill(master, signal.SIGTERM)
        if self.process and self.process.pid == master:
            try:
                status = self.process.wait(self.drain_s + 10)
            except subprocess.TimeoutExpired:
                raise ScenarioError("runneld did not stop") from None
            if status != 0:
                raise ScenarioError(f"runneld ended with status {status}")
        if not await_true(lambda: not any(is_alive(pid) for pid in members), self.drain_s + 10):
            raise ScenarioError("runneld left processes behind")
        return self.counters()

    def counters(self) -> dict[str, int]:
        total: dict[str, int] = {}
        for line in COUNTERS.findall(self.log_text()):
            for name, value in re.findall(r"(\w+)=(\d+)", line):
                total[name] = total.get(name, 0) + int(value)
        return total


def port_is_free(port: int) -> bool:
    """Whether a daemon that does not share its port can listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True


@contextmanager
def daemon(build: Path, folder: Path, workers: int, options: str = "",
           drain_s: int = 5) -> Iterator[Daemon]:
    """In an emptied folder; whatever happens, nothing of it runs afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    it = Daemon(build, folder, workers, options, drain_s)
    try:
        it.start()
        yield it
    finally:
        end_descendants()
        if it.process:
            it.process.wait()
