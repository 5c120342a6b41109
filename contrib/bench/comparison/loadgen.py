"""Runs runnel-bench against a server and reads its report."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import protocol, servers
from .results import Run
from .servers import Running, Server
from .shapes import Shape

# Requests of each connection before the measured ones: every connection has been accepted, and
# what a server allocates at first use is there.
WARMUP = 3

# A run may take this much longer than it is meant to: connecting, warming up a slow server, and
# requests that run into their deadline of 15 s.
GRACE_S = 120.0


# Of the reports of runnel-bench that read_report understands.
FORMAT = 1


class LoadError(Exception):
    """A run gave no figures; says why in one line."""


@dataclass(frozen=True)
class LoadGenerator:
    """runnel-bench, set to one shape."""

    program: Path
    shape: Shape
    seconds: float

    def command(self, running: Running, report: Path) -> list[str]:
        shape = self.shape
        words = [str(self.program), "--quiet", "--json", str(report)]
        words += ["--server-pid", str(running.process.pid)]
        words += ["--duration", f"{self.seconds * 1000:.0f}ms", "--warmup", str(WARMUP)]
        words += ["--connections", str(shape.connections), "--pipeline", str(shape.in_flight)]
        words += ["--think", shape.think] if shape.think else []
        words += ["--mix"] if shape.is_mixed else []
        words += ["--reconnect", shape.reconnect] if shape.reconnect else []
        return [*words, f"127.0.0.1:{running.port}"]

    def run(self, server: Server, build: Path, round_number: int) -> Run:
        """Start the server, see that it speaks the protocol, and load it."""
        with tempfile.TemporaryDirectory(prefix="compare.") as folder:
            with servers.running(server, build, Path(folder)) as it:
                protocol.check(it.port)
                report = Path(folder) / "report.json"
                said = self.call(self.command(it, report))
            try:
                figures = json.loads(report.read_text())
                return read_report(figures, self.shape.name, server.name, round_number)
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise LoadError(f"runnel-bench left no report: {said or repr(error)}") from None

    def call(self, command: list[str]) -> str:
        """Run it to its end, for a bounded time, and return the last line that it said."""
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as bench:
            try:
                _, said = bench.communicate(timeout=self.seconds + GRACE_S)
            except subprocess.TimeoutExpired:
                raise LoadError(f"not done {GRACE_S:g} s after its time") from None
            finally:
                bench.kill()
        return (said.decode(errors="replace").strip().splitlines() or [""])[-1]


def read_report(report: dict[str, Any], shape: str, server: str, round_number: int) -> Run:
    """What runnel-bench wrote, as a run; KeyError or TypeError if it lacks something."""
    if report["format"] != FORMAT:
        raise LoadError(f"its report has format {report['format']}, not {FORMAT}")
    phases = [report[name] for name in ("connect", "warmup", "run")]
    run, cpu = report["run"], report["cpu"]
    if run["replies"] == 0:
        raise LoadError("no replies")
    latency_ms = {name: value / 1000 for name, value in run["latency_us"].items()}
    # No request is sent after the duration. What follows the slowest reply is waiting for lost
    # replies until their deadline: that time is not the other replies' fault.
    asked_s = report["options"]["duration_us"] / 1e6
    seconds = min(run["seconds"], asked_s + latency_ms["max"] / 1000)
    return Run(
        server=server,
        shape=shape,
        round=round_number,
        replies=run["replies"],
        failed=count_failures(phases),
        requests_per_s=run["replies"] / seconds,
        mean_ms=latency_ms["mean"],
        p50_ms=latency_ms["p50"],
        p90_ms=latency_ms["p90"],
        p99_ms=latency_ms["p99"],
        p999_ms=latency_ms["p99.9"],
        max_ms=latency_ms["max"],
        server_cpu_us=float(cpu["server_us_per_reply"]),
        client_cpu_us=float(cpu["client_us_per_reply"]),
        idle_share=float(cpu["machine_idle_share"]),
    )


def count_failures(phases: list[dict[str, Any]]) -> int:
    """Requests without their right reply, and connects that failed, warming up included."""
    requests: int = sum(phase.get("failed", 0) for phase in phases)
    connects: int = sum(sum(phase["connects_failed"].values()) for phase in phases)
    return requests + connects
