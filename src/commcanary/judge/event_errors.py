"""Event by event: how far a canary's events are from a trace's, and where the two first disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, Ragged


@dataclass(frozen=True)
class FieldError:
    """Largest error of one field (us; pressure has no unit) and the event that has it.

    ``one_sided`` is the first event that knows the field on one side only, or -1: then there is no error.
    """

    largest: float
    worst_event: int
    one_sided: int = UNKNOWN


def field_errors(source: Events, canary: Events) -> dict[str, FieldError]:
    """The error of every bounded field over the events that both have, by the name of its bound."""
    n = min(len(source), len(canary))
    gap = (canary.gap_ns[:n] - source.gap_ns[:n]).astype(np.int64)
    before = _column(source.compute_before_ns[:n], canary.compute_before_ns[:n])
    rank_before = _ragged(source.rank_compute_before_ns, canary.rank_compute_before_ns, n)
    return {
        "max_gap_error_us": _largest_ns(gap),
        "max_skew_error_us": _column(source.skew_ns[:n], canary.skew_ns[:n]),
        "max_arrival_offset_error_us": _ragged(source.offsets_ns, canary.offsets_ns, n),
        "max_compute_before_error_us": _worse(before, rank_before),
        "max_overlap_error_us": _column(source.compute_overlap_ns[:n], canary.compute_overlap_ns[:n]),
        "max_pressure_error": _largest(np.abs(canary.compute_pressure[:n] - source.compute_pressure[:n])),
        "max_observed_exposed_error_us": _column(source.observed_exposed_ns[:n], canary.observed_exposed_ns[:n]),
        "max_prefix_gap_error_us": _largest_ns(np.cumsum(gap)),
    }


def first_other_operation(source: Events, canary: Events) -> int | None:
    """The first event whose operation, group or ranks differ, or that only one side has; None if none."""
    n = min(len(source), len(canary))
    known: dict[tuple[object, object], int] = {}
    codes = []
    for events in (source, canary):
        # the group by what it is: the two sides may number theirs differently
        kinds = [(_bare(s), events.group_of(s)) for s in events.signatures]
        number = np.array([known.setdefault(kind, len(known)) for kind in kinds], np.int64)
        codes.append(number[events.signature[:n]])
    differs = np.flatnonzero(codes[0] != codes[1])
    if len(differs):
        return int(differs[0])
    return None if len(source) == len(canary) else n


def first_other_link(source: Events, canary: Events) -> tuple[int, str] | None:
    """The first event whose message number, consumer or uncertainty flag differs, and which; None if none."""
    n = min(len(source), len(canary))
    found = []
    for name in ("message_sequence", "consumer", "compute_uncertain"):
        differs = np.flatnonzero(getattr(source, name)[:n] != getattr(canary, name)[:n])
        if len(differs):
            found.append((int(differs[0]), name))
    return min(found, default=None)


def describe(events: Events, index: int) -> str:
    """An event's operation in words, or that there is none."""
    if index >= len(events):
        return "no event"
    s = events.signatures[events.signature[index]]
    group = events.group_of(s)
    return f"{s.op} of {s.bytes} bytes in {s.phase} on {group.name} ({group.size} ranks)"


def _bare(signature: object) -> tuple[object, ...]:
    return tuple(getattr(signature, n) for n in signature.__struct_fields__ if n != "group")  # type: ignore[attr-defined]


def _column(source: NDArray[np.int64], canary: NDArray[np.int64]) -> FieldError:
    one_sided = np.flatnonzero((source == UNKNOWN) != (canary == UNKNOWN))
    error = _largest_ns(canary - source)
    return FieldError(error.largest, error.worst_event, int(one_sided[0]) if len(one_sided) else UNKNOWN)


def _ragged(source: Ragged, canary: Ragged, n: int) -> FieldError:
    lengths = source.lengths[:n] != canary.lengths[:n]
    one_sided = np.flatnonzero((source.known[:n] != canary.known[:n]) | lengths)
    if len(one_sided):
        return FieldError(float("inf"), int(one_sided[0]), int(one_sided[0]))
    end = int(source.bounds[n])
    error = np.abs(canary.values[:end] - source.values[:end])
    if not len(error):
        return FieldError(0.0, 0)
    worst = int(np.argmax(error))
    return FieldError(int(error[worst]) / NS_PER_US, int(np.searchsorted(source.bounds, worst, side="right")) - 1)


def _largest_ns(difference: NDArray[np.int64]) -> FieldError:
    found = _largest(np.abs(difference))
    return FieldError(int(found.largest) / NS_PER_US, found.worst_event)


def _largest(error: NDArray[np.int64] | NDArray[np.float64]) -> FieldError:
    if not len(error):
        return FieldError(0.0, 0)
    worst = int(np.argmax(error))
    return FieldError(float(error[worst]), worst)


def _worse(one: FieldError, other: FieldError) -> FieldError:
    if one.one_sided != UNKNOWN or (other.one_sided == UNKNOWN and one.largest >= other.largest):
        return one
    return other
