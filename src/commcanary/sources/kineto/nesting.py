"""Calls inside calls: the second mark of one call, a part of it, or a contradiction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.intervals import Disjoint, outermost
from commcanary.sources.kineto.operations import CONTROL, operator_operation, recorded_operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from commcanary.sources.kineto.rank_profile import RankProfile
    from commcanary.sources.kineto.spans import Spans

_COMPOSED = frozenset({"all_gather", "reduce_scatter", "gather", "scatter", "all_to_all"})
"""Operations that backends may run as several smaller ones (broadcasts, reduces, sends)."""


@dataclass(frozen=True)
class Nesting:
    """``outer`` marks the spans that are calls of their own; ``parts`` counts the others that belong to one of them.

    ``refused`` counts those inside another call that can be neither a part nor a second mark of it.
    """

    outer: NDArray[np.bool_]
    parts: int
    refused: int


def nested_records(profile: RankProfile, skip: bool) -> Nesting:
    """Nesting of records. A record inside a record is the same call if it has the same fields and number.

    Raises ``InputRefusal`` at the first that is not certain, unless ``skip``.
    """
    operations: dict[int, str | None] = {}
    for code in range(len(profile.record_shapes.values)):
        name = profile.record_shape(code).collective
        coalesced = isinstance(name, str) and "coalesced" in name
        operations[code] = "all_gather" if coalesced else recorded_operation(name) if isinstance(name, str) else None
    sequence = np.frombuffer(profile.record_sequences, np.int64) if len(profile.records) else np.zeros(0, np.int64)
    return _nesting(profile.records, operations, lambda a, b: bool(sequence[a] == sequence[b]), skip)


def nested_operators(profile: RankProfile, skip: bool) -> Nesting:
    """Nesting of ``c10d::`` operators; a dispatcher may mark one call twice, with equal shapes."""
    operations: dict[int, str | None] = {
        code: operator_operation(shape.name) for code, shape in enumerate(profile.host_shapes.values)
    }
    return _nesting(profile.operators, operations, lambda a, b: True, skip)


def _nesting(
    spans: Spans, operations: dict[int, str | None], same_number: Callable[[int, int], bool], skip: bool
) -> Nesting:
    outer = outermost(spans)
    inner = np.flatnonzero(~outer)
    if not len(inner):
        return Nesting(outer, 0, 0)
    parents = Disjoint(spans, outer).containing(spans.column("thread")[inner], spans.column("start")[inner])
    code = spans.column("code")
    twins = np.bincount(parents[code[inner] == code[parents]], minlength=len(outer))
    refused = 0
    for child, parent in zip(inner.tolist(), parents.tolist(), strict=True):
        around, own = operations.get(int(code[parent])), operations.get(int(code[child]))
        twin = code[child] == code[parent] and twins[parent] == 1 and same_number(child, parent)
        if twin or around in _COMPOSED or CONTROL in (around, own):
            continue
        if not skip:
            event = spans.column("event")
            raise InputRefusal(
                f"traceEvents[{event[child]}]",
                f"this call lies inside that of traceEvents[{event[parent]}], of which it is no part",
                "check both durations, or leave the call out with --on-error skip",
            )
        refused += 1
    return Nesting(outer, len(inner) - refused, refused)
