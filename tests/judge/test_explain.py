"""show --why: row, both values, threshold, and a command whose options give the same verdict again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import UsageError
from commcanary.judge.checks import shortened
from commcanary.judge.compare import compare
from commcanary.judge.explain import explain
from commcanary.judge.policy import Policy, judged_by
from commcanary.judge.reasons import interval_lines
from commcanary.judge.reference import Reference
from commcanary.judge.statistics import Decision, DecisionStatistics
from commcanary.judge.thresholds import Thresholds
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_behavior import verify_behavior
from commcanary.judge.verify_report import verify_report
from commcanary.judge.verify_source import verify_source
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.replay.report import Replayer, ReportHeader
from commcanary.sources.synthetic.registry import synthetic

FILE = Path("verdict.json")


def test_a_comparison(report_of: Callable[..., Stored[ReportHeader]]) -> None:
    base, slow = report_of(), report_of((100.0, 200.0, 424.5), hidden=44.0)
    lines = explain(compare(base, slow, Thresholds(p95_threshold_pct=12.5)), FILE)
    assert lines[0] == "comparison verdict: fail"
    assert lines[1] == (
        "p99: baseline 300.000 us, candidate 424.500 us (+124.500 us, +41.5 %); "
        "threshold 15 % and 1 us, half of it warns: fail"
    )
    assert "baseline 50.000 %, candidate 44.000 % (-6.000 points); threshold a drop of 5 points" in lines[2]
    assert lines[-1] == "reproduce: commcanary compare BASELINE CANDIDATE -o verdict.json --p95-threshold-pct 12.5"
    assert lines[-3].endswith(f"{base.content_id[:12]}...")


def test_a_clean_comparison_says_so(report_of: Callable[..., Stored[ReportHeader]]) -> None:
    assert "every number is within half of its threshold" in explain(compare(report_of(), report_of()), FILE)


def test_one_sided_rows_and_mismatches(report_of: Callable[..., Stored[ReportHeader]]) -> None:
    row = (1.0, 2.0, 3.0)
    found = compare(report_of(phases={"a": row}), report_of(phases={"b": row}, version="5"), allow_mismatch=True)
    lines = explain(found, FILE)
    assert any(line.startswith("phase 'b': new") for line in lines)
    assert "simulation_model.version: baseline 4, candidate 5; must be equal" in lines
    assert lines[-1].endswith("--allow-mismatch")


def test_verifications(small_trace: Trace) -> None:
    trace = synthetic("mixed", 1, 200)
    canary = compile_trace(trace, CompileSettings(quantum_ns=1000))
    reference = Reference(trace, "scheduler-v4", (NAMED["baseline"],), Protocol(seeds=(3,)))
    lines = explain(verify_behavior(reference, canary, Tolerances(absolute_us=0, relative_pct=0.5)), FILE)
    assert any("where the source has" in line and "within 0 or 0.5 % is allowed" in line for line in lines)
    assert "--seed 3 --iterations 1 --model scheduler-v4 --absolute-us 0 --relative-pct 0.5" in lines[-1]
    other = explain(verify_source(small_trace, canary), FILE)
    assert any(line.startswith("source_content_id at compiler.source_content_id: expected") for line in other)
    report = Replayer(canary, "scheduler-v4").report(NAMED["baseline"], Protocol())
    clean = explain(verify_report(report, canary), FILE)
    assert clean[1] == "all 12 checks hold"
    assert clean[-1] == "reproduce: commcanary verify-report REPORT CANARY -o verdict.json"


def test_what_is_no_verdict_is_refused() -> None:
    with pytest.raises(UsageError, match="explains a verdict"):
        explain(NAMED["baseline"], FILE)


def decided(source: str, represented: str) -> DecisionStatistics:
    """One configuration, decided as given; nothing of it is computed."""
    return DecisionStatistics(
        representation="random",
        runs=3,
        tie_band_points=1.0,
        decisions=(Decision("fast", "false_negative", source, represented, 26.5, 41.5, 0.25, None, None),),
        true_positives=0,
        true_negatives=0,
        false_positives=0,
        false_negatives=1,
        in_tie_band=0,
        undecided=0,
        mismatched=0,
        one_sided=(),
        agreement=0.0,
        agreement_low=0.0,
        agreement_high=0.793,
    )


def test_decisions_and_the_policy_over_them() -> None:
    statistics = decided("fail", "pass")
    lines = explain(statistics, FILE)
    assert "agreement 0.000 [0.000, 0.793]; 1 missed regressions" in lines[0]
    assert lines[1] == (
        "fast: false_negative; source fail (p99 +41.500 us, +26.5 points from its threshold), "
        "representation pass (p99 +0.250 us)"
    )
    for policy, outcome, said in (
        (Policy(), "fail (false_negatives)", "found 1, required 0"),
        (Policy(max_false_negatives=1, min_agreement=0), "pass (criteria_met)", "policy min_agreement: 0"),
        (Policy(max_false_negatives=1, min_runs=4), "inconclusive (too_few_runs)", "found 3, required 4"),
    ):
        lines = explain(judged_by(policy, statistics), FILE)
        assert lines[0] == f"policy outcome of random: {outcome}"
        assert said in lines
    alone = msgspec.structs.replace(statistics, one_sided=("slow",))
    assert explain(judged_by(Policy(), alone), FILE)[0].endswith("incomparable (configurations_differ)")


def test_intervals_are_said_whatever_the_verdict(sampled_report: Callable[..., Stored[ReportHeader]]) -> None:
    runs = 100.0 + np.arange(12)[:, None] + np.zeros((12, 20))
    base = sampled_report(runs, tuple(range(12)))
    found = compare(base, sampled_report(runs + 1.0, tuple(range(12))), confidence=0.95)
    assert found.verdict == "pass"
    lines = interval_lines(found)
    assert lines[0] == "95 % intervals of the change (12 against 12 runs, paired by seed, 2000 resamples):"
    # every run is 1 us slower, whichever are drawn, of a median that is 105.5 us, and 102 to 109 us as drawn
    assert "  median +1.000 us [+1.000, +1.000], +0.9 % [+0.9, +1.0]: pass" in lines
    assert set(lines) <= set(explain(found, FILE))
    assert interval_lines(compare(base, base)) == []


def test_values_of_one_line(small_trace: Trace) -> None:
    other = verify_source(synthetic("mixed", 1, 200), compile_trace(small_trace, CompileSettings()))
    for check in other.checks:
        assert len(str(check.expected)) < 140
        assert len(str(check.actual)) < 140
    places = {check.name: check.place for check in other.checks if not check.passed}
    assert places["groups"] == "groups rows"
    assert shortened("x" * 200) == "x" * 100 + "... (200 characters)"
