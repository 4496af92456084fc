"""compare: decisions.md section 1, case by case, and the laws that hold for any two reports."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace_exchange import read_exchange
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import InputRefusal, IntegrityRefusal, UnknownValueRefusal, UsageError
from commcanary.judge.compare import compare, comparison_exit_code
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.thresholds import Thresholds
from commcanary.replay.report import ReportHeader

Report = Callable[..., Stored[ReportHeader]]
BASE = (100.0, 200.0, 300.0)


@pytest.mark.parametrize(
    ("run", "hidden", "verdict", "first_reason"),
    [
        (BASE, 50.0, "pass", None),
        ((100.0, 200.0, 345.0), 50.0, "warn", "p99 regression 15.0% exceeds 7.5% (half the threshold)"),
        ((100.0, 200.0, 345.1), 50.0, "fail", "p99 regression 15.0% exceeds 15.0%"),
        ((100.0, 200.0, 322.5), 50.0, "pass", None),
        ((100.0, 220.1, 300.0), 50.0, "fail", "p95 regression 10.1% exceeds 10.0%"),
        ((108.1, 200.0, 300.0), 50.0, "fail", "median regression 8.1% exceeds 8.0%"),
        ((104.1, 200.0, 300.0), 50.0, "warn", "median regression 4.1% exceeds 4.0% (half the threshold)"),
        ((50.0, 100.0, 150.0), 50.0, "pass", None),
        (BASE, 44.9, "fail", "hidden drop 5.1 points exceeds 5.0 points"),
        (BASE, 47.0, "warn", "hidden drop 3.0 points exceeds 2.5 points (half the threshold)"),
        (BASE, 47.5, "pass", None),
        (BASE, 99.0, "pass", None),
    ],
)
def test_whole_run(
    report_of: Report, run: tuple[float, float, float], hidden: float, verdict: str, first_reason: str | None
) -> None:
    found = compare(report_of(BASE), report_of(run, hidden=hidden))
    assert found.verdict == verdict
    assert (found.reasons[0] if found.reasons else None) == first_reason
    assert comparison_exit_code(found) == (1 if verdict == "fail" else 0)


def test_a_warning_about_hiding_never_says_latency(report_of: Report) -> None:
    reasons = compare(report_of(hidden=50.0), report_of(hidden=47.0)).reasons
    assert len(reasons) == 1
    assert "latency" not in reasons[0]
    assert "hidden drop" in reasons[0]


def test_reasons_stand_worst_first(report_of: Report) -> None:
    rows = {"decode": BASE, "prefill": BASE}
    worse = {"decode": (100.0, 200.0, 424.5), "prefill": (100.0, 225.0, 300.0)}
    found = compare(
        report_of(BASE, phases=rows, ops={"all_reduce": BASE}),
        report_of((104.5, 200.0, 421.2), phases=worse, ops={"all_reduce": (100.0, 200.0, 360.0)}),
    )
    assert found.reasons == (
        "p99 regression 40.4% exceeds 15.0%",
        "phase 'decode' p99 regression 41.5% exceeds 15.0%",
        "operation 'all_reduce' p99 regression 20.0% exceeds 15.0%",
        "median regression 4.5% exceeds 4.0% (half the threshold)",
        "phase 'prefill' p95 regression 12.5% exceeds 7.5% (half the threshold)",
    )


def test_a_change_under_its_floor_is_said_and_warns(report_of: Report) -> None:
    floor = Thresholds(p99_absolute_threshold_us=1000.0)
    found = compare(report_of((100.0, 200.0, 109.7)), report_of((100.0, 200.0, 154.0)), floor)
    line = "not gated: p99 +40.4 % (+44.3 us) is under the floor of 1000 us"
    assert (found.verdict, found.not_gated, found.reasons) == ("warn", (line,), (line,))


def test_any_rise_from_zero_is_new_but_keeps_its_floor(report_of: Report) -> None:
    none = report_of((0.0, 0.0, 0.0))
    assert compare(none, report_of((0.0, 0.0, 1.1))).verdict == "fail"
    small = compare(none, report_of((0.0, 0.0, 0.4)))
    assert small.verdict == "warn"
    assert small.not_gated == ("not gated: p99 from 0 (+0.400 us) is under the floor of 1 us",)
    assert compare(none, none).verdict == "pass"


def test_a_row_on_one_side_only_warns(report_of: Report) -> None:
    found = compare(report_of(phases={"a": BASE}, ops={"x": BASE}), report_of(phases={"b": BASE}, ops={"x": BASE}))
    assert found.verdict == "warn"
    assert set(found.reasons) == {
        "phase 'a' is gone: only the baseline has it",
        "phase 'b' is new: only the candidate has it",
    }


def test_breakdown_thresholds_default_to_the_p99_pair(report_of: Report) -> None:
    before, after = report_of(phases={"a": BASE}), report_of(phases={"a": (112.0, 200.0, 300.0)})
    assert compare(before, after).verdict == "warn"
    assert compare(before, after, Thresholds(p99_threshold_pct=10.0)).verdict == "fail"
    assert compare(before, after, Thresholds(p99_threshold_pct=10.0, breakdown_threshold_pct=30.0)).verdict == "pass"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"canary": "b" * 64}, "canary.content_id"),
        ({"version": "5"}, "simulation_model.version"),
        ({"iterations": 2}, "replay_protocol.iterations"),
        ({"seeds": (7, 8)}, "replay_protocol.number_of_seeds"),
        ({"seeds": (8,)}, "replay_protocol.seeds"),
        ({"ablations": ("noise",)}, "replay_protocol.ablations"),
        ({"assumptions": {"arrival_skew_us": 0.0}}, "assumptions"),
    ],
)
def test_a_mismatch_is_refused_or_caps_the_verdict(report_of: Report, change: dict[str, object], place: str) -> None:
    with pytest.raises(IntegrityRefusal) as refused:
        compare(report_of(), report_of(**change))
    assert refused.value.place == place
    slower = report_of((1000.0, 2000.0, 3000.0), **change)
    allowed = compare(report_of(), slower, allow_mismatch=True)
    assert allowed.verdict == "warn"
    assert allowed.compatibility.status == "mismatch"
    assert compare(report_of(), report_of(**change), allow_mismatch=True).verdict == "warn"


SEEDS = tuple(range(20))


def noisy(seed: int, scale: float = 1.0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return scale * (100 + generator.exponential(10, (20, 200)))


def test_intervals_decide_where_asked_for(sampled_report: Report) -> None:
    base = sampled_report(noisy(1), SEEDS)
    slow = compare(base, sampled_report(noisy(1, 1.3), SEEDS), confidence=0.95)
    assert slow.verdict == "fail"
    assert slow.confidence is not None
    assert slow.confidence.paired
    p99 = slow.evaluations[0]
    assert p99.interval is not None
    assert p99.interval.low_pct == pytest.approx(30, abs=0.01)  # every run 30 % longer: no spread when paired
    assert compare(base, sampled_report(noisy(2), tuple(range(20, 40))), confidence=0.95).verdict == "pass"


def test_an_interval_over_its_threshold_is_inconclusive(sampled_report: Report) -> None:
    after = noisy(1) * np.linspace(0.98, 1.18, 20)[:, None]  # 8 % slower on average, 8 % is the threshold
    found = compare(sampled_report(noisy(1), SEEDS), sampled_report(after, SEEDS), confidence=0.95)
    assert found.verdict == "inconclusive"
    assert comparison_exit_code(found) == 1
    assert any("straddles" in reason for reason in found.reasons)


RARE = 3


@pytest.fixture(scope="module")
def rare_part() -> Canary:
    """A canary of 200 events, three of which are a phase of their own."""
    rows = [
        {"op": "all_reduce", "bytes": 8, "ranks": 2, "gap_us": 1.0, "phase": "rare" if i < RARE else "common"}
        for i in range(200)
    ]
    trace = read_exchange(msgspec.json.encode({"format": "commcanary.trace.v1", "events": rows}))
    return compile_trace(trace, CompileSettings())


@pytest.mark.parametrize(
    ("rise", "verdict", "result"),
    [(0.02, "warn", "warn"), (0.30, "inconclusive", "inconclusive"), (3.0, "fail", "fail")],
)
def test_a_rare_part_with_a_wide_interval(
    sampled_report: Report, rare_part: Canary, rise: float, verdict: str, result: str
) -> None:
    before, after = noisy(1), noisy(1)
    # the rare phase swings from run to run on both sides, by the same random factor in other runs
    swing = 1 + np.random.default_rng(5).exponential(0.4, (20, 1))
    before[:, :RARE] = 10 * swing
    after[:, :RARE] = 10 * swing[::-1] * (1 + rise)
    reports = [sampled_report(runs, SEEDS, canary=rare_part) for runs in (before, after)]
    found = compare(*reports, confidence=0.95, canary=rare_part)
    median = next(e for e in found.evaluations if (e.name, e.metric) == ("rare", "median"))
    assert median.interval is not None
    assert median.threshold_result == result
    assert found.verdict == verdict, found.reasons


def test_too_few_runs_are_inconclusive_without_an_interval(report_of: Report) -> None:
    found = compare(report_of(), report_of(), confidence=0.95)
    assert found.verdict == "inconclusive"
    assert found.reasons[0].startswith("inconclusive: too few runs")
    assert found.confidence is None
    assert all(e.interval is None for e in found.evaluations)


def test_two_modes_are_an_outcome_of_their_own(sampled_report: Report) -> None:
    modes = np.where(np.arange(20) % 2 == 0, 2.58, 4.12)[:, None] * np.linspace(0.999, 1.001, 200)
    modes = modes * np.linspace(0.998, 1.002, 20)[:, None]
    for confidence in (None, 0.95):
        found = compare(sampled_report(modes, SEEDS), sampled_report(modes * 0.5, SEEDS), confidence=confidence)
        assert found.verdict == "unstable"
        assert "bimodal" in found.reasons[0]
        assert comparison_exit_code(found) == 1


def test_wide_runs_of_one_mode_are_unstable(sampled_report: Report) -> None:
    wide = np.linspace(50, 150, 20)[:, None] * np.ones(50)
    found = compare(sampled_report(wide, SEEDS), sampled_report(wide, SEEDS))
    assert found.verdict == "unstable"
    assert found.stability[0].relative_iqr_pct == 50.0


def test_intervals_without_samples_or_level_are_refused(report_of: Report, sampled_report: Report) -> None:
    with pytest.raises(UnknownValueRefusal, match="include-samples"):
        compare(report_of(seeds=SEEDS), report_of(seeds=SEEDS), confidence=0.95)
    with pytest.raises(UsageError, match="between 0 and 1"):
        compare(report_of(), report_of(), confidence=95.0)
    base = sampled_report(noisy(1), SEEDS)
    spliced = Stored(base.header, sampled_report(noisy(2), SEEDS).table)
    with pytest.raises(IntegrityRefusal, match="samples"):
        compare(base, spliced, confidence=0.95)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_impossible_thresholds_are_refused(value: float) -> None:
    with pytest.raises(InputRefusal, match="p95_threshold_pct"):
        Thresholds(p95_threshold_pct=value)


statistics = st.tuples(*[st.integers(0, 4000).map(lambda n: n / 8)] * 3)


@given(statistics, statistics, st.integers(0, 100), st.integers(0, 100))
def test_the_document_reads_back_and_agrees_with_a_plain_reading_of_the_rules(
    report_of: Report, before: tuple[float, ...], after: tuple[float, ...], hidden_a: int, hidden_b: int
) -> None:
    found = compare(report_of(before, hidden=float(hidden_a)), report_of(after, hidden=float(hidden_b)))
    results = set()
    for old, new, percent in zip(before, after, (8, 10, 15), strict=True):
        rise = new - old
        over = rise > 0 and (old == 0 or rise * 100 > percent * old)
        half = rise > 0 and (old == 0 or rise * 200 > percent * old)
        results.add("fail" if over and rise > 1 else "warn" if over or (half and rise > 0.5) else "pass")
    drop = hidden_a - hidden_b
    results.add("fail" if drop > 5 else "warn" if drop > 2.5 else "pass")
    assert found.verdict == ("fail" if "fail" in results else "warn" if "warn" in results else "pass")
    assert COMPARISON.from_json(json_bytes(COMPARISON, Stored(found))).header == found


@pytest.mark.parametrize(
    ("makespan", "verdict", "reasons"),
    [
        (1000.0, "pass", ()),
        (1025.0, "pass", ()),
        (1025.1, "warn", ("makespan regression 2.5% exceeds 2.5% (half the threshold)",)),
        (1050.0, "warn", ("makespan regression 5.0% exceeds 2.5% (half the threshold)",)),
        (1050.1, "fail", ("makespan regression 5.0% exceeds 5.0%",)),
        (900.0, "pass", ()),
    ],
)
def test_the_makespan_is_gated(report_of: Report, makespan: float, verdict: str, reasons: tuple[str, ...]) -> None:
    found = compare(report_of(makespans=(1000.0,)), report_of(makespans=(makespan,)))
    assert found.verdict == verdict
    assert found.reasons == reasons
    assert found.delta["makespan_us"] == pytest.approx(makespan - 1000)


def test_the_makespan_is_the_median_over_runs_and_has_a_floor(report_of: Report) -> None:
    before, after = report_of(makespans=(10.0, 30.0, 20.0)), report_of(makespans=(21.0, 90.0, 1.0))
    found = compare(before, after, Thresholds(makespan_absolute_threshold_us=2.0))
    row = next(e for e in found.evaluations if e.metric == "makespan")
    assert (row.baseline, row.candidate, row.threshold_result) == (20.0, 21.0, "pass")
    tight = compare(before, after, Thresholds(makespan_threshold_pct=4.0, makespan_absolute_threshold_us=2.0))
    assert tight.verdict == "warn"
    assert tight.not_gated == ("not gated: makespan +5.0 % (+1.0 us) is under the floor of 2 us",)


def test_an_absent_makespan_stays_absent(report_of: Report) -> None:
    for before, after in ((None, None), (None, (1.0,)), ((1.0,), None)):
        found = compare(report_of(makespans=before), report_of(makespans=after))
        assert "makespan_us" not in found.delta
        assert all(e.metric != "makespan" for e in found.evaluations)


def test_the_makespan_has_an_interval_over_runs(sampled_report: Report) -> None:
    seeds = tuple(range(12))
    latencies = np.full((12, 4), 100.0)
    before = sampled_report(latencies, seeds, makespans=tuple(1000.0 + i for i in range(12)))
    for factor, verdict in ((1.0, "pass"), (1.2, "fail")):
        after = sampled_report(latencies, seeds, makespans=tuple(factor * (1000.0 + i) for i in range(12)))
        found = compare(before, after, confidence=0.95)
        row = next(e for e in found.evaluations if e.metric == "makespan")
        assert row.interval is not None
        assert row.interval.low_pct == pytest.approx(100 * (factor - 1), abs=0.01)
        assert found.verdict == verdict
    wide = sampled_report(latencies, seeds, makespans=tuple(1000.0 + (150.0 if i % 2 else 0.0) for i in range(12)))
    unsure = compare(before, wide, confidence=0.95)
    assert unsure.verdict == "inconclusive"
    assert unsure.reasons[0].startswith("makespan: [")
