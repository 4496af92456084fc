"""The canary: a trace distilled to signatures, an event program and timing records.

One row per timing record. A record stands for ``count`` events in a row; times are multiples of
``unit_ns`` (the greatest common divisor of all times, so that a trace on a grid stays small).

    signature   in literal stretches of the program, else null
    count       events that the record stands for
    gap         sum of their gaps, spread evenly: event i of c gets floor((i+1) g / c) - floor(i g / c) ns
    offsets     arrival offsets in the order of the group's ranks, null where unknown
    compute_before, rank_compute_before, compute_overlap, observed_exposed    null where unknown
    compute_pressure, compute_uncertain, message_sequence
    consumer    distance in events to the event that first needs the result, null where at once
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from commcanary.artifacts.arrow_columns import from_lists, from_nullable, whole
from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.program import Program, expand
from commcanary.artifacts.stored import Lineage, Stored
from commcanary.artifacts.trace_checks import MAX_TIME_NS, check_arrivals_fit, check_events, group_fault
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

CANARY_FORMAT = "commcanary.canary.v1"
MAX_EVENTS = 50_000_000
"""A short program can ask for any number of events: more than this is refused before memory is."""
MAX_NS = 2**62
_REMEDY = "compile the canary again"

_LIST = pa.list_(pa.int64())

CANARY_SCHEMA = pa.schema(
    [
        ("signature", pa.int64()),
        ("count", pa.int64()),
        ("gap", pa.int64()),
        ("offsets", _LIST),
        ("compute_before", pa.int64()),
        ("rank_compute_before", _LIST),
        ("compute_overlap", pa.int64()),
        ("compute_pressure", pa.float64()),
        ("compute_uncertain", pa.bool_()),
        ("observed_exposed", pa.int64()),
        ("message_sequence", pa.int64()),
        ("consumer", pa.int64()),
    ]
)


class Fidelity(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Largest difference between source and canary per field, in us (pressure: its own unit).

    ``lossless_timing`` alone says that every one is 0; ``bounded_approximate`` states all eight.
    """

    # Defaults are left out by identity: a 0.0 that was computed or read from a file is written.

    mode: str
    max_gap_error_us: float = 0.0
    max_skew_error_us: float = 0.0
    max_arrival_offset_error_us: float = 0.0
    max_compute_before_error_us: float = 0.0
    max_overlap_error_us: float = 0.0
    max_pressure_error: float = 0.0
    max_observed_exposed_error_us: float = 0.0
    max_prefix_gap_error_us: float = 0.0


class SearchSummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a behaviour search chose; its ledger is a file of its own, bound by its content id."""

    candidate_count: int
    accepted_candidates: int
    selected: dict[str, int | float | None]
    selected_canary_bytes_without_search_metadata: int
    ledger_content_id: str


class Compiler(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What the compiler did. Byte counts are canonical exchange JSON of canary and trace.

    ``source_segments`` holds the first 16 hex digits of each Merkle leaf where there is more than one:
    enough to name the segment that differs; ``source_commitment`` (the root) is what binds.
    ``signature_limits`` (number of a signature -> records per group) override ``timing_sample_limit``.
    """

    source_events: int
    canary_events: int
    event_compression_ratio: float
    source_bytes: int
    canary_bytes: int
    byte_compression_ratio: float
    timing_mode: str
    fidelity: Fidelity
    source_content_id: str
    source_commitment: str
    source_coverage_status: str
    fidelity_budget: dict[str, float] = {}
    timing_sample_limit: int | None = None
    signature_limits: dict[str, int] = {}
    quantum_ns: int | None = None
    source_segments: tuple[str, ...] = ()
    assumptions: dict[str, float] = {}
    behavior_search: SearchSummary | None = None


class CanaryHeader(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=CANARY_FORMAT,
):
    """What a canary says beside its timing records. It holds no string of the profile but names of
    operations, groups and phases (and tag and channel of point-to-point messages, which key the noise).
    ``gaps_unknown``: the source has no times, gaps of 0 are placeholders.
    """

    workload: dict[str, str]
    groups: tuple[ProcessGroup, ...]
    signatures: tuple[Signature, ...]
    program: Program
    compiler: Compiler
    unit_ns: int = 1
    gaps_unknown: bool = False
    lineage: Lineage | None = None


@dataclass(frozen=True)
class Canary:
    """Header and timing records (``CANARY_SCHEMA``) of a canary."""

    stored: Stored[CanaryHeader]

    @property
    def header(self) -> CanaryHeader:
        """The typed header."""
        return self.stored.header

    @property
    def content_id(self) -> str:
        """Hex content id, the same in both containers."""
        return self.stored.content_id

    @property
    def records(self) -> int:
        """Number of timing records."""
        return 0 if self.stored.table is None else int(self.stored.table.num_rows)

    @cached_property
    def events(self) -> Events:
        """The events that the canary replays, expanded and checked as a trace would be.

        Raises ``InputRefusal`` naming the program entry or the event that no canary may have.
        """
        header, table = self.stored.header, self.stored.table
        if table is None or table.num_rows == 0:
            raise InputRefusal("timing", "holds no records", _REMEDY)
        column = {name: whole(table.column(name)) for name in CANARY_SCHEMA.names}
        for name in ("count", "gap", "compute_pressure", "compute_uncertain"):
            if column[name].null_count:
                raise InputRefusal(f"column {name}", "holds null", _REMEDY)
        count = np.array(column["count"], dtype=np.int64)
        signature = signatures_of_events(header, from_nullable(column["signature"], "signature"), count)
        record = None if (count == 1).all() else np.repeat(np.arange(len(count), dtype=np.int64), count)
        unit = header.unit_ns
        events = Events(
            groups=header.groups,
            signatures=header.signatures,
            signature=signature,
            gap_ns=spread(_scaled(from_nullable(column["gap"], "gap"), unit, "gap"), count),
            offsets_ns=_lists(column, "offsets", record, unit),
            compute_before_ns=_times(column, "compute_before", record, unit),
            rank_compute_before_ns=_lists(column, "rank_compute_before", record, unit),
            compute_overlap_ns=_times(column, "compute_overlap", record, unit),
            compute_pressure=_expanded(np.array(column["compute_pressure"], dtype=np.float64), record),
            observed_exposed_ns=_times(column, "observed_exposed", record, unit),
            message_sequence=_expanded(from_nullable(column["message_sequence"], "message_sequence"), record),
            consumer=_consumers(_expanded(from_nullable(column["consumer"], "consumer"), record)),
            compute_uncertain=_expanded(np.asarray(column["compute_uncertain"]).astype(np.bool_), record),
            gaps_known=not header.gaps_unknown,
        )
        check_events(events)
        return events


def signatures_of_events(
    header: CanaryHeader, literal_signature: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.int32]:
    """int32[events]: the program expanded over the records (``count`` and ``literal_signature``, int64[records]).

    Raises ``InputRefusal`` for whatever does not fit together, before anything as long as the events is made.
    """
    events = header.compiler.source_events
    if not 0 < events <= MAX_EVENTS:
        raise InputRefusal("compiler.source_events", f"is {events}", f"a canary stands for 1 to {MAX_EVENTS} events")
    if not 0 < header.unit_ns <= MAX_TIME_NS:
        raise InputRefusal("unit_ns", f"is {header.unit_ns}", _REMEDY)
    if len(count) == 0 or count.min() < 1 or count.max() > events or int(count.sum()) != events:
        raise InputRefusal("column count", f"does not add up to {events} events", _REMEDY)
    for number, group in enumerate(header.groups):
        fault = group_fault(group)
        if fault:
            raise InputRefusal(f"groups[{number}].ranks", *fault)
    for number, signature in enumerate(header.signatures):
        if not 0 <= signature.group < len(header.groups):
            raise InputRefusal(f"signatures[{number}].group", f"is {signature.group}", _REMEDY)
    expanded = expand(header.program, literal_signature, count, len(header.signatures), events)
    first = np.cumsum(count) - count
    inside = np.ones(events, np.bool_)
    inside[first] = False
    crossing = np.flatnonzero(inside[1:] & (expanded[1:] != expanded[:-1]))
    if len(crossing):
        row = int(np.searchsorted(first, crossing[0], side="right")) - 1
        raise InputRefusal(f"row {row} column count", "covers events of more than one operation", _REMEDY)
    sizes = np.array([header.groups[s.group].size for s in header.signatures], np.int64)
    check_arrivals_fit(int(sizes[expanded].sum()), "compiler.source_events")
    return expanded


def spread(totals: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[sum(count)]: each total spread over its ``count`` events so that they add up to it exactly."""
    if (count == 1).all():
        return totals
    which = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    share, rest = totals[which] // count[which], totals[which] % count[which]
    # floor((i+1) t / c) - floor(i t / c) with t = share c + rest; the product stays below c^2
    upper = (within + 1) * rest // count[which]
    return np.asarray(share + upper - within * rest // count[which], dtype=np.int64)


def _scaled(values: NDArray[np.int64], unit: int, name: str) -> NDArray[np.int64]:
    """Values in ``unit`` ns as ns, -1 kept; raises ``InputRefusal`` where int64 would wrap."""
    if len(values) and int(values.max()) > MAX_NS // unit:
        raise InputRefusal(f"column {name}", f"holds {values.max()} times unit_ns {unit}", _REMEDY)
    return values if unit == 1 else np.where(values == UNKNOWN, UNKNOWN, values * unit)


def _expanded(values: NDArray[T], record: NDArray[np.int64] | None) -> NDArray[T]:
    """One value per event: that of its ``record``, or its own where each event has one (None)."""
    return values if record is None else values[record]


def _times(column: dict[str, pa.Array], name: str, record: NDArray[np.int64] | None, unit: int) -> NDArray[np.int64]:
    return _expanded(_scaled(from_nullable(column[name], name), unit, name), record)


def _lists(column: dict[str, pa.Array], name: str, record: NDArray[np.int64] | None, unit: int) -> Ragged:
    ragged = from_lists(column[name], name)
    if len(ragged.values) and int(ragged.values.min()) < 0:
        raise InputRefusal(f"column {name}", f"holds {ragged.values.min()}", "give 0 or more")
    scaled = Ragged(_scaled(ragged.values, unit, name), ragged.bounds, ragged.known)
    return scaled if record is None else scaled.take(record)


def _consumers(distance: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.where(distance == UNKNOWN, UNKNOWN, np.arange(len(distance)) + distance), dtype=np.int64)
