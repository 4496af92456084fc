"""The smallest canary that still behaves like its source.

Tried, in this order: nothing lost; grids from coarse to fine; segments with 2, 4, 8, ... records per group;
then, from the smallest accepted number of records, fewer for one operation at a time. Which of them behaves
is the gate's to say: a callable, so that compilation knows nothing of replays or verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

from commcanary.artifacts.canary import Canary, SearchSummary
from commcanary.artifacts.stored import Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.fidelity import check_budget
from commcanary.compile.search_ledger import Candidate, CandidateSettings, SearchLedger
from commcanary.compile.sizes import with_compiler, with_stated_size
from commcanary.errors import BudgetRefusal, IntegrityRefusal, UsageError
from commcanary.units import NS_PER_US, ns_from_us

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from commcanary.artifacts.canary import CanaryHeader
    from commcanary.artifacts.trace import Trace

OVER_BUDGET = "over_budget"


@dataclass(frozen=True)
class GateOutcome:
    """What the gate says of one canary. ``worst_error_pct`` is in percent of what it tolerates (infinite where
    a number is missing); ``first_failed_check`` is None where nothing failed.
    """

    status: str
    accepted: bool
    worst_error_pct: float
    first_failed_check: str | None = None
    held_out_status: str | None = None


class Gate(Protocol):
    """Judges a canary against the one reference that it was made with."""

    def __call__(self, canary: Canary, /) -> GateOutcome:
        """The outcome for ``canary``."""


class Progress(Protocol):
    """Told of every candidate as it is done."""

    def __call__(self, done: int, expected: int, candidate: Candidate, /) -> None:
        """``done`` of about ``expected`` candidates are done; ``candidate`` is the latest."""


@dataclass(frozen=True)
class SearchSpace:
    """What is tried: grids in us, records per group from ``min_sample_limit`` up, at most ``max_candidates``."""

    min_sample_limit: int = 2
    quanta_us: tuple[float, ...] = (50.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
    max_candidates: int = 96

    def __post_init__(self) -> None:
        if self.min_sample_limit < 1:
            raise UsageError(f"--behavior-search-min-sample-limit is {self.min_sample_limit}; give 1 or more")
        if self.max_candidates < 1 or any(us < 1 / NS_PER_US for us in self.quanta_us):
            raise UsageError("a search tries one candidate or more, on grids of 0.001 us or more")


@dataclass(frozen=True)
class SearchResult:
    """The selected canary, stating the ledger's content id, and the ledger."""

    canary: Canary
    ledger: SearchLedger


def search(
    trace: Trace,
    gate: Gate,
    space: SearchSpace | None = None,
    *,
    budget: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Find the smallest canary of ``trace`` that ``gate`` accepts within ``budget``.

    Raises ``IntegrityRefusal`` where it accepts none, not even the lossless one.
    """
    run = _Search(trace, gate, space or SearchSpace(), dict(budget or {}), progress)
    run.try_all()
    return run.result()


@dataclass
class _Search:
    trace: Trace
    gate: Gate
    space: SearchSpace
    budget: dict[str, float]
    progress: Progress | None
    candidates: list[Candidate] = field(default_factory=list)
    best: tuple[Candidate, Canary] | None = None
    first_with: dict[tuple[object, ...], int] = field(default_factory=dict)
    evaluated: int = 0
    truncated: bool = False

    def try_all(self) -> None:
        planned = list(self._planned())
        for settings in planned:
            self._try(settings, len(planned))
        accepted = [c for c in self.candidates if c.accepted and c.settings.timing_sample_limit is not None]
        if accepted:
            self._refine(min(accepted, key=_weight).settings)

    def _planned(self) -> Iterator[CompileSettings]:
        from commcanary.compile.segments import longest_group  # imports numba

        yield CompileSettings()
        for us in sorted(self.space.quanta_us, reverse=True):
            yield CompileSettings(quantum_ns=ns_from_us(us))
        longest = longest_group(self.trace.events)
        for power in count():
            limit = self.space.min_sample_limit << power
            if limit >= longest:
                break
            yield CompileSettings(timing_sample_limit=limit)

    def _refine(self, start: CandidateSettings) -> None:
        """Halve the records of one operation after the other, as long as the gate accepts it."""
        limit = start.timing_sample_limit
        assert limit is not None
        own: dict[int, int] = {}
        events = np.bincount(self.trace.events.signature, minlength=len(self.trace.events.signatures))
        for number in np.argsort(-events, kind="stable").tolist():
            halved = limit // 2
            while halved >= self.space.min_sample_limit:
                attempt = {**own, number: halved}
                tried = self._try(
                    CompileSettings(timing_sample_limit=limit, signature_limits=attempt), len(self.candidates) + 1
                )
                if tried is None:
                    return
                if not tried.accepted or tried.equal_to is not None:
                    break
                own = attempt
                halved //= 2

    def _try(self, settings: CompileSettings, expected: int) -> Candidate | None:
        if len(self.candidates) >= self.space.max_candidates:
            self.truncated = True
            return None
        canary = compile_trace(self.trace, settings)
        number = len(self.candidates)
        header = canary.header
        same = (header.program, header.unit_ns, canary.stored.table_digest)
        first = self.first_with.setdefault(same, number)
        outcome = self._outcome_of(self.candidates[first]) if first < number else self._judged(canary)
        candidate = Candidate(
            number=number,
            settings=CandidateSettings(
                timing_sample_limit=settings.timing_sample_limit,
                quantum_us=None if settings.quantum_ns is None else settings.quantum_ns / NS_PER_US,
                signature_limits=header.compiler.signature_limits,
            ),
            canary_bytes=header.compiler.canary_bytes,
            timing_records=canary.records,
            replayed_events=len(canary.events),
            status=outcome.status,
            accepted=outcome.accepted,
            worst_error_pct=outcome.worst_error_pct if np.isfinite(outcome.worst_error_pct) else None,
            first_failed_check=outcome.first_failed_check,
            held_out_status=outcome.held_out_status,
            equal_to=first if first < number else None,
        )
        self.candidates.append(candidate)
        if candidate.accepted and (self.best is None or _weight(candidate) < _weight(self.best[0])):
            self.best = candidate, canary
        if self.progress is not None:
            self.progress(len(self.candidates), max(expected, len(self.candidates)), candidate)
        return candidate

    def _judged(self, canary: Canary) -> GateOutcome:
        try:
            check_budget(canary.header.compiler.fidelity, self.budget, lambda: "lose less")
        except BudgetRefusal as refusal:
            return GateOutcome(OVER_BUDGET, False, float("inf"), refusal.found)
        self.evaluated += 1
        return self.gate(canary)

    @staticmethod
    def _outcome_of(candidate: Candidate) -> GateOutcome:
        error = float("inf") if candidate.worst_error_pct is None else candidate.worst_error_pct
        return GateOutcome(
            candidate.status, candidate.accepted, error, candidate.first_failed_check, candidate.held_out_status
        )

    def result(self) -> SearchResult:
        accepted = [c for c in self.candidates if c.accepted]
        if self.best is None:
            lossless = self.candidates[0]
            raise IntegrityRefusal(
                "behavior search",
                f"none of {len(self.candidates)} candidates is accepted; the lossless one is {lossless.status}"
                f" ({lossless.first_failed_check or 'no check failed'})",
                "give what the trace leaves unknown, or widen the tolerances",
            )
        selected, canary = self.best
        ledger = SearchLedger(
            source_content_id=self.trace.content_id,
            source_events=len(self.trace),
            fidelity_budget=self.budget,
            candidates=tuple(self.candidates),
            evaluated_count=self.evaluated,
            accepted_candidates=len(accepted),
            truncated=self.truncated,
            front=tuple(c.number for c in accepted if not any(_dominates(other, c) for other in accepted)),
            selected=selected.number,
        )
        return SearchResult(self._stating(canary.stored, ledger), ledger)

    def _stating(self, stored: Stored[CanaryHeader], ledger: SearchLedger) -> Canary:
        """The selected canary with the summary of the search; the size that it states includes that."""
        chosen = ledger.candidates[ledger.selected].settings
        summary = SearchSummary(
            candidate_count=len(ledger.candidates),
            accepted_candidates=ledger.accepted_candidates,
            selected={"timing_sample_limit": chosen.timing_sample_limit, "quantum_us": chosen.quantum_us},
            selected_canary_bytes_without_search_metadata=0,
            ledger_content_id=Stored(ledger).content_id,
        )
        header = with_compiler(stored.header, behavior_search=summary, fidelity_budget=self.budget)
        return Canary(Stored(with_stated_size(header, _rows(stored)), stored.table))


def _rows(stored: Stored[CanaryHeader]) -> pa.Table:
    assert stored.table is not None
    return stored.table


def _weight(candidate: Candidate) -> tuple[int, float, int]:
    error = float("inf") if candidate.worst_error_pct is None else candidate.worst_error_pct
    return candidate.canary_bytes, error, candidate.number


def _axes(candidate: Candidate) -> tuple[float, float, int]:
    size, error, _ = _weight(candidate)
    return size, error, candidate.replayed_events


def _dominates(one: Candidate, other: Candidate) -> bool:
    """Is ``one`` nowhere worse and somewhere better? Of two equal ones the earlier stays."""
    a, b = _axes(one), _axes(other)
    if a == b:
        return one.number < other.number
    return all(x <= y for x, y in zip(a, b, strict=True))
