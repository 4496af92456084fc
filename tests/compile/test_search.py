"""The search under gates whose verdict is known beforehand."""

from __future__ import annotations

import json

import pytest

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.search import GateOutcome, SearchSpace, search
from commcanary.compile.search_ledger import SEARCH_LEDGER, Candidate
from commcanary.errors import EXIT_REFUSED, IntegrityRefusal, UsageError
from commcanary.sources.synthetic.inference import inference

TRACE = inference(1, 200)
SPACE = SearchSpace(quanta_us=(10.0, 1.0, 0.1))


class ByError:
    """Accepts what moves no compute and no offset by more than ``allowed_us``; counts what it is asked."""

    def __init__(self, allowed_us: float) -> None:
        self.allowed_us = allowed_us
        self.asked: list[str] = []

    def __call__(self, canary: Canary) -> GateOutcome:
        self.asked.append(canary.stored.table_digest)
        fidelity = canary.header.compiler.fidelity
        error = max(fidelity.max_compute_before_error_us, fidelity.max_arrival_offset_error_us)
        accepted = error <= self.allowed_us
        failed = None if accepted else f"error {error}"
        return GateOutcome("passed" if accepted else "failed", accepted, error, failed, "held-out word")


def test_the_smallest_accepted_one_is_chosen() -> None:
    result = search(TRACE, ByError(0.6), SPACE)
    ledger = result.ledger
    accepted = [c for c in ledger.candidates if c.accepted]
    assert ledger.candidates[ledger.selected].canary_bytes == min(c.canary_bytes for c in accepted)
    assert ledger.candidates[ledger.selected].settings.quantum_us == 1.0
    assert result.canary.header.compiler.quantum_ns == 1000
    assert ledger.accepted_candidates == len(accepted)


def test_the_canary_is_the_one_that_plain_settings_give() -> None:
    result = search(TRACE, ByError(0.6), SPACE)
    plain = compile_trace(TRACE, CompileSettings(quantum_ns=1000))
    assert result.canary.stored.table_digest == plain.stored.table_digest
    assert result.canary.header.program == plain.header.program


def test_sizes_are_the_files_own() -> None:
    result = search(TRACE, ByError(0.6), SPACE)
    compiler = result.canary.header.compiler
    assert compiler.behavior_search is not None
    size = len(json_bytes(CANARY, result.canary.stored))
    assert compiler.canary_bytes == compiler.behavior_search.selected_canary_bytes_without_search_metadata == size
    assert compiler.behavior_search.ledger_content_id == Stored(result.ledger).content_id
    assert compiler.behavior_search.selected == {"timing_sample_limit": None, "quantum_us": 1.0}
    back = CANARY.from_json(json_bytes(CANARY, result.canary.stored))
    assert back.content_id == result.canary.content_id


def test_the_ledger_names_every_candidate_and_what_it_failed() -> None:
    ledger = search(TRACE, ByError(0.6), SPACE).ledger
    assert [c.number for c in ledger.candidates] == list(range(len(ledger.candidates)))
    for candidate in ledger.candidates:
        assert (candidate.first_failed_check is None) == candidate.accepted
        assert candidate.replayed_events == len(TRACE)
        assert candidate.held_out_status == "held-out word"
    document = json.loads(json_bytes(SEARCH_LEDGER, Stored(ledger)))
    assert document["format"] == "commcanary.behavior_search.v1"
    back = SEARCH_LEDGER.from_json(json_bytes(SEARCH_LEDGER, Stored(ledger)))
    assert back.header == ledger


def test_the_front_holds_what_nothing_beats() -> None:
    ledger = search(TRACE, ByError(1e9), SPACE).ledger
    accepted = [c for c in ledger.candidates if c.accepted]

    def beaten(c: Candidate) -> bool:
        one = (c.canary_bytes, c.worst_error_pct, c.replayed_events)
        others = [(o.canary_bytes, o.worst_error_pct, o.replayed_events) for o in accepted if o.number != c.number]
        better = [o for o in others if o != one and all(x <= y for x, y in zip(o, one, strict=True))]  # type: ignore[operator]
        return bool(better)

    expected = {(c.canary_bytes, c.worst_error_pct) for c in accepted if not beaten(c)}
    assert {(accepted[i].canary_bytes, accepted[i].worst_error_pct) for i in ledger.front} == expected
    assert ledger.selected in ledger.front
    assert len(ledger.front) > 2


def test_single_operations_get_fewer_records_where_the_gate_allows() -> None:
    decode = TRACE.events.signature >= 2

    def gate(canary: Canary) -> GateOutcome:
        """Lets decode move freely and prefill by 120 us."""
        moved = abs(canary.events.compute_before_ns - TRACE.events.compute_before_ns)[~decode].max() / 1000
        return GateOutcome("passed" if moved <= 120 else "failed", bool(moved <= 120), float(moved))

    result = search(TRACE, gate, SearchSpace(quanta_us=()))
    compiler = result.canary.header.compiler
    assert compiler.signature_limits == {"2": 2}
    assert CompileSettings.of(compiler).signature_limits == {2: 2}
    again = compile_trace(TRACE, CompileSettings.of(compiler))
    assert again.stored.table_digest == result.canary.stored.table_digest


def test_equal_candidates_are_judged_once() -> None:
    gate = ByError(1e9)
    space = SearchSpace(quanta_us=(0.0014, 0.001))  # the first rounds to one nanosecond too
    ledger = search(TRACE, gate, space).ledger
    assert len(gate.asked) == len(set(gate.asked)) == ledger.evaluated_count
    equal = [c for c in ledger.candidates if c.equal_to is not None]
    assert [c.equal_to for c in equal[:2]] == [0, 0]
    assert all(c.accepted for c in equal)


def test_a_budget_forbids_before_the_gate_is_asked() -> None:
    gate = ByError(1e9)
    ledger = search(TRACE, gate, SPACE, budget={"max_skew_error_us": 0.2}).ledger
    over = [c for c in ledger.candidates if c.status == "over_budget"]
    assert over
    assert all(c.worst_error_pct is None and "exceeds budget 0.2 us" in str(c.first_failed_check) for c in over)
    assert (
        len(gate.asked)
        == ledger.evaluated_count
        == sum(c.equal_to is None and c.status != "over_budget" for c in ledger.candidates)
    )


def test_progress_is_told_of_every_candidate() -> None:
    told: list[tuple[int, int]] = []
    ledger = search(TRACE, ByError(0.6), SPACE, progress=lambda done, expected, _: told.append((done, expected))).ledger
    assert [done for done, _ in told] == list(range(1, len(ledger.candidates) + 1))
    assert all(done <= expected for done, expected in told)


def test_the_limit_on_candidates_is_said() -> None:
    ledger = search(TRACE, ByError(1e9), SearchSpace(max_candidates=3)).ledger
    assert len(ledger.candidates) == 3
    assert ledger.truncated


def test_nothing_accepted_is_a_refusal() -> None:
    def never(_: Canary) -> GateOutcome:
        return GateOutcome("failed", False, float("inf"), "baseline: p99")

    with pytest.raises(IntegrityRefusal, match=r"the lossless one is failed \(baseline: p99\)") as caught:
        search(TRACE, never, SPACE)
    assert caught.value.exit_code == EXIT_REFUSED


@pytest.mark.parametrize("space", [{"min_sample_limit": 0}, {"quanta_us": (0.0001,)}, {"max_candidates": 0}])
def test_impossible_spaces(space: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SearchSpace(**space)  # type: ignore[arg-type]
