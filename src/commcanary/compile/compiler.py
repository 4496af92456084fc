"""Trace -> canary: the event program, the timing records, what was lost, and what it is bound to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.canary import Canary, CanaryHeader, Compiler, Fidelity
from commcanary.artifacts.commitment import commit
from commcanary.artifacts.events import Events
from commcanary.artifacts.program import LITERAL, Program, leaf_count, pairs, rule_lengths
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace_size import exchange_size as trace_size
from commcanary.compile.fidelity import LOSSLESS, check_budget, fidelity
from commcanary.compile.meeting_budget import meeting_settings
from commcanary.compile.motifs import build_program
from commcanary.compile.records import Records, common_unit_ns, record_table
from commcanary.compile.sizes import with_compiler, with_stated_size
from commcanary.compile.snapping import snapped
from commcanary.errors import UsageError
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from commcanary.artifacts.trace import Trace

FULL_SOURCE = "full_source"
PARTIAL_SOURCE = "partial_source"


@dataclass(frozen=True)
class CompileSettings:
    """How to store timing: nothing lost (the default), a grid of ``quantum_ns``, or at most
    ``timing_sample_limit`` records per group (another number for the groups of the signatures in
    ``signature_limits``). ``budget`` maps error fields to the largest error allowed.
    """

    timing_sample_limit: int | None = None
    quantum_ns: int | None = None
    budget: Mapping[str, float] = field(default_factory=dict)
    signature_limits: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, compiler: Compiler) -> CompileSettings:
        """The settings that a canary states, without its budget."""
        own = {int(number): limit for number, limit in compiler.signature_limits.items()}
        return cls(compiler.timing_sample_limit, compiler.quantum_ns, signature_limits=own)

    def __post_init__(self) -> None:
        if self.timing_sample_limit is not None and self.quantum_ns is not None:
            raise UsageError("--timing-sample-limit and --quantum-us exclude each other: choose one")
        if self.timing_sample_limit is not None and self.timing_sample_limit < 1:
            raise UsageError(f"--timing-sample-limit is {self.timing_sample_limit}; give 1 or more")
        if self.quantum_ns is not None and self.quantum_ns < 1:
            raise UsageError("--quantum-us is below one nanosecond; give 0.001 or more")
        if self.signature_limits and (self.timing_sample_limit is None or min(self.signature_limits.values()) < 1):
            raise UsageError("limits of single signatures need --timing-sample-limit, and are 1 or more")


def compile_trace(trace: Trace, settings: CompileSettings) -> Canary:
    """Compile ``trace``.

    Raises ``BudgetRefusal`` where a field's error exceeds ``settings.budget``, naming the setting that
    would meet it.
    """
    canary = _assembled(trace, _records(trace.events, settings), settings)
    check_budget(
        canary.header.compiler.fidelity,
        settings.budget,
        lambda: meeting_settings(trace.events, settings.timing_sample_limit, settings.budget),
    )
    return canary


def _records(events: Events, settings: CompileSettings) -> Records:
    if settings.timing_sample_limit is not None:
        from commcanary.compile.segments import segmented  # imports numba

        return segmented(events, settings.timing_sample_limit, settings.signature_limits)
    return Records.one_per_event(events if settings.quantum_ns is None else snapped(events, settings.quantum_ns))


def _assembled(trace: Trace, records: Records, settings: CompileSettings) -> Canary:
    events = trace.events
    program = build_program(events.signature, np.repeat(np.arange(len(records.count), dtype=np.int64), records.count))
    unit = common_unit_ns(records)
    table = record_table(records, literal_records(program, records.count), unit)
    commitment = commit(trace.stored)
    draft = CanaryHeader(
        workload={"name": trace.workload_name},
        groups=events.groups,
        signatures=events.signatures,
        program=program,
        unit_ns=unit,
        gaps_unknown=not events.gaps_known,
        lineage=trace.header.lineage,
        compiler=Compiler(
            source_events=len(events),
            canary_events=leaf_count(program),
            event_compression_ratio=r3(len(events) / leaf_count(program)),
            source_bytes=trace_size(trace),
            canary_bytes=0,
            byte_compression_ratio=0.0,
            timing_mode=LOSSLESS,
            fidelity=Fidelity(mode=LOSSLESS),
            source_content_id=trace.content_id,
            source_commitment=commitment.root,
            source_segments=commitment.named_segments,
            source_coverage_status=FULL_SOURCE if trace.header.lineage is None else PARTIAL_SOURCE,
            fidelity_budget=dict(settings.budget),
            timing_sample_limit=settings.timing_sample_limit,
            signature_limits={str(number): own for number, own in sorted(settings.signature_limits.items())},
            quantum_ns=settings.quantum_ns,
            assumptions=trace.header.assumptions,
        ),
    )
    achieved = fidelity(events, Canary(Stored(draft, table)).events)
    header = with_compiler(draft, fidelity=achieved, timing_mode=achieved.mode)
    return Canary(Stored(with_stated_size(header, table), table))


def literal_records(program: Program, count: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[records]: True for the records (``count`` events each) that a literal stretch of the program takes."""
    literal = np.zeros(len(count), np.bool_)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    lengths = rule_lengths(program, int(bounds[-1]))
    event = 0
    for symbol, repeat in pairs(program[0]):
        first = int(np.searchsorted(bounds, event))
        if symbol == LITERAL:
            literal[first : first + repeat] = True
            event = int(bounds[first + repeat])
        else:
            event += repeat * (1 if symbol >= 0 else lengths[-1 - symbol])
    return literal
