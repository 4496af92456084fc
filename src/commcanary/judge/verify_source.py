"""verify-source TRACE CANARY: is this canary what it says it is, of this trace?

Nothing that the compiler concluded is believed. The canary is expanded by the verifier's own walk, the
trace is committed to again, and every bound, total, size and identity is recomputed. Shared with the
compiler are the codecs (how columns, JSON and digests are written) and the meaning of the fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.canary_exchange import timing_columns
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.commitment import LEAF_PREFIX, SEGMENT_EVENTS, commit
from commcanary.artifacts.number_codec import text_size
from commcanary.artifacts.trace_size import exchange_size as trace_size
from commcanary.artifacts.trace_table import to_stored
from commcanary.controls.registry import is_control
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT, InputRefusal
from commcanary.judge.canary_walk import walk
from commcanary.judge.checks import FAIL, NOT_CHECKABLE, PASS, Check, equal, first_failure, same
from commcanary.judge.event_errors import describe, field_errors, first_other_link, first_other_operation
from commcanary.judge.program_size import leaves
from commcanary.judge.settings_check import settings_check
from commcanary.judge.source_part import rows_of_part, windows_of_part
from commcanary.judge.source_verification import (
    FAILED,
    PARTIAL_SOURCE_VERIFIED,
    SOURCE_VERIFIED,
    SourceVerification,
)
from commcanary.units import ns_from_us, r3, us_from_ns

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from commcanary.artifacts.canary import Canary, CanaryHeader
    from commcanary.artifacts.events import Events
    from commcanary.artifacts.trace import Trace

LOSSLESS, BOUNDED = "lossless_timing", "bounded_approximate"
_FEW_EVENTS = 1_000_000
"""A canary of this many events is walked whatever the source's length: to say where the two part."""

FULL, PARTIAL = "full_source", "partial_source"


def verify_source(trace: Trace, canary: Canary) -> SourceVerification:
    """Every check of ``canary`` against ``trace``; ``failed`` with the first difference where one fails.

    A canary whose lineage declares it a part of this trace (a window, a reduction: no control) is checked
    against the rows that it is made of and ends as ``partial_source_verified`` at best.
    """
    lineage = canary.header.lineage
    declared_part = lineage is not None and lineage.derived_from == trace.content_id and lineage != trace.header.lineage
    try:
        events = walk(canary, max(2 * len(trace), _FEW_EVENTS))
    except InputRefusal as refusal:
        broken = Check("program", FAIL, None, refusal.found, refusal.place)
        return _document(FAILED, trace, canary, [broken])
    checks = [Check("program", PASS)]
    source, verified = trace, SOURCE_VERIFIED
    if declared_part and lineage is not None and not is_control(lineage.method):
        verified = PARTIAL_SOURCE_VERIFIED
        rows = rows_of_part(trace.events, events, canary.header.compiler.fidelity)
        if isinstance(rows, int):
            checks.append(Check("part", FAIL, "a row of the source", describe(events, rows), f"events[{rows}]"))
        else:
            checks.append(Check("part", PASS))
            source = _meant_part(trace, events, canary, rows, lineage.method)
    checks += _identity_checks(trace, source, canary, whole=verified == SOURCE_VERIFIED)
    checks += _event_checks(source.events, events, canary)
    checks += _size_checks(source, canary, whole=verified == SOURCE_VERIFIED)
    checks += settings_check(source, events, canary) if first_failure(checks) is None else []
    return _document(verified if first_failure(checks) is None else FAILED, trace, canary, checks)


def _meant_part(trace: Trace, events: Events, canary: Canary, rows: NDArray[np.int64], method: str) -> Trace:
    """The part of ``trace`` that the canary commits to: its earliest fitting rows, or a window that fits."""
    first = trace.derived(rows, method)
    compiler = canary.header.compiler
    if commit(to_stored(first)).root == compiler.source_commitment:
        return first
    for window in windows_of_part(trace.events, events, compiler.fidelity):
        part = trace.derived(window, method)
        if commit(to_stored(part)).root == compiler.source_commitment:
            return part
    return first


def source_exit_code(verification: SourceVerification) -> int:
    """0 for verified, whole or in part; 1 for failed."""
    return EXIT_NEGATIVE_VERDICT if verification.status == FAILED else EXIT_DONE


def _document(status: str, trace: Trace, canary: Canary, checks: list[Check]) -> SourceVerification:
    return SourceVerification(status=status, trace=trace.content_id, canary=canary.content_id, checks=tuple(checks))


def _identity_checks(trace: Trace, source: Trace, canary: Canary, *, whole: bool) -> list[Check]:
    header, compiler = canary.header, canary.header.compiler
    commitment = commit(to_stored(source))
    leaves_stated = compiler.source_segments
    segment = next(
        (
            number
            for number, (ours, stated) in enumerate(zip(commitment.leaves, leaves_stated, strict=False))
            if ours[:LEAF_PREFIX] != stated
        ),
        None,
    )
    place = "compiler.source_commitment"
    if segment is not None:
        place = f"events[{segment * SEGMENT_EVENTS}..{min((segment + 1) * SEGMENT_EVENTS, len(source)) - 1}]"
    lineage = header.lineage
    checks = [
        equal("source_commitment", commitment.root, compiler.source_commitment, place),
        equal("source_segments", ",".join(commitment.named_segments), ",".join(leaves_stated), place),
        equal("source_events", len(source), compiler.source_events, "compiler.source_events"),
        equal("workload", source.workload_name, header.workload.get("name"), "workload.name"),
        equal("workload_fields", "name", ",".join(sorted(header.workload)), "workload"),
        equal("gaps_known", source.events.gaps_known, not header.gaps_unknown, "gaps_unknown"),
        same("assumptions", trace.header.assumptions, compiler.assumptions),
        equal(
            "source_coverage",
            FULL if lineage is None else PARTIAL,
            compiler.source_coverage_status,
            "compiler.source_coverage_status",
        ),
    ]
    if whole:
        checks.insert(
            0, equal("source_content_id", trace.content_id, compiler.source_content_id, "compiler.source_content_id")
        )
        checks.insert(1, same("lineage", trace.header.lineage, lineage))
    else:
        checks.insert(0, Check("source_content_id", NOT_CHECKABLE, place="the part's own header is not given"))
        checks.insert(
            1, equal("lineage", len(trace), lineage.source_events if lineage else None, "lineage.source_events")
        )
    return checks


def _event_checks(source: Events, events: Events, canary: Canary) -> list[Check]:
    header, stated = canary.header, canary.header.compiler.fidelity
    checks = [
        same("groups", source.groups, header.groups),
        same("signatures", source.signatures, header.signatures),
    ]
    other = first_other_operation(source, events)
    checks.append(
        Check("order", PASS)
        if other is None
        else Check("order", FAIL, describe(source, other), describe(events, other), f"events[{other}]")
    )
    link = first_other_link(source, events)
    checks.append(_link_check(source, events, link))
    errors = field_errors(source, events)
    for name, error in errors.items():
        if error.one_sided >= 0:
            place = f"events[{error.one_sided}]"
            checks.append(Check(name, FAIL, "known on both sides or neither", "known on one side", place))
        else:
            checks.append(equal(name, error.largest, getattr(stated, name), f"events[{error.worst_event}]"))
    lossless = all(error.largest == 0 for error in errors.values())
    mode = LOSSLESS if lossless else BOUNDED
    checks += [
        equal("fidelity_mode", mode, stated.mode, "compiler.fidelity.mode"),
        equal("timing_mode", mode, header.compiler.timing_mode, "compiler.timing_mode"),
        _budget_check(canary, {name: error.largest for name, error in errors.items()}),
        equal("total_events", len(source), len(events), "timing.count"),
        _total_gap_check(source, events, errors["max_prefix_gap_error_us"].largest),
        equal("total_bytes", _total_bytes(source), _total_bytes(events), "signatures"),
    ]
    return checks


def _link_check(source: Events, events: Events, link: tuple[int, str] | None) -> Check:
    if link is None:
        return Check("links", PASS)
    index, name = link
    expected, actual = (int(getattr(side, name)[index]) for side in (source, events))
    return Check("links", FAIL, expected, actual, f"events[{index}].{name}")


def _budget_check(canary: Canary, achieved: dict[str, float]) -> Check:
    for name, allowed in sorted(canary.header.compiler.fidelity_budget.items()):
        if not achieved.get(name, float("inf")) <= allowed:
            return Check("fidelity_budget", FAIL, achieved.get(name), allowed, f"compiler.fidelity_budget.{name}")
    return Check("fidelity_budget", PASS)


def _total_gap_check(source: Events, events: Events, allowed_us: float) -> Check:
    expected, actual = int(source.gap_ns.sum()), int(events.gap_ns.sum())
    if abs(expected - actual) <= ns_from_us(allowed_us):
        return Check("total_gap_us", PASS)
    return Check("total_gap_us", FAIL, us_from_ns(expected), us_from_ns(actual), "timing.gap")


def _total_bytes(events: Events) -> int:
    uses = np.bincount(events.signature, minlength=len(events.signatures)).tolist()
    return sum(s.bytes * count for s, count in zip(events.signatures, uses, strict=True))


def _size_checks(source: Trace, canary: Canary, *, whole: bool) -> list[Check]:
    header, compiler = canary.header, canary.header.compiler
    table = canary.stored.table
    assert table is not None  # the walk refused a canary without records
    program_leaves = leaves(header.program)
    source_bytes = trace_size(source) if whole else compiler.source_bytes
    size = _json_bytes(header, table)
    digits = len(repr(compiler.byte_compression_ratio).partition(".")[2])
    checks = [
        equal("canary_events", program_leaves, compiler.canary_events, "compiler.canary_events"),
        equal("canary_bytes", size, compiler.canary_bytes, "compiler.canary_bytes"),
        equal(
            "event_compression_ratio",
            r3(len(source) / program_leaves),
            compiler.event_compression_ratio,
            "compiler.event_compression_ratio",
        ),
        equal(
            "byte_compression_ratio",
            # the compiler may state fewer decimals where three leave no size that agrees with itself
            round(compiler.source_bytes / size, min(3, digits)),
            compiler.byte_compression_ratio,
            "compiler.byte_compression_ratio",
        ),
    ]
    if whole:
        return [equal("source_bytes", source_bytes, compiler.source_bytes, "compiler.source_bytes"), *checks]
    return [Check("source_bytes", NOT_CHECKABLE, place="the part's own header is not given"), *checks]


def _json_bytes(header: CanaryHeader, table: pa.Table) -> int:
    """Bytes of the canary's canonical exchange JSON: the document around its timing, and the timing's text."""
    around = canonical_json({**msgspec.to_builtins(header), "content_id": "0" * 64, "timing": {}})
    return len(around) + text_size(timing_columns(table)) - 1  # every column is counted with a comma
