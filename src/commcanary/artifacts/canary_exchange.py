"""Canary <-> JSON: the header's fields, and ``timing`` as columns of plain numbers.

``timing`` leaves out what is the same for every canary without the feature: ``count`` where every record
stands for one event, a nullable column that is null throughout, ``compute_uncertain`` where nothing is.
The gap may stand as what it is beyond the compute before the event: ``gap.beyond_compute`` and its steps.
Lists are written flat: their lengths follow from the ranks of each record's group.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from commcanary.artifacts.arrow_columns import from_lists, from_nullable, lists, whole
from commcanary.artifacts.canary import (
    CANARY_FORMAT,
    CANARY_SCHEMA,
    MAX_EVENTS,
    MAX_NS,
    CanaryHeader,
    signatures_of_events,
)
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import UNKNOWN, Ragged
from commcanary.artifacts.header_parts import Limits, PartLimit, header_and_parts
from commcanary.artifacts.number_codec import (
    NULL,
    Form,
    encode_floats,
    encode_integers,
    plain_lists,
    text_size,
)
from commcanary.artifacts.number_lists import named_lists
from commcanary.artifacts.number_reading import EncodedColumns
from commcanary.artifacts.stored import JsonDocument, Kind, Stored
from commcanary.artifacts.trace_limits import GROUP_LIMITS, MAX_SIGNATURES
from commcanary.errors import InputRefusal

_NULLABLE = (
    "signature",
    "compute_before",
    "compute_overlap",
    "observed_exposed",
    "message_sequence",
    "consumer",
)
_BEYOND = "gap.beyond_compute"
_LISTS = ("offsets", "rank_compute_before")
_REMEDY = "compile the canary again"

CANARY_LIMITS: Limits = {
    "groups": GROUP_LIMITS,
    "signatures": (PartLimit(MAX_SIGNATURES, "signatures", b"{"),),
    # an irregular trace needs up to 0.4 values an event
    "program": (PartLimit(3 * 2**20),),
    # a number for each signature, and a digest for each 4,096 events
    "compiler": (PartLimit(2**19),),
}


def timing_columns(table: pa.Table) -> Form:
    """The timing records (``CANARY_SCHEMA``) as encoded JSON columns."""
    column = {name: whole(table.column(name)) for name in CANARY_SCHEMA.names}
    timing: Form = {}
    count = np.array(column["count"], dtype=np.int64)
    if (count != 1).any():
        timing |= encode_integers("count", count)
    timing |= _gap_form(column)
    for name in _NULLABLE:
        values = from_nullable(column[name], name)
        if (values != UNKNOWN).any():
            timing |= encode_integers(name, np.where(values == UNKNOWN, NULL, values))
    for name in _LISTS:
        ragged = from_lists(column[name], name)
        if ragged.known.any():
            timing |= encode_integers(name, ragged.values)
            if not ragged.known.all():
                timing |= encode_integers(f"{name}_known", ragged.known.astype(np.int64))
    timing |= encode_floats("compute_pressure", np.array(column["compute_pressure"], dtype=np.float64))
    uncertain = np.asarray(column["compute_uncertain"]).astype(np.int64)
    if uncertain.any():
        timing |= encode_integers("compute_uncertain", uncertain)
    return timing


def _gap_form(column: dict[str, pa.Array]) -> Form:
    gap = np.array(column["gap"], dtype=np.int64)
    plain = encode_integers("gap", gap)
    if column["compute_before"].null_count:
        return plain
    beyond = encode_integers(_BEYOND, gap - np.array(column["compute_before"], dtype=np.int64))
    return min(plain, beyond, key=text_size)


def timing_size(table: pa.Table) -> int:
    """Characters that the timing records take in exchange JSON, for ``exchange_size``."""
    return text_size(timing_columns(table))


def exchange_size(header: CanaryHeader, timing: int) -> int:
    """Bytes of ``json_bytes(CANARY, ...)`` of a canary with this header; ``timing`` as from ``timing_size``."""
    around = {**msgspec.to_builtins(header), "timing": {}, "content_id": "0" * 64}
    return len(canonical_json(around)) + timing - 1


def _to_json(stored: Stored[CanaryHeader]) -> JsonDocument:
    document: JsonDocument = msgspec.to_builtins(stored.header)
    if stored.table is not None:
        document["timing"] = plain_lists(timing_columns(stored.table))
    return document


def _from_json(data: bytes) -> Stored[CanaryHeader]:
    header, taken = header_and_parts(data, CanaryHeader, CANARY_LIMITS, ("content_id", "timing"))
    timing = named_lists(taken.get("timing", msgspec.Raw(b"null")), "timing")
    return Stored.decoded(header, _table(header, timing))


def _table(header: CanaryHeader, timing: dict[str, msgspec.Raw]) -> pa.Table:
    events = header.compiler.source_events
    if not 0 < events <= MAX_EVENTS:
        raise InputRefusal("compiler.source_events", f"is {events}", f"a canary stands for 1 to {MAX_EVENTS} events")
    encoded = EncodedColumns("timing", timing)
    beyond = encoded.has(_BEYOND)
    gap = encoded.integers(_BEYOND if beyond else "gap", events)
    records = len(gap)

    def sized(values: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
        if len(values) != records:
            raise InputRefusal(f"timing.{name}", f"has {len(values)} values for {records} records", _REMEDY)
        return values

    def column(name: str, default: int) -> np.ndarray[Any, Any]:
        return sized(encoded.integers(name, records), name) if encoded.has(name) else np.full(records, default)

    count = column("count", 1)
    columns: dict[str, pa.Array] = {"count": pa.array(count)}
    for name in _NULLABLE:
        columns[name] = _masked(column(name, NULL))
    if beyond:
        gap = _added(gap, columns["compute_before"])
    columns["gap"] = _masked(gap)
    signature = signatures_of_events(header, from_nullable(columns["signature"], "signature"), count)
    sizes = np.array([header.groups[s.group].size for s in header.signatures], np.int64)
    per_record = sizes[signature[np.cumsum(count) - count]]
    for name in _LISTS:
        columns[name] = lists(_ragged(encoded, name, per_record))
    columns["compute_pressure"] = pa.array(sized(encoded.floats("compute_pressure", records), "compute_pressure"))
    columns["compute_uncertain"] = pa.array(_flags(column("compute_uncertain", 0), "compute_uncertain"))
    encoded.finish()
    return pa.table([columns[name] for name in CANARY_SCHEMA.names], schema=CANARY_SCHEMA)


def _ragged(encoded: EncodedColumns, name: str, per_record: np.ndarray[Any, Any]) -> Ragged:
    known = np.zeros(len(per_record), np.bool_)
    values = np.zeros(0, np.int64)
    if encoded.has(name):
        known = ~known
        if encoded.has(f"{name}_known"):
            known = _flags(encoded.integers(f"{name}_known", len(per_record)), f"{name}_known")
            if len(known) != len(per_record):
                raise InputRefusal(f"timing.{name}_known", f"has {len(known)} flags", _REMEDY)
        values = encoded.integers(name, int(per_record[known].sum()))
    lengths = np.where(known, per_record, 0)
    if int(lengths.sum()) != len(values) or (values == NULL).any():
        raise InputRefusal(f"timing.{name}", f"has {len(values)} values where the groups need {lengths.sum()}", _REMEDY)
    return Ragged(values, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]), known)


def _added(beyond: np.ndarray[Any, Any], before: pa.Array) -> np.ndarray[Any, Any]:
    base = np.array(before.fill_null(NULL), dtype=np.int64)
    for values in (base, beyond):
        if len(values) and (int(values.min()) < -MAX_NS or int(values.max()) > MAX_NS):
            raise InputRefusal(f"timing.{_BEYOND}", "does not add up to known 64-bit numbers", _REMEDY)
    return np.asarray(base + beyond)


def _masked(values: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(values, mask=values == NULL)


def _flags(values: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    if ((values != 0) & (values != 1)).any():
        raise InputRefusal(f"timing.{name}", "holds something else than 0 and 1", _REMEDY)
    return np.asarray(values == 1)


CANARY = Kind("canary", CANARY_FORMAT, CanaryHeader, CANARY_SCHEMA, _to_json, _from_json, limits=CANARY_LIMITS)
"""The canary as an artifact kind."""
