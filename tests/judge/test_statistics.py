"""Decisions counted against the source, and the policy's outcomes, from comparisons written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import pytest

from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.errors import InputRefusal
from commcanary.judge.compare import compare
from commcanary.judge.comparison import Comparison
from commcanary.judge.policy import (
    POLICY_OUTCOME,
    REASON_CODES,
    Policy,
    judged_by,
    policy_exit_code,
)
from commcanary.judge.ranking import RANKING_METRICS, Ranking, rank
from commcanary.judge.statistics import DECISIONS, DecisionStatistics, decision_statistics, margin_points, wilson
from commcanary.replay.report import ReportHeader

Report = Callable[..., Stored[ReportHeader]]


@pytest.fixture(scope="module")
def by_p99(report_of: Report) -> Callable[[float], Comparison]:
    """The comparison of a p99 of 100 us with one that is so many percent longer (15 % fails)."""

    def made(rise_pct: float) -> Comparison:
        return compare(report_of((10.0, 20.0, 100.0)), report_of((10.0, 20.0, 100.0 + rise_pct)))

    return made


def counted(
    by_p99: Callable[[float], Comparison], pairs: Sequence[tuple[float, float]], **more: float
) -> DecisionStatistics:
    source = {f"c{i}": by_p99(a) for i, (a, _) in enumerate(pairs)}
    represented = {f"c{i}": by_p99(b) for i, (_, b) in enumerate(pairs)}
    return decision_statistics("cluster", source, represented, runs=1, **more)


def test_margins_are_in_points_over_the_threshold(by_p99: Callable[[float], Comparison]) -> None:
    assert margin_points(by_p99(20.0)) == pytest.approx(5.0)
    assert margin_points(by_p99(14.5)) == pytest.approx(-0.5)


def test_every_outcome(by_p99: Callable[[float], Comparison]) -> None:
    pairs = [(30, 40), (0, 1), (0, 30), (30, 0), (15.5, 0), (14.5, 20), (14.5, 0)]
    found = counted(by_p99, pairs)
    assert [d.outcome for d in found.decisions] == [
        "true_positive",
        "true_negative",
        "false_positive",
        "false_negative",
        "tie_band",
        "tie_band",
        "true_negative",
    ]
    assert (found.true_positives, found.true_negatives) == (1, 2)
    assert (found.false_positives, found.false_negatives, found.in_tie_band) == (1, 1, 2)
    assert found.agreement == 0.6
    assert DECISIONS.from_json(json_bytes(DECISIONS, Stored(found))).header == found


def test_undecided_comparisons_are_counted_apart(by_p99: Callable[[float], Comparison]) -> None:
    shaky = msgspec.structs.replace(by_p99(30.0), verdict="inconclusive")
    found = decision_statistics("x", {"c": by_p99(30.0)}, {"c": shaky}, runs=1)
    assert (found.undecided, found.agreement) == (1, None)


def test_wilson_interval_of_nine_in_ten() -> None:
    # (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) with z = 1.95996
    assert wilson(9, 10) == (0.595850, 0.982124)
    assert wilson(0, 0) == (None, None)


def ranking(source: Sequence[float], canary: Sequence[float]) -> Ranking:
    return rank(
        *({f"c{i}": dict.fromkeys(RANKING_METRICS, v) for i, v in enumerate(side)} for side in (source, canary)), 0.001
    )


@pytest.mark.parametrize(
    ("pairs", "policy", "ranks", "code"),
    [
        ([(30, 40), (0, 1)], Policy(), None, "criteria_met"),
        ([(30, 0), (0, 30)], Policy(), None, "false_negatives"),
        ([(0, 30)], Policy(), None, "false_positives"),
        ([(0, 30), (0, 0)], Policy(max_false_positives=1), None, "agreement_too_low"),
        ([(0, 30), (0, 0)], Policy(max_false_positives=1, min_agreement=0.5), None, "criteria_met"),
        ([(15.5, 0)], Policy(), None, "only_ties"),
        ([(0, 0)], Policy(min_runs=10), None, "too_few_runs"),
        ([], Policy(), None, "no_shared_configuration"),
        ([(0, 0)], Policy(min_kendall_tau_b=0.9), None, "ranking_undefined"),
        ([(0, 0)], Policy(min_kendall_tau_b=0.9), ranking([1, 2], [2, 1]), "tau_too_low"),
        ([(0, 0)], Policy(min_ranking_agreement=1.0), ranking([1, 2, 3], [1, 3, 2]), "ranking_agreement_too_low"),
        ([(0, 0)], Policy(min_ranking_agreement=1.0, min_kendall_tau_b=1.0), ranking([1, 2], [3, 4]), "criteria_met"),
    ],
)
def test_policy_outcomes(
    by_p99: Callable[[float], Comparison],
    pairs: list[tuple[float, float]],
    policy: Policy,
    ranks: Ranking | None,
    code: str,
) -> None:
    found = judged_by(policy, counted(by_p99, pairs), ranks)
    assert found.reason_code == code
    assert found.outcome == REASON_CODES[code]
    assert policy_exit_code(found) == (0 if code == "criteria_met" else 1)
    assert POLICY_OUTCOME.from_json(json_bytes(POLICY_OUTCOME, Stored(found))).header == found


def test_sides_that_do_not_belong_together_are_incomparable(
    report_of: Report, by_p99: Callable[[float], Comparison]
) -> None:
    lone = decision_statistics("x", {"a": by_p99(0), "b": by_p99(0)}, {"a": by_p99(0)}, runs=1)
    assert judged_by(Policy(), lone).reason_code == "configurations_differ"
    allowed = compare(report_of(), report_of(version="5"), allow_mismatch=True)
    mixed = decision_statistics("x", {"a": by_p99(0)}, {"a": allowed}, runs=1)
    assert judged_by(Policy(), mixed).reason_code == "reports_mismatch"
    shaky = msgspec.structs.replace(by_p99(30.0), verdict="unstable")
    undecided = decision_statistics("x", {"a": by_p99(0)}, {"a": shaky}, runs=1)
    assert judged_by(Policy(), undecided).reason_code == "undecided_configurations"


@pytest.mark.parametrize("wrong", [{"min_agreement": 1.5}, {"min_runs": 0}, {"tie_band_points": float("nan")}])
def test_impossible_policies_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputRefusal, match=next(iter(wrong))):
        Policy(**wrong)


def test_a_negative_tie_band_is_refused() -> None:
    with pytest.raises(InputRefusal, match="tie_band_points"):
        decision_statistics("x", {}, {}, runs=1, tie_band_points=-1.0)
