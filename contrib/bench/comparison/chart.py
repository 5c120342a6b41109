"""The SVG chart of a shape: requests/s beside percentiles of latency, a row a server. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from html import escape

from .report import SERVER_TITLES, SHAPE_TITLES, number
from .results import Figure, Results, Run

WIDTH = 960
ROW = 34
TOP = 92
BOTTOM = 40
LABELS = 170  # width of the column of names
RATE = (LABELS, 420)  # from x to x; the number stands behind the bar
LATENCY = (545, 915)

# Both schemes draw on a ground of their own, so the chart is legible wherever it is shown.
STYLE = """\
svg { font: 13px system-ui, sans-serif; }
.ground { fill: #ffffff; } text { fill: #1f2328; } .faint { fill: #59636e; }
.grid { stroke: #d8dee4; } .range { stroke: #8c959f; stroke-width: 2; }
.theirs { fill: #a5afba; } .ours { fill: #0a69da; }
.p50 { fill: #1a7f37; } .p90 { fill: #bf8700; } .p99 { fill: #cf222e; } .max { fill: #59636e; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #0d1117; } text { fill: #e6edf3; } .faint { fill: #9198a1; }
  .grid { stroke: #30363d; } .range { stroke: #6e7681; }
  .theirs { fill: #57606a; } .ours { fill: #4493f8; }
  .p50 { fill: #3fb950; } .p90 { fill: #d29922; } .p99 { fill: #f85149; }
  .max { fill: #9198a1; }
}
"""

MARKS: tuple[tuple[str, Figure], ...] = (
    ("p50", lambda run: run.p50_ms),
    ("p90", lambda run: run.p90_ms),
    ("p99", lambda run: run.p99_ms),
    ("max", lambda run: run.max_ms),
)


def text(x: float, y: float, words: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(words)}</text>'


def mark(name: str, x: float, y: float) -> str:
    """Told apart by form as well as by colour."""
    forms = {
        "p50": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"',
        "p90": f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"',
        "p99": f'<path d="M{x:.1f} {y - 6:.1f} l6 6 l-6 6 l-6 -6 z"',
        "max": f'<rect x="{x - 1.5:.1f}" y="{y - 8:.1f}" width="3" height="16"',
    }
    return f'{forms[name]} class="{name}"><title>{name}</title></{forms[name][1:].split()[0]}>'


def middle(results: Results, shape: str, server: str, figure: Figure) -> float:
    summary = results.summary(shape, server, figure)
    assert summary is not None
    return summary.median


def decades(low: float, high: float) -> list[float]:
    """Powers of ten, in ms, that enclose low to high; a microsecond and less is all one."""
    first = math.floor(math.log10(max(low, 0.001)))
    last = max(math.ceil(math.log10(max(high, 0.001))), first + 1)
    return [10.0**power for power in range(first, last + 1)]


def logarithmic(low: float, high: float) -> Callable[[float], float]:
    """Maps low to high, in milliseconds, to the latency panel's width."""
    left, right = LATENCY
    scale = (right - left) / math.log10(high / low)
    return lambda value: left + scale * math.log10(max(value, low) / low)


def legend() -> Iterator[str]:
    yield text(LATENCY[0], 65.5, "latency", 'class="faint"')
    x = LATENCY[0] + 72.0
    for name, _ in MARKS:
        yield mark(name, x, 61)
        yield text(x + 11, 65.5, name, 'class="faint"')
        x += 62


def latency_grid(
    ticks: list[float], place: Callable[[float], float], bottom: float
) -> Iterator[str]:
    for tick in ticks:
        x = place(tick)
        yield f'<path d="M{x:.1f} {TOP - 12} V{bottom:.1f}" class="grid"/>'
        yield text(x, bottom + 18, f"{tick:,g} ms", 'class="faint" text-anchor="middle"')


def row(
    results: Results,
    shape: str,
    server: str,
    y: float,
    most: float,
    place: Callable[[float], float],
) -> Iterator[str]:
    rate = middle(results, shape, server, lambda run: run.requests_per_s)
    width = (RATE[1] - RATE[0]) * rate / most
    kind = "ours" if server.startswith("runneld") else "theirs"
    weight = ' font-weight="600"' if kind == "ours" else ""
    yield text(LABELS - 10, y + 4.5, SERVER_TITLES[server], f'text-anchor="end"{weight}')
    place_and_size = f'x="{RATE[0]}" y="{y - 10:.1f}" width="{width:.1f}" height="20"'
    yield f'<rect {place_and_size} rx="2" class="{kind}"/>'
    yield text(RATE[0] + width + 8, y + 4.5, number(rate))
    marks = [(name, place(middle(results, shape, server, figure))) for name, figure in MARKS]
    yield f'<path d="M{marks[0][1]:.1f} {y:.1f} H{marks[-1][1]:.1f}" class="range"/>'
    for name, x in reversed(marks):
        yield mark(name, x, y)


def svg(results: Results, shape: str) -> str:
    """The whole file for one shape, which must have been run."""
    servers = results.servers(shape)
    runs: list[Run] = [run for run in results.runs if run.shape == shape]
    most = (
        max(
            middle(results, shape, server, lambda run: run.requests_per_s) for server in servers
        )
        or 1.0
    )
    ticks = decades(min(run.p50_ms for run in runs), max(run.max_ms for run in runs))
    place = logarithmic(ticks[0], ticks[-1])
    bottom = TOP + ROW * len(servers)
    height = bottom + BOTTOM
    title = SHAPE_TITLES[shape]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="6" class="ground"/>',
        text(20, 30, title, 'font-size="16" font-weight="600"'),
        text(RATE[0], 65.5, "requests per second, median of runs", 'class="faint"'),
        *legend(),
        *latency_grid(ticks, place, bottom),
    ]
    for index, server in enumerate(servers):
        parts += row(results, shape, server, TOP + ROW * (index + 0.5), most, place)
    return "\n".join([*parts, "</svg>\n"])
