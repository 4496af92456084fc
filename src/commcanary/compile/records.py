"""Events as timing records: the table of a canary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from commcanary.artifacts.arrow_columns import lists, nullable
from commcanary.artifacts.canary import CANARY_SCHEMA, spread
from commcanary.artifacts.events import UNKNOWN, Events, Ragged
from commcanary.artifacts.trace_checks import MAX_TIME_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Records:
    """One representative event per timing record.

    ``count`` is the number of source events that each stands for, ``gap_total_ns`` the sum of their gaps,
    ``consumer_distance`` how many events later the result is first needed (-1: at once); all int64[records].
    """

    representatives: Events
    count: NDArray[np.int64]
    gap_total_ns: NDArray[np.int64]
    consumer_distance: NDArray[np.int64]

    @classmethod
    def one_per_event(cls, events: Events) -> Records:
        """Every event its own record."""
        return cls(events, np.ones(len(events), np.int64), events.gap_ns, consumer_distance(events))


def replayed(records: Records) -> Events:
    """The events that a canary with these records replays; links between events are left out."""
    index = np.repeat(np.arange(len(records.count), dtype=np.int64), records.count)
    return replace(records.representatives.take(index), gap_ns=spread(records.gap_total_ns, records.count))


def consumer_distance(events: Events) -> NDArray[np.int64]:
    """int64[n]: events between an event and its consumer, -1 where it is consumed at once."""
    distance: NDArray[np.int64] = events.consumer - np.arange(len(events), dtype=np.int64)
    distance[events.consumer == UNKNOWN] = UNKNOWN
    return distance


def common_unit_ns(records: Records) -> int:
    """The greatest ns that divides every time of the records; 1 where all are 0.

    Also 1 where it is longer than any one time may be, as gaps that are summed up can make it.
    """
    r = records.representatives
    unit = 0
    for times in (
        records.gap_total_ns,
        r.offsets_ns.values,
        r.rank_compute_before_ns.values,
        _known(r.compute_before_ns),
        _known(r.compute_overlap_ns),
        _known(r.observed_exposed_ns),
    ):
        if len(times) and unit != 1:
            unit = int(np.gcd(unit, np.gcd.reduce(times)))
    return unit if 0 < unit <= MAX_TIME_NS else 1


def record_table(records: Records, literal: NDArray[np.bool_], unit_ns: int) -> pa.Table:
    """The table (``CANARY_SCHEMA``) of ``records``; ``literal`` says which of them name their signature themselves."""
    r = records.representatives
    columns = {
        "signature": pa.array(r.signature.astype(np.int64), mask=~literal),
        "count": pa.array(records.count),
        "gap": pa.array(_in_units(records.gap_total_ns, unit_ns)),
        "offsets": lists(_scaled(r.offsets_ns, unit_ns)),
        "compute_before": _times(r.compute_before_ns, unit_ns),
        "rank_compute_before": lists(_scaled(r.rank_compute_before_ns, unit_ns)),
        "compute_overlap": _times(r.compute_overlap_ns, unit_ns),
        "compute_pressure": pa.array(r.compute_pressure),
        "compute_uncertain": pa.array(r.compute_uncertain),
        "observed_exposed": _times(r.observed_exposed_ns, unit_ns),
        "message_sequence": nullable(r.message_sequence),
        "consumer": nullable(records.consumer_distance),
    }
    return pa.table([columns[name] for name in CANARY_SCHEMA.names], schema=CANARY_SCHEMA)


def _known(times: NDArray[np.int64]) -> NDArray[np.int64]:
    known: NDArray[np.int64] = times[times != UNKNOWN]
    return known


def _scaled(ragged: Ragged, unit_ns: int) -> Ragged:
    return Ragged(_in_units(ragged.values, unit_ns), ragged.bounds, ragged.known)


def _times(times: NDArray[np.int64], unit_ns: int) -> pa.Array:
    return nullable(times if unit_ns == 1 else np.where(times == UNKNOWN, UNKNOWN, times // unit_ns))


def _in_units(times: NDArray[np.int64], unit_ns: int) -> NDArray[np.int64]:
    return times if unit_ns == 1 else times // unit_ns
