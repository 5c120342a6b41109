"""The clients: churn beside a daemon, and what it reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .daemon import ScenarioError, await_true

ENDS = ("turned_away", "lost_end", "lost_reset")


@dataclass(frozen=True)
class Load:
    busy: int
    rate: int
    think_ms: int = 0
    limit_ms: int = 5000

    def arguments(self) -> list[str]:
        values = {"-b": self.busy, "-r": self.rate, "-w": self.think_ms, "-l": self.limit_ms}
        return [str(word) for pair in values.items() for word in pair]


@dataclass
class Report:
    """What churn printed: a line for people, and the figures."""

    status: int
    text: str
    figures: dict[str, Any] = field(default_factory=dict)

    def failed(self, *but: str) -> int:
        """All failures, but those of these kinds."""
        return sum(n for name, n in self.figures["failed"].items() if name not in but)

    def ended(self) -> int:
        """Connections that the server ended, in whatever state."""
        return self.figures["moved"] + sum(self.figures["failed"][name] for name in ENDS)

    def failures(self) -> str:
        """Those failures that churn noted down, a line each."""
        return "\n".join(
            "{clock} {who} port {port}: {what} {error}, {at_s:.3f} s after the start, "
            "connected at {begun_s:.3f} s, {replies} replies before".format(**note)
            for note in self.figures["first_failures"]
        )


def parse(status: int, output: str) -> Report:
    lines = output.strip().splitlines()
    if len(lines) < 2 or not lines[-1].startswith("{"):
        raise ScenarioError(f"churn ended with status {status}: {output.strip()}")
    return Report(status, lines[-2], json.loads(lines[-1]))


class Churn:
    """A running churn; report() ends it."""

    def __init__(self, build: Path, folder: Path, port: int, load: Load, *more: str) -> None:
        self.load = load
        self.output = folder / "churn"
        command = [str(build / "contrib/bench/lifecycle/churn"), *load.arguments(), *more]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, f"127.0.0.1:{port}"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def await_ready(self) -> None:
        if not await_true(lambda: self.output.read_text().startswith("ready") or
                          self.process.poll() is not None, 30):
            raise ScenarioError("not all busy clients had a reply within 30 s")
        self.check()

    def check(self) -> None:
        """It must go on."""
        if self.process.poll() is not None:
            text = self.output.read_text().strip()
            raise ScenarioError(f"churn ended with status {self.process.returncode}: {text}")

    def report(self) -> Report:
        self.check()
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            status = self.process.wait(self.load.limit_ms / 1000 + 10)
        except subprocess.TimeoutExpired:
            raise ScenarioError("churn does not end") from None
        return parse(status, self.output.read_text())


@contextmanager
def churn(build: Path, folder: Path, port: int, load: Load, *more: str) -> Iterator[Churn]:
    it = Churn(build, folder, port, load, *more)
    try:
        it.await_ready()
        yield it
    finally:
        if it.process.poll() is None:
            it.process.kill()
        it.process.wait()
