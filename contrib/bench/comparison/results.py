"""What was measured. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from .memory import IdleMemory
from .servers import SERVERS
from .stats import Summary, summarise


@dataclass(frozen=True)
class Run:
    """One run of the load generator against a server that was started for it."""

    server: str
    shape: str
    round: int
    replies: int
    failed: int
    requests_per_s: float
    mean_ms: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float
    server_cpu_us: float  # CPU time per reply
    client_cpu_us: float
    idle_share: float  # of all CPUs of the machine, 0 to 1


Figure = Callable[[Run], float]


@dataclass
class Results:
    """Everything of one comparison."""

    facts: dict[str, str]  # date, kernel, commands, versions ...
    runs: list[Run] = field(default_factory=list)
    memory: list[IdleMemory] = field(default_factory=list)
    troubles: list[str] = field(
        default_factory=list
    )  # runs that could not be, peers that are missing

    @staticmethod
    def from_json(text: str) -> Results:
        """What to_json wrote. ValueError, KeyError or TypeError if it is something else."""
        it = json.loads(text)
        return Results(
            facts=it["facts"],
            runs=[Run(**run) for run in it["runs"]],
            memory=[IdleMemory(**idle) for idle in it["memory"]],
            troubles=it["troubles"],
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"

    def forget(self, shape: str) -> None:
        """Make room for new runs of a shape, whose rounds are not those of the old ones."""
        self.runs = [run for run in self.runs if run.shape != shape]

    def of(self, shape: str, server: str) -> list[Run]:
        return [run for run in self.runs if run.shape == shape and run.server == server]

    def shapes(self) -> list[str]:
        return list(dict.fromkeys(run.shape for run in self.runs))

    def servers(self, shape: str) -> list[str]:
        """Those that have a run of the shape, in the order of SERVERS."""
        known = {run.server for run in self.runs if run.shape == shape}
        return [server.name for server in SERVERS if server.name in known]

    def summary(self, shape: str, server: str, figure: Figure) -> Summary | None:
        return summarise(figure(run) for run in self.of(shape, server))

    def by_round(
        self, shape: str, server: str, figure: Figure, rounds: Sequence[int]
    ) -> list[float | None]:
        found = {run.round: figure(run) for run in self.of(shape, server)}
        return [found.get(number) for number in rounds]

    def rounds(self, shape: str) -> list[int]:
        return sorted({run.round for run in self.runs if run.shape == shape})
