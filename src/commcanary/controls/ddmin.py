"""Delta debugging: the smallest part of a trace that an oracle still accepts.

Zeller and Hildebrandt's ddmin, reducing to subsets before complements. The oracle is a callable, so that
this knows nothing of what is preserved.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Oracle = Callable[[NDArray[np.int64]], bool]
    """Whether the events at these indices (ascending) still show what must be preserved."""

DEFAULT_BUDGET = 256


@dataclass(frozen=True)
class Reduction:
    """Indices that are left (ascending), and what finding them cost."""

    kept: NDArray[np.int64]
    oracle_calls: int
    oracle_call_budget: int
    budget_exhausted: bool


class _BudgetSpent(Exception):
    pass


class _CountedOracle:
    """The oracle, asked once per distinct part."""

    def __init__(self, oracle: Oracle, budget: int) -> None:
        self.oracle = oracle
        self.budget = budget
        self.calls = 0
        self.known: dict[bytes, bool] = {}

    def __call__(self, part: NDArray[np.int64]) -> bool:
        key = part.tobytes()
        if key not in self.known:
            if self.calls == self.budget:
                raise _BudgetSpent
            self.calls += 1
            self.known[key] = self.oracle(part)
        return self.known[key]


def ddmin(count: int, oracle: Oracle, budget: int = DEFAULT_BUDGET) -> Reduction:
    """Reduce 0 ... ``count - 1`` to a part that ``oracle`` accepts and that loses it with any one chunk less.

    The whole is taken as accepted and never asked about. After ``budget`` calls the smallest accepted part
    so far is returned, with ``budget_exhausted``.
    """
    ask = _CountedOracle(oracle, budget)
    kept = np.arange(count, dtype=np.int64)
    granularity = 2
    exhausted = False
    try:
        while len(kept) >= 2:
            parts = _chunks(kept, granularity)
            found = next((part for part in parts if ask(part)), None)
            if found is not None:
                kept, granularity = found, 2
                continue
            rest = None
            if granularity > 2:  # with two chunks the complements are the chunks
                rest = next((c for c in _complements(parts) if ask(c)), None)
            if rest is not None:
                kept, granularity = rest, max(granularity - 1, 2)
            elif granularity >= len(kept):
                break
            else:
                granularity = min(2 * granularity, len(kept))
    except _BudgetSpent:
        exhausted = True
    return Reduction(kept, ask.calls, budget, exhausted)


def _chunks(kept: NDArray[np.int64], granularity: int) -> list[NDArray[np.int64]]:
    bounds = [len(kept) * i // granularity for i in range(granularity + 1)]
    return [kept[low:high] for low, high in pairwise(bounds)]


def _complements(parts: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    return [np.concatenate([*parts[:i], *parts[i + 1 :]]) for i in range(len(parts))]
