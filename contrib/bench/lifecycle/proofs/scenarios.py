"""The scenarios. Each starts its own daemons and says what it expected and what it saw."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from comparison import procfs

from .daemon import (
    UPGRADE_FAILED,
    Daemon,
    ScenarioError,
    Snapshot,
    await_true,
    daemon,
    is_alive,
    port_is_free,
)
from .load import Load, Report, churn

# The master's memory may differ by so much between before and after: the allocator keeps some.
MEMORY_SLACK_KB = 256

# The master lets a slot rest whose workers die again and again. So that all kills meet living
# workers within minutes, and all slots are filled in the end, a slot sees only so many.
KILLS_A_SLOT = 4
KILLS_A_MASTER = 4 * KILLS_A_SLOT

# Between two changes clients go on for a while, at random up to so long.
PAUSE_S = 0.1

WATCHDOG_S = 5
ADOPT_S = 1


@dataclass
class Findings:
    """What a scenario has seen; it passes when all of it was as expected."""

    lines: list[str] = field(default_factory=list)
    is_good: bool = True

    def expect(self, is_met: bool, what: str) -> None:
        self.lines.append(f"  {'ok  ' if is_met else 'FAIL'} {what}")
        self.is_good = self.is_good and is_met

    def note(self, what: str) -> None:
        self.lines += [f"       {line}" for line in what.splitlines()]

    def clients(self, report: Report) -> None:
        """Nobody noticed anything."""
        self.note(report.text)
        self.expect(report.failed() == 0 and report.status == 0,
                    f"clients: {report.failed()} failures")
        if report.failed():
            self.note(report.failures())

    def same(self, before: Snapshot, after: Snapshot) -> None:
        self.expect(before.equals(after), f"before {before}, after {after}")
        grown = after.master_kb - before.master_kb
        self.expect(grown <= MEMORY_SLACK_KB, f"memory of the master: {grown:+d} kB")


@dataclass(frozen=True)
class Setting:
    build: Path
    folder: Path
    load: Load
    times: int

    def daemon(self, workers: int, options: str = "", drain_s: int = 5):  # type: ignore[no-untyped-def]
        return daemon(self.build, self.folder, workers, options, drain_s)

    def churn(self, it: Daemon, *more: str):  # type: ignore[no-untyped-def]
        return churn(self.build, self.folder, it.port, self.load, *more)


def under_load(setting: Setting, it: Daemon, change: Callable[[int], None]) -> Findings:
    """A change to the daemon, many times under load: nobody notices, and nothing is left of it.
    What is compared is the state after the first change, which is made without load."""
    findings = Findings()
    change(0)
    before = it.settled()
    with setting.churn(it) as clients:
        begun = time.monotonic()
        for i in range(1, setting.times + 1):
            time.sleep(random.uniform(0, PAUSE_S))
            change(i)
            clients.check()
        took = time.monotonic() - begun
        findings.note(f"{setting.times} times in {took:.1f} s")
        report = clients.report()
    findings.clients(report)
    findings.same(before, it.settled(before))
    if not findings.is_good:
        findings.note(it.complaints())
    it.stop()
    return findings


def reload(setting: Setting) -> Findings:
    with setting.daemon(4) as it:
        def change(i: int) -> None:
            it.set_conf(4, max_message=4096 + i % 2 * 4096)
            it.reload()

        return under_load(setting, it, change)


def resize(setting: Setting) -> Findings:
    with setting.daemon(2) as it:
        def change(_: int) -> None:
            for workers in (8, 2):
                it.set_conf(workers)
                it.reload()

        return under_load(setting, it, change)


def broken_binaries(original: bytes) -> dict[str, bytes]:
    return {
        "a script that exits 1": b"#!/bin/sh\nexit 1\n",
        "/bin/false": Path("/bin/false").read_bytes(),
        "a truncated binary": original[:4096],
    }


BROKEN_CONFS = {
    "a conf with a syntax error": "listen {",
    "a conf with an unknown module": "module nobody { }",
}


def upgrade_once(it: Daemon) -> None:
    """USR2; a new master names itself in the pid file, and the old one is gone."""
    old = it.master
    os.kill(old, signal.SIGUSR2)
    if not await_true(lambda: it.pid_file.exists() and it.pid_file.read_text().strip() not in
                      ("", str(old)), 30):
        raise ScenarioError(f"no new master within 30 s:\n{it.log_tail(20)}")
    if not await_true(lambda: not is_alive(old), it.drain_s + 10):
        raise ScenarioError(f"the old master stays:\n{it.log_tail(20)}")


def upgrade_in_vain(it: Daemon, what: str) -> None:
    """USR2 with something broken in the way: the old master says so and stays."""
    old, since = it.master, it.log_size()
    os.kill(old, signal.SIGUSR2)
    if not await_true(lambda: it.find(UPGRADE_FAILED, since), 30):
        raise ScenarioError(f"{what}: the master does not say that the upgrade failed:\n"
                            f"{it.log_text(since)}")
    if it.master != old or not is_alive(old):
        raise ScenarioError(f"{what}: the old master is gone:\n{it.log_text(since)}")


def upgrade(setting: Setting) -> Findings:
    """Every fourth one with a broken binary or conf."""
    with setting.daemon(4) as it:
        good = it.original.read_bytes()
        broken: list[tuple[str, bytes, str]] = [
            *((what, content, "") for what, content in broken_binaries(good).items()),
            *((what, good, conf) for what, conf in BROKEN_CONFS.items()),
        ]

        def change(i: int) -> None:
            if i % 4 != 0 or i == 0:
                it.set_binary(good)
                upgrade_once(it)
                return
            what, content, conf = broken[i // 4 % len(broken)]
            it.set_binary(content)
            it.set_conf(4, more=conf)
            upgrade_in_vain(it, what)
            it.set_conf(4)

        return under_load(setting, it, change)


def kill_one(it: Daemon, kills: Counter[int]) -> None:
    """A random one, of a slot that has not had its share."""
    found: list[tuple[int, int]] = []

    def look() -> bool:
        slots = it.slots()
        found[:] = [(pid, slots[pid]) for pid in it.workers()
                    if pid in slots and kills[slots[pid]] < KILLS_A_SLOT]
        return bool(found)

    if not await_true(look, 20):
        raise ScenarioError(f"no worker to kill:\n{it.log_tail(20)}")
    victim, slot = random.choice(found)
    kills[slot] += 1
    os.kill(victim, signal.SIGKILL)


def kill_workers(setting: Setting, n_kills: int, findings: Findings) -> tuple[int, int]:
    """Under one master. Returns how many connections ended, and how many the clients opened."""
    with setting.daemon(4) as it:
        before = it.settled()
        with setting.churn(it, "-e") as clients:
            kills: Counter[int] = Counter()
            for _ in range(n_kills):
                kill_one(it, kills)
                time.sleep(random.uniform(0.2, 2) * PAUSE_S)
            clients.check()
            report = clients.report()
        after = it.settled(before)
        counters = it.stop()
    died = counters["closed_worker_died"]
    others = {name: n for name, n in counters.items() if name.startswith("closed_") and n > 0
              and name not in ("closed_peer", "closed_worker_died")}
    failed = report.failed("turned_away", "lost_end", "lost_reset")
    good = failed == 0 and report.ended() <= died and not others and before.equals(after)
    if not good:
        findings.note(report.text)
        findings.note(report.failures())
        findings.expect(failed == 0, f"failed connects, late or wrong replies: {failed}")
        findings.expect(report.ended() <= died, f"connections ended: {report.ended()}, of which "
                        f"the killed workers had at most {died}")
        findings.expect(not others, f"connections closed by living workers: {others or 0}")
        findings.same(before, after)
    return report.ended(), report.figures["connects"]


def kill(setting: Setting) -> Findings:
    """Only connections on killed workers end: the server counts each connection by how it ended,
    so those that living workers closed would show."""
    findings = Findings()
    left, ended, connects = setting.times, 0, 0
    while left > 0:
        n_kills = min(left, KILLS_A_MASTER)
        more_ended, more_connects = kill_workers(setting, n_kills, findings)
        ended += more_ended
        connects += more_connects
        left -= n_kills
    findings.expect(findings.is_good, f"{setting.times} kills: of {connects} connects none failed, "
                    f"{ended} connections ended with their worker")
    return findings


def stop_worker(setting: Setting, adopt_s: int, answer_limit_s: float, findings: Findings) -> None:
    """One of four workers is stopped until the watchdog has had it replaced."""
    options = f"watchdog-timeout = {WATCHDOG_S}s\nwatchdog-adopt = {adopt_s}s\n"
    with setting.daemon(4, options) as it:
        before = it.settled()
        with setting.churn(it, "-e") as clients:
            victim = random.choice(it.workers())
            os.kill(victim, signal.SIGSTOP)
            begun = time.monotonic()
            if not await_true(lambda: not is_alive(victim), WATCHDOG_S + 10):
                raise ScenarioError("the stopped worker was never killed")
            took = time.monotonic() - begun
            await_true(lambda: len(it.workers()) == 4, 10)
            report = clients.report()
        after = it.settled(before)
        it.stop()
    slowest = report.figures["answer_ms"]["max"] / 1000
    failed = report.failed("turned_away", "lost_end", "lost_reset", "reply_timeout")
    findings.note(report.text)
    findings.note(f"watchdog-adopt = {adopt_s}s: the worker was gone after {took:.1f} s")
    findings.expect(failed == 0, f"failed or unanswered connects: {failed}")
    if failed:
        findings.note(report.failures())
    findings.expect(slowest <= answer_limit_s, f"the slowest answer to a connect took "
                    f"{slowest:.2f} s, at most {answer_limit_s:g} s")
    findings.same(before, after)


def stopped(setting: Setting) -> Findings:
    """First with a sibling that adopts the slot, then without. An answer to a connect is its first
    reply. A session that the stopped worker had accepted before is not answered: it is lost."""
    findings = Findings()
    for _ in range(setting.times):
        stop_worker(setting, ADOPT_S, 2.0 * ADOPT_S, findings)
        stop_worker(setting, 0, WATCHDOG_S + 1.0, findings)
    return findings


def orphan_once(setting: Setting, findings: Findings) -> tuple[float, float, Report]:
    """Returns after how many seconds the port was free and the last process gone."""
    with setting.daemon(4) as it:
        with setting.churn(it, "-e") as clients:
            members = procfs.family(it.master)
            os.kill(it.master, signal.SIGKILL)
            begun = time.monotonic()
            is_free = await_true(lambda: port_is_free(it.port), it.drain_s)
            free_s = time.monotonic() - begun
            are_gone = await_true(lambda: not any(is_alive(pid) for pid in members),
                                  it.drain_s + 1)
            gone_s = time.monotonic() - begun
            report = clients.report()
        if not is_free or not are_gone:
            left = [pid for pid in members if is_alive(pid)]
            findings.expect(is_free, f"the port was free after {free_s:.2f} s")
            findings.expect(are_gone, f"left after {gone_s:.2f} s: {left}\n{it.log_tail(20)}")
    return free_s, gone_s, report


def orphans(setting: Setting) -> Findings:
    findings = Findings()
    rounds = [orphan_once(setting, findings) for _ in range(setting.times)]
    wrong = sum(report.figures["failed"]["wrong"] for _, _, report in rounds)
    lost = sum(report.failed("refused", "wrong") for _, _, report in rounds)
    findings.expect(
        findings.is_good,
        f"{setting.times} masters killed: port free after at most "
        f"{max(free for free, _, _ in rounds):.2f} s, last process gone after at most "
        f"{max(gone for _, gone, _ in rounds):.2f} s",
    )
    findings.expect(wrong == 0, f"wrong replies: {wrong}")
    findings.note(f"requests without a reply: {lost}")
    return findings


# By name: what it is, and how often it is done unless --times says otherwise.
SCENARIOS: dict[str, tuple[Callable[[Setting], Findings], int]] = {
    "reload": (reload, 100),
    "upgrade": (upgrade, 20),
    "kill": (kill, 300),
    "stopped": (stopped, 1),
    "resize": (resize, 50),
    "orphans": (orphans, 20),
}
