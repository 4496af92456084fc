"""The report: what one configuration does to one canary, with the samples that say so.

Header: identity of the canary, model, protocol, configuration and metrics. Table (``REPORT_SCHEMA``): one
row per sample, seed-major, then iteration, then event in replayed order. A JSON report may leave the table
out; ``samples_digest`` binds it all the same, so the content id does not depend on it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from commcanary.artifacts.content import table_digest
from commcanary.artifacts.header_parts import Limits, PartLimit, header_and_parts
from commcanary.artifacts.number_lists import decoded_array, fractions, list_length, named_lists
from commcanary.artifacts.stored import JsonDocument, Kind, Stored
from commcanary.artifacts.trace_limits import MAX_SIGNATURES
from commcanary.errors import InputRefusal
from commcanary.replay.assumptions import assumed
from commcanary.replay.configuration import Configuration, Protocol, as_read
from commcanary.replay.metrics import (
    QUANTILE_METHOD,
    Calibration,
    ExposedMetrics,
    LatencySummary,
    Metrics,
    NamedSummary,
    summarise,
)
from commcanary.replay.model import model_named
from commcanary.replay.samples import Samples
from commcanary.replay.schedule_summary import ScheduleSummary, summary_of_schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.artifacts.canary import Canary

REPORT_FORMAT = "commcanary.report.v1"

_COLUMNS = ("exposed_us", "total_us", "queue_wait_us", "skew_us", "rank_wait_us")

_SUMMARIES = (PartLimit(MAX_SIGNATURES, "rows", b"{"),)
REPORT_LIMITS: Limits = {"by_phase": _SUMMARIES, "by_op": _SUMMARIES, "schedule": ()}
"""``schedule`` has a value for every rank of every run, as many as were asked for."""

REPORT_SCHEMA = pa.schema([(name, pa.float64()) for name in _COLUMNS])


class CanaryIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which canary was replayed."""

    content_id: str
    source_events: int


class ModelIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which model, at which version, made the samples."""

    name: str
    version: str


class ReplayProtocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the samples were drawn, and by which rule they are summarised."""

    seeds: tuple[int, ...]
    iterations: int
    ablations: tuple[str, ...]
    quantile_method: str


class CanarySummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the canary says of itself."""

    source_events: int
    canary_events: int
    timing_records: int
    source_bytes: int
    canary_bytes: int
    timing_mode: str
    source_coverage_status: str
    source_content_id: str
    assumptions: dict[str, float]


class ReportHeader(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=REPORT_FORMAT
):
    """What a report says beside its samples. ``assumptions`` are those that its samples rest on.

    ``schedule`` is null for a model in which nothing waits for completions, as scheduler-v4.
    """

    canary: CanaryIdentity
    simulation_model: ModelIdentity
    replay_protocol: ReplayProtocol
    backend: Configuration
    workload: dict[str, str]
    canary_summary: CanarySummary
    assumptions: dict[str, float]
    metrics: ExposedMetrics
    queue_wait: LatencySummary
    by_phase: tuple[NamedSummary, ...]
    by_op: tuple[NamedSummary, ...]
    calibration: Calibration | None
    schedule: ScheduleSummary | None = None
    samples_digest: str


class Replayer:
    """One canary under one model and set of ablations: what depends on them alone is prepared once.

    ``assumptions`` (field -> value in us) stand in for unknown values; those that were needed are stated in
    every report. Raises ``UnknownValueRefusal`` for a value that is unknown and not assumed.
    """

    def __init__(
        self,
        canary: Canary,
        model: str,
        ablations: tuple[str, ...] = (),
        assumptions: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.canary = canary
        self.model = model_named(model)
        self.ablations = ablations
        self.events, self.assumptions = assumed(canary.events, assumptions)
        self.prepared = self.model.prepare(self.events, ablations)

    def samples(self, configuration: Configuration, protocol: Protocol) -> Samples:
        """The samples of every (seed, iteration, event) under ``configuration``."""
        return self.model.run(self.prepared, configuration, protocol.seeds, protocol.iterations)

    def report(self, configuration: Configuration, protocol: Protocol) -> Stored[ReportHeader]:
        """The report of the canary under ``configuration``, samples included."""
        samples = self.samples(configuration, protocol)
        table = samples_table(samples)
        metrics = summarise(samples, self.events, self.ablations)
        header = ReportHeader(
            canary=CanaryIdentity(self.canary.content_id, len(self.events)),
            simulation_model=ModelIdentity(self.model.name, self.model.version),
            replay_protocol=ReplayProtocol(protocol.seeds, protocol.iterations, protocol.ablations, QUANTILE_METHOD),
            backend=as_read(configuration, self.model.reads),
            workload=self.canary.header.workload,
            canary_summary=summary_of(self.canary),
            assumptions=self.assumptions,
            schedule=None if samples.schedule is None else summary_of_schedule(samples.schedule),
            samples_digest=table_digest(table),
            **_fields(metrics),
        )
        return Stored(header, table)


def summary_of(canary: Canary) -> CanarySummary:
    """What a report repeats of its canary's header."""
    compiler = canary.header.compiler
    return CanarySummary(
        source_events=compiler.source_events,
        canary_events=compiler.canary_events,
        timing_records=canary.records,
        source_bytes=compiler.source_bytes,
        canary_bytes=compiler.canary_bytes,
        timing_mode=compiler.timing_mode,
        source_coverage_status=compiler.source_coverage_status,
        source_content_id=compiler.source_content_id,
        assumptions=compiler.assumptions,
    )


def samples_table(samples: Samples) -> pa.Table:
    """The samples as an Arrow table (``REPORT_SCHEMA``)."""
    return pa.table([pa.array(getattr(samples, name)) for name in _COLUMNS], schema=REPORT_SCHEMA)


def samples_of(table: pa.Table) -> Samples:
    """The samples in a report's table."""
    return Samples(*(np.asarray(table.column(name), dtype=np.float64) for name in _COLUMNS))


def without_samples(stored: Stored[ReportHeader]) -> Stored[ReportHeader]:
    """The same report (same content id) without its rows."""
    return Stored(stored.header)


def _fields(metrics: Metrics) -> dict[str, Any]:
    return {name: getattr(metrics, name) for name in Metrics.__struct_fields__}


def _to_json(stored: Stored[ReportHeader]) -> JsonDocument:
    document: JsonDocument = msgspec.to_builtins(stored.header)
    if stored.table is not None:
        document["samples"] = {name: stored.table.column(name).to_pylist() for name in _COLUMNS}
    return document


def _from_json(data: bytes) -> Stored[ReportHeader]:
    header, taken = header_and_parts(data, ReportHeader, REPORT_LIMITS, ("content_id", "samples"))
    if "samples" not in taken:
        return Stored.decoded(header)
    texts = named_lists(taken["samples"], "samples")
    protocol = header.replay_protocol
    count = header.canary.source_events * len(protocol.seeds) * protocol.iterations
    for name, text in texts.items():
        if list_length(text) > max(count, 1):
            raise InputRefusal(
                f"samples.{name}",
                f"holds {list_length(text):,} samples; the protocol makes {count:,} (events x seeds x iterations)",
                "replay again",
            )
    columns = {name: decoded_array(text, fractions) for name, text in texts.items()}
    lengths = {None if column is None else len(column) for column in columns.values()}
    if set(columns) != set(_COLUMNS) or len(lengths) != 1 or None in lengths:
        raise InputRefusal("samples", f"are not the equally long columns {', '.join(_COLUMNS)}", "replay again")
    return Stored.decoded(header, pa.table([pa.array(columns[name]) for name in _COLUMNS], schema=REPORT_SCHEMA))


REPORT = Kind("report", REPORT_FORMAT, ReportHeader, REPORT_SCHEMA, _to_json, _from_json, limits=REPORT_LIMITS)
"""The report as an artifact kind."""
