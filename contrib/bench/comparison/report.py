"""The Markdown report of a comparison. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .goals import Verdict, verdicts
from .results import Figure, Results
from .servers import SERVERS
from .shapes import SHAPES

SHAPE_TITLES = {shape.name: shape.title for shape in SHAPES}
SERVER_TITLES = {server.name: server.title for server in SERVERS}


def number(value: float) -> str:
    """Three significant digits, more for what is large anyway: 0.95, 23.4, 115,203."""
    if abs(value) >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


# Head of a column -> the figure, and whether its spread is shown.
COLUMNS: tuple[tuple[str, Figure, bool], ...] = (
    ("requests/s", lambda run: run.requests_per_s, True),
    ("p50 ms", lambda run: run.p50_ms, False),
    ("p99 ms", lambda run: run.p99_ms, True),
    ("p99.9 ms", lambda run: run.p999_ms, False),
    ("max ms", lambda run: run.max_ms, False),
    ("server CPU/reply µs", lambda run: run.server_cpu_us, True),
    ("client CPU/reply µs", lambda run: run.client_cpu_us, False),
    ("idle %", lambda run: 100 * run.idle_share, False),
)


def shape_row(results: Results, shape: str, server: str) -> list[str]:
    cells = [SERVER_TITLES[server]]
    for _, figure, has_spread in COLUMNS:
        summary = results.summary(shape, server, figure)
        assert summary is not None
        text = number(summary.median)
        if has_spread and summary.count > 1:
            text += f" ({number(summary.low)} to {number(summary.high)})"
        cells.append(text)
    runs = results.of(shape, server)
    return [*cells, f"{sum(run.failed for run in runs):,}", str(len(runs))]


def shape_section(results: Results, shape: str) -> str:
    head = ["server", *(name for name, _, _ in COLUMNS), "failed", "runs"]
    rows = [shape_row(results, shape, server) for server in results.servers(shape)]
    title = SHAPE_TITLES[shape]
    return f"## {shape}: {title}\n\n![{title}]({shape}.svg)\n\n{table(head, rows)}"


def verdict_row(verdict: Verdict) -> list[str]:
    measured, unit = verdict.measured, verdict.unit
    text = f"{number(measured.median)}{unit}"
    if measured.count > 1:
        text += f" ({number(measured.low)} to {number(measured.high)}, {measured.count} rounds)"
    return [verdict.what, verdict.goal, text, "yes" if verdict.met else "**no**"]


def goals_section(results: Results) -> str:
    rows = [verdict_row(verdict) for verdict in verdicts(results)]
    if not rows:
        return ""
    return (
        "## Goals\n\n"
        "A ratio is of two runs in the same round; the middle one of all rounds counts.\n\n"
        f"{table(['what', 'goal', 'measured', 'met?'], rows)}"
    )


def memory_section(results: Results) -> str:
    if not results.memory:
        return ""
    rows = [
        [
            SERVER_TITLES[it.server],
            f"{it.connections:,}",
            number(it.silent_bytes),
            number(it.served_bytes),
        ]
        for it in results.memory
    ]
    return (
        "## User memory of an idle connection\n\n"
        "Growth of anonymous memory (`Pss_Anon` in `/proc/PID/smaps_rollup`, all processes of\n"
        "the server) by opening so many connections beyond the first 100, divided by their\n"
        "number: before any has sent anything, and after each has had one reply.\n\n"
        f"{table(['server', 'connections', 'silent, bytes', 'after one reply, bytes'], rows)}"
    )


def facts_section(results: Results) -> str:
    lines = [f"- {name}: {value}\n" for name, value in results.facts.items()]
    return "# Comparison\n\n" + "".join(lines)


def troubles_section(results: Results) -> str:
    if not results.troubles:
        return ""
    return "## What could not be measured\n\n" + "".join(
        f"- {trouble}\n" for trouble in results.troubles
    )


def sections(results: Results) -> Iterator[str]:
    yield facts_section(results)
    yield goals_section(results)
    for shape in results.shapes():
        yield shape_section(results, shape)
    yield memory_section(results)
    yield troubles_section(results)


def markdown(results: Results) -> str:
    return "\n".join(section for section in sections(results) if section)
