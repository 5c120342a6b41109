"""Two builds of runneld at the same time, each under the same load of its own: whatever else the
machine does meets both alike, so their ratio is steadier than that of runs in alternation."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from . import servers
from .loadgen import LoadError, LoadGenerator, read_report
from .results import Run
from .servers import SERVERS, Running, ServerError
from .shapes import SHAPES, Shape
from .stats import ratios

FIGURES: tuple[tuple[str, Callable[[Run], float]], ...] = (
    ("requests/s", lambda run: run.requests_per_s),
    ("server CPU per reply", lambda run: run.server_cpu_us),
)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="builds", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--shapes", default="c1k,c1k-16")
    return parser.parse_args(words)


def load(generator: LoadGenerator, it: Running, number: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="builds.") as folder:
        report = Path(folder) / "report.json"
        said = generator.call(generator.command(it, report))
        try:
            run = read_report(json.loads(report.read_text()), generator.shape.name, "", number)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LoadError(f"runnel-bench left no report: {said or repr(error)}") from None
    if run.failed:
        raise LoadError(f"round {number}: {run.failed} requests failed")
    return run


def run_round(shape: Shape, builds: list[Path], seconds: float, number: int) -> list[Run]:
    """Both are loaded by the second build's generator; every other round begins with the other."""
    server = next(server for server in SERVERS if server.name == "runneld")
    generator = LoadGenerator(builds[1] / "runnel-bench", shape, seconds)
    order = [0, 1] if number % 2 == 0 else [1, 0]
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        running = {}
        for i in order:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="builds.")))
            running[i] = stack.enter_context(servers.running(server, builds[i], folder))
        runs = {i: pool.submit(load, generator, running[i], number) for i in order}
        return [runs[0].result(), runs[1].result()]


def report(shape: Shape, rounds: list[list[Run]]) -> None:
    for name, figure in FIGURES:
        befores, afters = ([figure(pair[i]) for pair in rounds] for i in (0, 1))
        first, middle, third = statistics.quantiles(ratios(afters, befores), n=4)
        print(
            f"{shape.name}: {name}: {middle:.3f} x ({first:.3f} to {third:.3f}), "
            f"{statistics.median(befores):.4g} before, {statistics.median(afters):.4g} after, "
            f"{len(rounds)} rounds",
            flush=True,
        )


def main(words: list[str]) -> int:
    args = parse(words)
    builds = [args.before.resolve(), args.after.resolve()]
    names = args.shapes.split(",")
    try:
        for shape in (shape for shape in SHAPES if shape.name in names):
            numbers = range(args.rounds)
            report(shape, [run_round(shape, builds, args.seconds, i) for i in numbers])
    except (LoadError, ServerError) as error:
        print(f"builds: {error}")
        return 1
    return 0
