"""Which rows of a source a declared part is made of.

Where the part states that times moved, several choices of rows may fit; the commitment says which is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.units import MAX_TIME_US, ns_from_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from commcanary.artifacts.canary import Fidelity
    from commcanary.artifacts.events import Events

Row = tuple[Any, ...]


_PROBED = 64
_MOST_WINDOWS = 32


def windows_of_part(source: Events, part: Events, stated: Fidelity) -> Iterator[NDArray[np.int64]]:
    """int64[len(part)] of consecutive rows that ``part`` may be: operations agree everywhere, times and links
    within the part's own stated bounds. At most ``_MOST_WINDOWS`` of them, earliest first.
    """
    kinds, wanted = _identities(source), _identities(part)
    number: dict[Row, int] = {}
    codes = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int64)
    needed = np.array([number.get(kind, -1) for kind in wanted], np.int64)
    starts = np.arange(len(source) - len(part) + 1, dtype=np.int64)
    allowed_ns = _ns(stated.max_gap_error_us)
    for step in range(min(_PROBED, len(part))):
        near = np.abs(source.gap_ns[starts + step] - part.gap_ns[step]) <= allowed_ns
        starts = starts[near & (codes[starts + step] == needed[step])]
    bounds_ns = _bounds(stated)
    have, need = _times(source), _times(part)
    found = 0
    for start in starts.tolist():
        rows = range(start, start + len(part))
        if np.array_equal(codes[start : start + len(part)], needed) and all(
            _within(have[row], need[event], bounds_ns) for event, row in enumerate(rows)
        ):
            yield np.arange(start, start + len(part), dtype=np.int64)
            found += 1
            if found == _MOST_WINDOWS:
                return


def rows_of_part(source: Events, part: Events, stated: Fidelity) -> NDArray[np.int64] | int:
    """int64[len(part)]: for every event of ``part`` the source row that it is, in ascending order.

    An event is a row where operation and links agree and every time is within the part's own stated bounds.
    Taking the earliest fitting row each time finds such rows whenever there are any. Where there are none
    the result is the first event of the part that cannot be placed.
    """
    kinds, wanted = _identities(source), _identities(part)
    where: dict[Row, list[int]] = {}
    for index, kind in enumerate(kinds):
        where.setdefault(kind, []).append(index)
    bounds_ns = _bounds(stated)
    have, need = _times(source), _times(part)
    next_of: dict[Row, int] = {}
    found = np.empty(len(part), np.int64)
    previous = -1
    for event, kind in enumerate(wanted):
        rows = where.get(kind, [])
        position = next_of.get(kind, 0)
        while position < len(rows) and (
            rows[position] <= previous or not _within(have[rows[position]], need[event], bounds_ns)
        ):
            position += 1
        if position == len(rows):
            return event
        previous = found[event] = rows[position]
        next_of[kind] = position + 1
    return found


def _identities(events: Events) -> list[Row]:
    signatures = [(s, events.group_of(s)) for s in events.signatures]
    kinds = [(tuple(getattr(s, n) for n in s.__struct_fields__ if n != "group"), group) for s, group in signatures]
    return [
        (kinds[signature], sequence, uncertain)
        for signature, sequence, uncertain in zip(
            events.signature.tolist(), events.message_sequence.tolist(), events.compute_uncertain.tolist(), strict=True
        )
    ]


def _times(events: Events) -> list[Row]:
    return [
        (gap, offsets, before, rank_before, overlap, pressure, observed)
        for gap, offsets, before, rank_before, overlap, pressure, observed in zip(
            events.gap_ns.tolist(),
            (events.offsets_ns.row(i) for i in range(len(events))),
            events.compute_before_ns.tolist(),
            (events.rank_compute_before_ns.row(i) for i in range(len(events))),
            events.compute_overlap_ns.tolist(),
            events.compute_pressure.tolist(),
            events.observed_exposed_ns.tolist(),
            strict=True,
        )
    ]


def _bounds(stated: Fidelity) -> tuple[float, ...]:
    """The stated bound of every entry of ``_times``: whole ns, as the bounds were made; pressure as it is."""
    return (
        _ns(stated.max_gap_error_us),
        _ns(stated.max_arrival_offset_error_us),
        _ns(stated.max_compute_before_error_us),
        _ns(stated.max_compute_before_error_us),
        _ns(stated.max_overlap_error_us),
        stated.max_pressure_error,
        _ns(stated.max_observed_exposed_error_us),
    )


def _ns(bound_us: float) -> int:
    return ns_from_us(min(bound_us, MAX_TIME_US))  # no time is longer, whatever a file states


def _within(source: Row, part: Row, bounds: tuple[float, ...]) -> bool:
    for have, need, bound in zip(source, part, bounds, strict=True):
        if isinstance(have, list) and isinstance(need, list):
            if any(abs(a - b) > bound for a, b in zip(have, need, strict=True)):
                return False
        elif have is None or need is None:
            if have is not need:
                return False
        elif abs(have - need) > bound or (have < 0) != (need < 0):
            return False
    return True
