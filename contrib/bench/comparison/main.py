"""The command line, the order of the runs, and the files that come out."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from . import chart, loadgen, memory, peers, protocol, report, servers
from .results import Results, Run
from .servers import SERVERS, Server
from .shapes import SHAPES

IDLE_CONNECTIONS = 10_000
SECONDS = 8.0
QUICK_CONNECTIONS = 200
QUICK_SECONDS = 0.5

Trouble = (
    loadgen.LoadError,
    peers.BuildError,
    protocol.ProtocolError,
    servers.ServerError,
    OSError,
)


def say(words: str) -> None:
    print(words, flush=True)


def pick(known: Sequence[str], text: str | None, what: str) -> list[str]:
    """The names in a comma-separated list, in our order; all of them without a list."""
    if text is None:
        return list(known)
    wanted = text.split(",")
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"compare: no {what} '{unknown[0]}'; there are {', '.join(known)}")
    return [name for name in known if name in wanted]


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="compare",
        description="Run servers of the c10k protocol in alternation, and compare them.",
    )
    parser.add_argument(
        "build", type=Path, help="build directory that has runneld and runnel-bench"
    )
    parser.add_argument(
        "--output", type=Path, help="folder for the results (default: BUILD/compare)"
    )
    parser.add_argument("--servers", metavar="A,B", help=", ".join(it.name for it in SERVERS))
    parser.add_argument("--shapes", metavar="A,B", help=", ".join(it.name for it in SHAPES))
    parser.add_argument(
        "--rounds", type=int, help="runs of each (default: 3, 7 at 10,000 connections)"
    )
    parser.add_argument("--seconds", type=float, help=f"length of a run (default: {SECONDS:g})")
    parser.add_argument("--no-memory", action="store_true", help="leave idle memory out")
    parser.add_argument(
        "--add", action="store_true", help="keep what OUTPUT has of other shapes"
    )
    parser.add_argument(
        "--no-build", action="store_true", help="take the peers that are built already"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one short, small run of each: a smoke test"
    )
    options = parser.parse_args(words)
    options.build = options.build.resolve()  # servers and compilers run in other folders
    options.output = options.output or options.build / "compare"
    if (options.rounds or 1) < 1 or (options.seconds or 1) <= 0:
        parser.error("--rounds and --seconds take a positive number")
    return options


def available(
    wanted: Sequence[Server], options: argparse.Namespace, results: Results
) -> list[Server]:
    """Build the peers among the servers; those that cannot be had are named and left out."""
    found = []
    for server in wanted:
        program = server.program(options.build)
        try:
            if server.kind in peers.PROGRAMS and not options.no_build:
                peers.build(server.kind, program.parent)
            if not program.exists():
                raise servers.ServerError(f"{program} is not there")
        except Trouble as trouble:
            note(results, f"{server.name} skipped: {trouble}")
            continue
        if server.kind in peers.PROGRAMS:
            results.facts[server.kind] = peers.version(program)
        found.append(server)
    return found


def note(results: Results, trouble: str) -> None:
    if trouble not in results.troubles:
        results.troubles.append(trouble)
    say(f"compare: {trouble}")


def alternation(fleet: Sequence[Server], rounds: int) -> Iterator[tuple[int, Server]]:
    """Every round has every server once, each round begun by another."""
    for number in range(1, rounds + 1):
        first = (number - 1) % len(fleet)
        for server in [*fleet[first:], *fleet[:first]]:
            yield number, server


def measure_load(
    bench: loadgen.LoadGenerator,
    build: Path,
    fleet: Sequence[Server],
    rounds: int,
    results: Results,
) -> None:
    """All rounds of a shape. A server that fails once is not tried again under this shape."""
    shape = bench.shape
    failed = set()
    for number, server in alternation(fleet, rounds):
        if server in failed:
            continue
        try:
            run = bench.run(server, build, number)
        except Trouble as trouble:
            failed.add(server)
            note(results, f"{shape.name}, round {number}, {server.name}: {trouble}")
            continue
        results.runs.append(run)
        say(line(run, rounds))


def line(run: Run, rounds: int) -> str:
    return (
        f"{run.shape:12} {run.round}/{rounds} {run.server:12} {run.requests_per_s:>10,.0f}/s  "
        f"p50 {run.p50_ms:.2f}  p99 {run.p99_ms:.2f}  max {run.max_ms:.2f} ms  "
        f"server {run.server_cpu_us:.2f} us/reply  idle {run.idle_share:.0%}  "
        f"failed {run.failed}"
    )


def measure_memory(
    build: Path, fleet: Sequence[Server], connections: int, results: Results
) -> None:
    for server in fleet:
        try:
            with (
                tempfile.TemporaryDirectory(prefix="compare.") as folder,
                servers.running(server, build, Path(folder)) as it,
            ):
                idle = memory.measure(it, connections)
        except Trouble as trouble:
            note(results, f"memory, {server.name}: {trouble}")
            continue
        results.memory.append(idle)
        say(
            f"{'memory':16} {server.name:12} {idle.silent_bytes:>10,.0f} bytes for a silent "
            f"connection, {idle.served_bytes:,.0f} after one reply"
        )


def machine_facts() -> dict[str, str]:
    """What a reader needs to judge the figures."""
    models = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "CPUs": f"{len(os.sched_getaffinity(0))} x {models[0] if models else 'unknown'}",
    }


def write(results: Results, output: Path) -> None:
    """The raw results, the report, and a chart for each shape."""
    output.mkdir(parents=True, exist_ok=True)
    (output / "results.json").write_text(results.to_json())
    (output / "results.md").write_text(report.markdown(results))
    for shape in results.shapes():
        (output / f"{shape}.svg").write_text(chart.svg(results, shape))


def earlier(output: Path) -> Results:
    path = output / "results.json"
    try:
        return Results.from_json(path.read_text())
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"compare: --add: {path}: {error}")


def interrupt(_signal: int, _frame: FrameType | None) -> None:
    """End on TERM as on Ctrl-C: what runs is stopped, what was measured is written."""
    raise KeyboardInterrupt


def compare(options: argparse.Namespace, results: Results) -> bool:
    """False if a server that could be started could not be measured."""
    wanted = pick([it.name for it in SERVERS], options.servers, "server")
    shapes = pick([it.name for it in SHAPES], options.shapes, "shape")
    fleet = available([it for it in SERVERS if it.name in wanted], options, results)
    if not fleet:
        sys.exit("compare: no server to run")
    skipped = len(results.troubles)
    for shape in (it for it in SHAPES if it.name in shapes):
        results.forget(shape.name)
        rounds = options.rounds or (1 if options.quick else shape.rounds())
        seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
        load = shape.scaled(QUICK_CONNECTIONS) if options.quick else shape
        bench = loadgen.LoadGenerator(options.build / "runnel-bench", load, seconds)
        measure_load(bench, options.build, fleet, rounds, results)
    if not options.no_memory:
        results.memory.clear()
        connections = QUICK_CONNECTIONS if options.quick else IDLE_CONNECTIONS
        measure_memory(options.build, fleet, connections, results)
    return len(results.troubles) == skipped


def main(words: Sequence[str]) -> int:
    options = parse(words)
    output = options.output
    results = earlier(output) if options.add else Results({})
    commands = [results.facts["command"]] if options.add else []
    results.facts |= machine_facts()
    results.facts["command"] = ", ".join([*commands, f"`compare {shlex.join(words)}`"])
    if options.quick:
        results.facts["note"] = f"a smoke test, with at most {QUICK_CONNECTIONS} connections"
    signal.signal(signal.SIGTERM, interrupt)
    try:
        status = 0 if compare(options, results) else 1
    except KeyboardInterrupt:
        say("compare: interrupted")
        status = 130
    write(results, output)
    say(f"compare: see {output / 'results.md'}")
    return status
