"""An artifact in a screenful: one function a kind, printed with Rich."""

from __future__ import annotations

from collections import Counter
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console
from rich.table import Table

from commcanary.artifacts.canary import Canary, CanaryHeader
from commcanary.artifacts.program import entry_count
from commcanary.artifacts.trace import TraceHeader
from commcanary.artifacts.trace_table import from_stored
from commcanary.cli.checks import print_checks
from commcanary.cli.describe_schedule import schedule_lines
from commcanary.cli.overlap_lines import overlap_lines
from commcanary.judge.comparison import Comparison
from commcanary.judge.report_verification import ReportVerification
from commcanary.judge.source_verification import SourceVerification
from commcanary.replay.report import ReportHeader
from commcanary.timeline.measure import device_label
from commcanary.timeline.overlap import Overlap
from commcanary.units import show_bytes, us_from_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commcanary.artifacts.stored import Stored


def describe(kind: str, stored: Stored[Any]) -> None:
    """Print what an artifact of ``kind`` says."""
    print(f"{kind} {stored.content_id}")
    _describe(stored.header, stored)


@singledispatch
def _describe(header: object, stored: Stored[Any]) -> None:
    """Documents without a view of their own: their fields."""
    for name, value in msgspec.to_builtins(header).items():
        print(f"{name}: {value}")


@_describe.register(TraceHeader)
def _trace(header: TraceHeader, stored: Stored[TraceHeader]) -> None:
    trace = from_stored(stored)
    events = trace.events
    print(f"workload {trace.workload_name}: {len(trace)} events, {us_from_ns(int(events.gap_ns.sum())):.3f} us of gaps")
    if header.lineage is not None:
        lineage = header.lineage
        print(f"derived from {lineage.derived_from[:12]} by {lineage.method}: {lineage.source_events} events there")
    for field, reason in header.unknown.items():
        print(f"unknown {field}: {reason}")
    for field, value in header.assumptions.items():
        print(f"assumed {field}={value}")
    counted = Counter(events.signature.tolist())
    rows = [
        (s.phase, s.op, events.group_of(s).name, events.group_of(s).size, f"{s.bytes:,}", s.dtype or "", counted[i])
        for i, s in enumerate(events.signatures)
    ]
    rows.sort(key=lambda row: -int(row[-1]))
    _table(("phase", "operation", "group", "ranks", "bytes", "dtype", "events"), rows[:30])
    if len(rows) > 30:
        print(f"and {len(rows) - 30} more kinds of event")
    if header.coverage:
        names = ("rank", "rule", "seen", "taken", "skipped", "refused", "unknown", "time_share", "reason")
        _table(names, [[getattr(row, name) for name in names] for row in header.coverage])


@_describe.register(CanaryHeader)
def _canary(header: CanaryHeader, stored: Stored[CanaryHeader]) -> None:
    compiler = header.compiler
    canary = Canary(stored)
    print(f"workload {header.workload.get('name')}: stands for {compiler.source_events} events")
    print(
        f"{compiler.canary_events} groups in {entry_count(header.program)} program entries, "
        f"{canary.records} timing records, {len(header.signatures)} signatures"
    )
    print(f"canary {show_bytes(compiler.canary_bytes)}, trace {show_bytes(compiler.source_bytes)}")
    print(f"timing {compiler.timing_mode}, coverage {compiler.source_coverage_status}")
    print(f"source {compiler.source_content_id}, commitment {compiler.source_commitment[:12]}")
    if header.lineage is not None:
        print(f"lineage: {header.lineage.method} of {header.lineage.derived_from[:12]}")
    for name, value in msgspec.structs.asdict(compiler.fidelity).items():
        print(f"  {name} = {value}")


@_describe.register(ReportHeader)
def _report(header: ReportHeader, stored: Stored[ReportHeader]) -> None:
    protocol = header.replay_protocol
    print(f"workload {header.workload.get('name')} under {header.backend.name or header.backend.label}")
    print(
        f"model {header.simulation_model.name} {header.simulation_model.version}, seeds {list(protocol.seeds)}, "
        f"iterations {protocol.iterations}, ablations {list(protocol.ablations) or 'none'}"
    )
    print(f"canary {header.canary.content_id[:12]}, samples {'stored' if stored.table is not None else 'not stored'}")
    for field, value in header.assumptions.items():
        print(f"assumed {field}={value}")
    names = ("name", "count", "median_us", "p95_us", "p99_us", "max_us", "mean_us")
    whole = ["all", *(getattr(header.metrics, name) for name in names[1:])]
    queue = ["queue wait", *(getattr(header.queue_wait, name) for name in names[1:])]
    parts = [[getattr(row, name) for name in names] for row in (*header.by_phase, *header.by_op)]
    _table(names, [whole, queue, *parts])
    print(f"hidden {header.metrics.communication_hidden_pct:.2f} %")
    for line in () if header.schedule is None else schedule_lines(header.schedule):
        print(line)


@_describe.register(Comparison)
def _comparison(header: Comparison, stored: Stored[Comparison]) -> None:
    print(f"verdict {header.verdict}: {header.candidate.backend.name} against {header.baseline.backend.name}")
    for line in (*header.reasons, *header.not_gated):
        print(f"- {line}")


@_describe.register(ReportVerification)
@_describe.register(SourceVerification)
def _verification(header: ReportVerification | SourceVerification, stored: Stored[Any]) -> None:
    print(f"status {header.status}")
    print_checks(header.checks)


@_describe.register(Overlap)
def _overlap(header: Overlap, stored: Stored[Overlap]) -> None:
    for line in overlap_lines(header):
        print(line)
    cells = [
        (device_label(d), c.phase, c.kind, c.kernels, c.ns / 1e6, c.alone_ns / 1e6)
        for d in header.devices
        for c in d.cells
    ]
    _table(("device", "phase", "what", "kernels", "ms", "ms alone"), cells[:40])
    if len(cells) > 40:
        print(f"and {len(cells) - 40} more cells")


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    table = Table(*names, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    Console(soft_wrap=True).print(table)
