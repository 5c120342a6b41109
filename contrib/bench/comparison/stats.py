"""Medians, spreads and paired ratios. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """The middle of some runs and how far they lie apart."""

    median: float
    low: float
    high: float
    count: int


def summarise(values: Iterable[float]) -> Summary | None:
    """None if there are no values."""
    known = sorted(values)
    if not known:
        return None
    return Summary(statistics.median(known), known[0], known[-1], len(known))


def ratios(
    numerators: Sequence[float | None], denominators: Sequence[float | None]
) -> list[float]:
    """Round by round; a round that lacks one of the two, or divides by 0, is left out."""
    return [
        a / b
        for a, b in zip(numerators, denominators, strict=True)
        if a is not None and b is not None and b > 0
    ]
