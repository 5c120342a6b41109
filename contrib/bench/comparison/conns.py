"""10,000 connections that are looked at while they are busy."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from .pressure import Daemon, Goal, daemon

CONNECTIONS = 10_000
REQUESTS = 50
ROUNDS = 7
EVERY_S = 1.0

CONF = """\
workers = 2
{options}
module-dir = "{modules}"
module c10k {{ }}
listen main {{
    address = "127.0.0.1:{port}"
    modules = {{ c10k }}
}}
"""


class Looks(threading.Thread):
    """runnelctl conns, again and again, until it is told to stop."""

    def __init__(self, build: Path, control: Path, limit: int) -> None:
        super().__init__()
        self.command = [
            str(build / "runnelctl"), "-s", str(control), "-j", "-l", str(limit), "conns",
        ]
        self.stop = threading.Event()
        self.seconds: list[float] = []
        self.answers: list[bytes] = []

    def run(self) -> None:
        while not self.stop.wait(EVERY_S):
            begun = time.monotonic()
            answer = subprocess.run(self.command, capture_output=True, check=True).stdout
            self.seconds.append(time.monotonic() - begun)
            self.answers.append(answer)


def load(build: Path, it: Daemon, report: Path) -> float:
    """p99 in ms; no request may fail."""
    subprocess.run(
        [str(build / "runnel-bench"), "--quiet", "--no-progress", "--warmup", "3",
         "--connections", str(CONNECTIONS), "--requests", str(REQUESTS),
         "--json", str(report), f"127.0.0.1:{it.port}"],
        check=True,
    )
    return json.loads(report.read_text())["run"]["latency_us"]["p99"] / 1e3


def measure(build: Path, limit: int) -> list[Goal]:
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        control, report = Path(name) / "sock", Path(name) / "report.json"
        options = f'control-socket = "{control}"'
        with daemon(build, options, CONF) as it:
            looks: list[Looks] = []
            for number in range(ROUNDS):
                p99 = {}
                for is_looked_at in (False, True) if number % 2 == 0 else (True, False):
                    if is_looked_at:
                        looks.append(Looks(build, control, limit))
                        looks[-1].start()
                    p99[is_looked_at] = load(build, it, report)
                    if is_looked_at:
                        looks[-1].stop.set()
                        looks[-1].join()
                ratios.append(p99[True] / p99[False])
    seconds = [s for look in looks for s in look.seconds]
    shown = [len(json.loads(a)["connections"]) for look in looks for a in look.answers]
    if not seconds:
        raise SystemExit("conns: the load was over before a look at it")
    rise = statistics.median(ratios)
    text = f"{rise:.3f} x ({min(ratios):.3f} to {max(ratios):.3f}, {len(ratios)} rounds)"
    what = f"{max(shown):,} of {CONNECTIONS:,} connections shown once a second"
    return [
        Goal(f"{what}: p99 against without", "at most 1.2 x", text, rise <= 1.2),
        Goal(
            f"the same: the longest of {len(seconds)} answers",
            "at most 2 s", f"{max(seconds):.2f} s", max(seconds) <= 2,
        ),
    ]


def run(build: Path) -> list[Goal]:
    """With the limit that runnelctl has by itself, and with all connections in the answer."""
    return measure(build, 100) + measure(build, CONNECTIONS)
