"""An artifact in a screenful: one function a kind, printed with Rich."""

from __future__ import annotations

from functools import singledispatch
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from commcanary.artifacts.canary import Canary, CanaryHeader
from commcanary.artifacts.program import entry_count
from commcanary.artifacts.trace import TraceHeader
from commcanary.artifacts.trace_table import from_stored
from commcanary.cli.checks import print_checks
from commcanary.cli.describe_document import MOST_ROWS, print_document, print_some, print_table, say_some, some
from commcanary.cli.describe_schedule import schedule_lines
from commcanary.cli.overlap_lines import overlap_lines
from commcanary.cli.reconciliation_lines import reconciliation_lines
from commcanary.cli.say import say
from commcanary.judge.behavior import BehaviorVerification
from commcanary.judge.behavior_checks import failures
from commcanary.judge.comparison import Comparison
from commcanary.judge.explain_decisions import explain_decisions, explain_policy
from commcanary.judge.policy import PolicyOutcome
from commcanary.judge.reasons import interval_lines
from commcanary.judge.reconciliation import Reconciliation
from commcanary.judge.report_verification import ReportVerification
from commcanary.judge.source_verification import SourceVerification
from commcanary.judge.statistics import DecisionStatistics
from commcanary.replay.report import ReportHeader
from commcanary.timeline.measure import device_label
from commcanary.timeline.overlap import Overlap
from commcanary.units import show_bytes, show_count, us_from_ns

if TYPE_CHECKING:
    from commcanary.artifacts.stored import Stored


def describe(kind: str, stored: Stored[Any]) -> None:
    """Print what an artifact of ``kind`` says."""
    say(f"{kind} {stored.content_id}")
    _describe(stored.header, stored)


@singledispatch
def _describe(header: object, stored: Stored[Any]) -> None:
    """Documents without a view of their own: numbers and words, then a table for each list."""
    print_document(msgspec.to_builtins(header))


@_describe.register(TraceHeader)
def _trace(header: TraceHeader, stored: Stored[TraceHeader]) -> None:
    trace = from_stored(stored)
    events = trace.events
    gaps_us = us_from_ns(int(events.gap_ns.sum()))
    say(f"workload {trace.workload_name}: {show_count(len(trace), 'event')}, {gaps_us:.3f} us of gaps")
    if header.lineage is not None:
        lineage = header.lineage
        say(f"derived from {lineage.derived_from[:12]} by {lineage.method}: {lineage.source_events} events there")
    nested = {f"workload.{name}": value for name, value in header.workload.items() if isinstance(value, dict)}
    print_document(dict(islice(nested.items(), MOST_ROWS)))
    if len(nested) > MOST_ROWS:
        say(f"workload: and {len(nested) - MOST_ROWS} more")
    say_some(f"unknown {field}: {reason}" for field, reason in header.unknown.items())
    say_some(f"assumed {field}={value}" for field, value in header.assumptions.items())
    counted = np.bincount(events.signature, minlength=len(events.signatures))
    commonest = np.argsort(-counted, kind="stable")[:MOST_ROWS].tolist()
    rows = [
        (s.phase, s.op, events.group_of(s).name, events.group_of(s).size, f"{s.bytes:,}", s.dtype or "", counted[i])
        for i, s in ((number, events.signatures[number]) for number in commonest)
    ]
    print_table(("phase", "operation", "group", "ranks", "bytes", "dtype", "events"), rows)
    if len(counted) > MOST_ROWS:
        say(f"and {len(counted) - MOST_ROWS} more kinds of event")
    if header.coverage:
        names = ("rank", "rule", "seen", "taken", "skipped", "refused", "unknown", "time_share", "reason")
        print_some(names, header.coverage, lambda row: [getattr(row, name) for name in names])


@_describe.register(CanaryHeader)
def _canary(header: CanaryHeader, stored: Stored[CanaryHeader]) -> None:
    compiler = header.compiler
    canary = Canary(stored)
    say(f"workload {header.workload.get('name')}: stands for {compiler.source_events} events")
    say(
        f"{compiler.canary_events} groups in {entry_count(header.program)} program entries, "
        f"{canary.records} timing records, {len(header.signatures)} signatures"
    )
    say(f"canary {show_bytes(compiler.canary_bytes)}, trace {show_bytes(compiler.source_bytes)}")
    say(f"timing {compiler.timing_mode}, coverage {compiler.source_coverage_status}")
    say(f"source {compiler.source_content_id}, commitment {compiler.source_commitment[:12]}")
    if header.lineage is not None:
        say(f"lineage: {header.lineage.method} of {header.lineage.derived_from[:12]}")
    for name, value in msgspec.structs.asdict(compiler.fidelity).items():
        say(f"  {name} = {value}")


@_describe.register(ReportHeader)
def _report(header: ReportHeader, stored: Stored[ReportHeader]) -> None:
    protocol = header.replay_protocol
    say(f"workload {header.workload.get('name')} under {header.backend.name or header.backend.label}")
    say(
        f"model {header.simulation_model.name} {header.simulation_model.version}, seeds {some(protocol.seeds)}, "
        f"iterations {protocol.iterations}, ablations {some(protocol.ablations) if protocol.ablations else 'none'}"
    )
    say(f"canary {header.canary.content_id[:12]}, samples {'stored' if stored.table is not None else 'not stored'}")
    say_some(f"assumed {field}={value}" for field, value in header.assumptions.items())
    names = ("name", "count", "median_us", "p95_us", "p99_us", "max_us", "mean_us")
    whole = ["all", *(getattr(header.metrics, name) for name in names[1:])]
    queue = ["queue wait", *(getattr(header.queue_wait, name) for name in names[1:])]
    parts = (*header.by_phase, *header.by_op)
    print_table(names, [whole, queue, *([getattr(row, name) for name in names] for row in parts[:MOST_ROWS])])
    if len(parts) > MOST_ROWS:
        say(f"and {len(parts) - MOST_ROWS} more phases and operations")
    say(f"hidden {header.metrics.communication_hidden_pct:.2f} %")
    for line in () if header.schedule is None else schedule_lines(header.schedule):
        say(line)


@_describe.register(Comparison)
def _comparison(header: Comparison, stored: Stored[Comparison]) -> None:
    say(f"verdict {header.verdict}: {header.candidate.backend.name} against {header.baseline.backend.name}")
    say_some(f"- {line}" for line in dict.fromkeys((*header.reasons, *header.not_gated)))
    for line in interval_lines(header):
        say(line)


@_describe.register(Reconciliation)
def _reconciliation(header: Reconciliation, stored: Stored[Reconciliation]) -> None:
    for line in reconciliation_lines(header):
        say(line)


@_describe.register(ReportVerification)
@_describe.register(SourceVerification)
def _verification(header: ReportVerification | SourceVerification, stored: Stored[Any]) -> None:
    say(f"status {header.status}")
    print_checks(header.checks)


@_describe.register(BehaviorVerification)
def _behavior(header: BehaviorVerification, stored: Stored[BehaviorVerification]) -> None:
    kept = show_count(header.canary_events, "event")
    say(f"status {header.status}: {kept} against {header.source_events} of the source")
    for name in msgspec.structs.asdict(header):
        if name.endswith("_status"):
            say(f"{name}: {getattr(header, name)}")
    protocol = header.protocol
    say(f"model {protocol.model} {protocol.version}, seeds {list(protocol.seeds)}, iterations {protocol.iterations}")
    seen = [("", c) for c in header.configurations]
    if header.held_out is not None:
        seen += [("held out", c) for c in header.held_out.configurations]
    print_table(
        ("configuration", "", "status", "failed checks", "tail recall 95", "tail recall 99"),
        [
            (c.name, which, c.status, len(list(failures(c))), *(recall.smallest for recall in c.tail_event_recall))
            for which, c in seen
        ],
    )
    ranking = header.ranking
    say(f"ranking {ranking.status}: {ranking.passed_pairs} of {ranking.total_pairs} pairs agree")
    print_table(
        ("metric", "source, fastest first", "canary", "tau-b"),
        [(o.metric, ", ".join(o.source), ", ".join(o.canary), o.kendall_tau_b) for o in ranking.orders],
    )
    for line in header.remarks:
        say(f"remark: {line}")
    for line in (*header.blocked_by, *header.reasons[:20]):
        say(f"- {line}")
    if len(header.reasons) > 20:
        say(f"and {len(header.reasons) - 20} more reasons; --why prints them all")


@_describe.register(DecisionStatistics)
def _decisions(header: DecisionStatistics, stored: Stored[DecisionStatistics]) -> None:
    for line in explain_decisions(header):
        say(line)


@_describe.register(PolicyOutcome)
def _policy(header: PolicyOutcome, stored: Stored[PolicyOutcome]) -> None:
    for line in explain_policy(header):
        say(line)


@_describe.register(Overlap)
def _overlap(header: Overlap, stored: Stored[Overlap]) -> None:
    for line in overlap_lines(header):
        say(line)
    cells = [
        (device_label(d), c.phase, c.kind, c.kernels, c.ns / 1e6, c.alone_ns / 1e6)
        for d in header.devices
        for c in d.cells
    ]
    print_table(("device", "phase", "what", "kernels", "ms", "ms alone"), cells[:40])
    if len(cells) > 40:
        say(f"and {len(cells) - 40} more cells")
