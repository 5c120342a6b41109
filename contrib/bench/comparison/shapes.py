"""The loads that servers are compared under."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Shape:
    """A load: each connection keeps in_flight requests of 12 bytes under way."""

    name: str
    title: str
    connections: int
    in_flight: int = 1
    think: str | None = None  # pause of a connection after each reply
    is_mixed: bool = False  # all four message ids at random
    reconnect: str | None = None  # share of replies after which a connection is opened anew

    def rounds(self) -> int:
        """Ten thousand connections swing more between runs."""
        return 7 if self.connections >= 10_000 else 3

    def scaled(self, most: int) -> Shape:
        """The same with at most so many connections."""
        connections = min(self.connections, most)
        return replace(
            self,
            connections=connections,
            title=f"{self.title} (cut to {connections} connections)",
        )


SHAPES = (
    Shape("c10k", "10,000 connections, one request in flight", 10_000),
    Shape(
        "c10k-think", "10,000 connections, one in flight, 1 ms think time", 10_000, think="1ms"
    ),
    Shape("c1k", "1,000 connections, one request in flight", 1_000),
    Shape("c1k-16", "1,000 connections, 16 in flight", 1_000, in_flight=16),
    Shape("c10k-16", "10,000 connections, 16 in flight", 10_000, in_flight=16),
    Shape("mix", "1,000 connections, all four message ids", 1_000, is_mixed=True),
    Shape(
        "reconnect",
        "1,000 connections, a new one after 5 % of the replies",
        1_000,
        reconnect="5%",
    ),
)
