"""The verifier's own way from a canary to its events: a walk over the program, one leaf after another.

It shares with the compiler how columns are stored, and nothing of how they were made: rules are walked with
a stack instead of being built up, and every gap comes from exact whole-number running totals.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.arrow_columns import from_lists, from_nullable, whole
from commcanary.artifacts.events import UNKNOWN, Events, Ragged
from commcanary.artifacts.trace_checks import MAX_TIME_NS
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.program import Program

_REMEDY = "compile the canary again"


def walk(canary: Canary, most: int) -> Events:
    """The canary's events. Raises InputRefusal where program and records do not fit each other, or stand for
    more than ``most`` events, before anything of that size is made.
    """
    header, table = canary.header, canary.stored.table
    if table is None or table.num_rows == 0:
        raise InputRefusal("timing", "holds no records", _REMEDY)
    column = {name: whole(table.column(name)) for name in table.column_names}
    count = np.array(column["count"].fill_null(0), dtype=np.int64)
    if (count < 1).any() or not 1 <= header.unit_ns <= MAX_TIME_NS:
        raise InputRefusal("timing.count", "holds a record of no event, or a unit that is no time", _REMEDY)
    if (count > most).any() or int(count.sum()) > most:
        raise InputRefusal("timing.count", f"stands for more than {most} events", "give the source of this canary")
    events, unit = int(count.sum()), header.unit_ns
    record = np.repeat(np.arange(len(count), dtype=np.int64), count)
    return Events(
        groups=header.groups,
        signatures=header.signatures,
        signature=_operations(header.program, from_nullable(column["signature"]), count, len(header.signatures)),
        gap_ns=_gaps(np.array(column["gap"].fill_null(0), dtype=np.int64), count, unit),
        offsets_ns=_lists(column["offsets"], unit).take(record),
        compute_before_ns=_times(column["compute_before"], unit)[record],
        rank_compute_before_ns=_lists(column["rank_compute_before"], unit).take(record),
        compute_overlap_ns=_times(column["compute_overlap"], unit)[record],
        compute_pressure=np.array(column["compute_pressure"].fill_null(0.0), dtype=np.float64)[record],
        observed_exposed_ns=_times(column["observed_exposed"], unit)[record],
        message_sequence=from_nullable(column["message_sequence"])[record],
        consumer=_consumers(from_nullable(column["consumer"])[record], events),
        compute_uncertain=np.array(column["compute_uncertain"].fill_null(False)).astype(np.bool_)[record],
        gaps_known=not header.gaps_unknown,
    )


def _operations(
    program: Program, literal: NDArray[np.int64], count: NDArray[np.int64], signatures: int
) -> NDArray[np.int32]:
    events = int(count.sum())
    found = np.full(events, UNKNOWN, np.int32)
    first_event = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    at = 0
    for symbol, repeat in _leaves(program, events):
        if symbol == UNKNOWN:  # a literal stretch of ``repeat`` records
            record = int(np.searchsorted(first_event, at))
            stop = record + repeat
            if stop >= len(first_event) or first_event[record] != at:
                raise InputRefusal(
                    "program", f"takes {repeat} records from event {at} on, which are not there", _REMEDY
                )
            found[at : first_event[stop]] = np.repeat(literal[record:stop], count[record:stop])
            at = int(first_event[stop])
        else:
            found[at : at + repeat] = symbol
            at += repeat
        if at > events:
            break
    if at != events:
        raise InputRefusal("program", f"makes {'more' if at > events else at} events of {events}", _REMEDY)
    wrong = np.flatnonzero((found < 0) | (found >= signatures))
    if len(wrong):
        raise InputRefusal(f"events[{wrong[0]}]", f"has signature {found[wrong[0]]} of {signatures}", _REMEDY)
    return found


def _leaves(program: Program, events: int) -> Iterator[tuple[int, int]]:
    """(signature or -1, repeat) of every leaf in program order; stops after more than ``events`` steps."""
    stack = [(0, 0, 1)]  # rule, next entry, rounds left
    steps = 0
    while stack:
        rule, entry, rounds = stack.pop()
        if rule >= len(program) or len(program[rule]) < 2:
            raise InputRefusal(f"program[{rule}]", "is missing or empty", _REMEDY)
        if entry >= len(program[rule]) // 2:
            if rounds > 1:
                stack.append((rule, 0, rounds - 1))
            continue
        symbol, repeat = program[rule][2 * entry : 2 * entry + 2]
        steps += 1
        if repeat < 1 or steps > _MOST_STEPS * (events + len(program)):
            raise InputRefusal(f"program[{rule}] entry {entry}", "makes no progress", _REMEDY)
        stack.append((rule, entry + 1, rounds))
        if symbol >= UNKNOWN:
            yield symbol, repeat
        elif -1 - symbol <= rule:
            raise InputRefusal(f"program[{rule}] entry {entry}", "names a rule that does not come later", _REMEDY)
        else:
            stack.append((-1 - symbol, 0, repeat))


_MOST_STEPS = 64
"""Entries walked per event: nesting costs some, a program that only nests would cost any number."""


def _gaps(total: NDArray[np.int64], count: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    """Event i of c that share a total g waits floor((i + 1) g / c) - floor(i g / c) ns."""
    if (count == 1).all():
        return total * unit
    gaps: list[int] = []
    for shared, c in zip(total.tolist(), count.tolist(), strict=True):
        reached = [shared * unit * i // c for i in range(c + 1)]
        gaps += [late - early for early, late in pairwise(reached)]
    return np.array(gaps, dtype=np.int64)


def _times(column: pa.Array, unit: int) -> NDArray[np.int64]:
    values = from_nullable(column)
    return np.asarray(np.where(values == UNKNOWN, UNKNOWN, values * unit), dtype=np.int64)


def _lists(column: pa.Array, unit: int) -> Ragged:
    stored = from_lists(column)
    return Ragged(stored.values * unit, stored.bounds, stored.known)


def _consumers(distance: NDArray[np.int64], events: int) -> NDArray[np.int64]:
    return np.asarray(np.where(distance == UNKNOWN, UNKNOWN, np.arange(events) + distance), dtype=np.int64)
