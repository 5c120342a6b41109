"""The project's goals for speed and memory, and whether a comparison met them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .results import Figure, Results, Run
from .stats import Summary, ratios, summarise


def requests_per_s(run: Run) -> float:
    return run.requests_per_s


def server_cpu(run: Run) -> float:
    return run.server_cpu_us


def p99(run: Run) -> float:
    return run.p99_ms


@dataclass(frozen=True)
class Ratio:
    """A figure of ours against the same figure of a peer in the same round."""

    shape: str
    peer: str  # "floor": the floor with as many processes as we have workers
    name: str
    figure: Figure
    at_least: float | None = None
    at_most: float | None = None


RATIOS = (
    Ratio("c10k", "floor", "requests/s", requests_per_s, at_least=0.95),
    Ratio("c10k", "floor", "server CPU per reply", server_cpu, at_most=1.08),
    Ratio("c10k", "floor", "p99", p99, at_most=1.1),
    Ratio("c10k", "zinx-after", "requests/s", requests_per_s, at_least=1.7),
    Ratio("c10k", "zinx-after", "server CPU per reply", server_cpu, at_most=0.4),
    Ratio("c10k", "zinx-after", "p99", p99, at_most=0.6),
    Ratio("c10k", "zinx-before", "requests/s", requests_per_s, at_least=9),
    Ratio("c1k-16", "floor", "requests/s", requests_per_s, at_least=0.85),
    Ratio("c1k-16", "zinx-after", "requests/s", requests_per_s, at_least=4),
    Ratio("c10k-16", "floor", "requests/s", requests_per_s, at_least=0.85),
    Ratio("c10k-16", "zinx-after", "requests/s", requests_per_s, at_least=4),
)

FAIRNESS_SHAPE = "c10k"
P99_OVER_P50 = 2.0
MAX_OVER_P50 = 5.0
IDLE_BYTES = 320

# Ours, and what "floor" means for it.
OURS = {"runneld": "floor", "runneld-2": "floor-2"}


@dataclass(frozen=True)
class Verdict:
    """A row of the table: what, goal, measured, met."""

    what: str
    goal: str
    measured: Summary
    unit: str  # behind the number: " x", " bytes", ""
    met: bool


def limit(at_least: float | None, at_most: float | None) -> str:
    return f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"


def is_met(value: float, at_least: float | None, at_most: float | None) -> bool:
    return (at_least is None or value >= at_least) and (at_most is None or value <= at_most)


def ratio_verdicts(results: Results, ours: str) -> Iterator[Verdict]:
    for goal in RATIOS:
        peer = OURS[ours] if goal.peer == "floor" else goal.peer
        rounds = results.rounds(goal.shape)
        mine = results.by_round(goal.shape, ours, goal.figure, rounds)
        theirs = results.by_round(goal.shape, peer, goal.figure, rounds)
        if measured := summarise(ratios(mine, theirs)):
            met = is_met(measured.median, goal.at_least, goal.at_most)
            what = f"{goal.shape}, {ours} / {peer}: {goal.name}"
            yield Verdict(what, f"{limit(goal.at_least, goal.at_most)} x", measured, " x", met)


def fairness_verdicts(results: Results, ours: str) -> Iterator[Verdict]:
    runs = [run for run in results.of(FAIRNESS_SHAPE, ours) if run.p50_ms > 0]
    tails = (
        ("p99", P99_OVER_P50, [run.p99_ms / run.p50_ms for run in runs]),
        ("max", MAX_OVER_P50, [run.max_ms / run.p50_ms for run in runs]),
    )
    for name, most, values in tails:
        if measured := summarise(values):
            what = f"{FAIRNESS_SHAPE}, {ours}: {name} / p50"
            yield Verdict(what, f"at most {most:g} x", measured, " x", measured.median <= most)


def failure_verdicts(results: Results, ours: str) -> Iterator[Verdict]:
    if measured := summarise(run.failed for run in results.runs if run.server == ours):
        yield Verdict(
            f"every shape, {ours}: failed requests", "none", measured, "", measured.high == 0
        )


def memory_verdicts(results: Results, ours: str) -> Iterator[Verdict]:
    found = [
        max(it.silent_bytes, it.served_bytes) for it in results.memory if it.server == ours
    ]
    if measured := summarise(found):
        what = f"memory of an idle connection, {ours}"
        yield Verdict(
            what,
            f"at most {IDLE_BYTES} bytes",
            measured,
            " bytes",
            measured.median <= IDLE_BYTES,
        )


def verdicts(results: Results) -> list[Verdict]:
    """One for each goal that the runs say anything about."""
    found: list[Verdict] = []
    for ours in OURS:
        found += ratio_verdicts(results, ours)
        found += fairness_verdicts(results, ours)
        found += failure_verdicts(results, ours)
        found += memory_verdicts(results, ours)
    return found
