"""The policy that a campaign declares before it runs, and what it ends in.

pass, fail, inconclusive or incomparable, each with one reason code. Evidence of a wrong decision is a fail
even where other configurations are undecided; what was never measured is never a pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT, InputRefusal

if TYPE_CHECKING:
    from commcanary.judge.ranking import Ranking
    from commcanary.judge.statistics import DecisionStatistics

POLICY_OUTCOME_FORMAT = "commcanary.policy_outcome.v1"

PASS, FAIL, INCONCLUSIVE, INCOMPARABLE = "pass", "fail", "inconclusive", "incomparable"

REASON_CODES = {
    "criteria_met": PASS,
    "false_negatives": FAIL,
    "false_positives": FAIL,
    "agreement_too_low": FAIL,
    "ranking_agreement_too_low": FAIL,
    "tau_too_low": FAIL,
    "too_few_runs": INCONCLUSIVE,
    "undecided_configurations": INCONCLUSIVE,
    "only_ties": INCONCLUSIVE,
    "ranking_undefined": INCONCLUSIVE,
    "no_shared_configuration": INCOMPARABLE,
    "configurations_differ": INCOMPARABLE,
    "reports_mismatch": INCOMPARABLE,
}
"""Every reason code, and the outcome that it explains."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a representation must reach. Shares are 0 to 1, tau-b is -1 to 1, null asks nothing.

    Raises InputRefusal for a number outside its range.
    """

    min_agreement: float = 1.0
    min_ranking_agreement: float | None = None
    min_kendall_tau_b: float | None = None
    max_false_positives: int = 0
    max_false_negatives: int = 0
    max_undecided: int = 0
    min_runs: int = 1
    tie_band_points: float = 1.0

    def __post_init__(self) -> None:
        ranges = {
            "min_agreement": (0.0, 1.0),
            "min_ranking_agreement": (0.0, 1.0),
            "min_kendall_tau_b": (-1.0, 1.0),
            "max_false_positives": (0, math.inf),
            "max_false_negatives": (0, math.inf),
            "max_undecided": (0, math.inf),
            "min_runs": (1, math.inf),
            "tie_band_points": (0.0, 100.0),
        }
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            if value is not None and not (low <= value <= high and math.isfinite(value)):
                allowed = f"{low:g} to {high:g}" if math.isfinite(high) else f"a finite number of {low:g} or more"
                raise InputRefusal(name, f"is {value!r}", f"give {allowed}")


class PolicyOutcome(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=POLICY_OUTCOME_FORMAT,
):
    """``outcome`` follows from ``reason_code`` (``REASON_CODES``); ``found`` and ``required`` are the two numbers."""

    representation: str
    outcome: str
    reason_code: str
    detail: str
    found: float | None
    required: float | None
    policy: Policy


POLICY_OUTCOME = document_kind("policy outcome", POLICY_OUTCOME_FORMAT, PolicyOutcome)
"""The policy outcome as an artifact kind."""


def judged_by(policy: Policy, statistics: DecisionStatistics, ranking: Ranking | None = None) -> PolicyOutcome:
    """What ``policy`` makes of a representation's decisions, and of its ranking where the policy asks for one."""
    code, detail, found, required = (
        _incomparable(statistics)
        or _wrong(policy, statistics)
        or _inconclusive(policy, statistics)
        or _agreement(policy, statistics)
        or _ranking(policy, ranking)
        or ("criteria_met", "every criterion of the policy is met", statistics.agreement, policy.min_agreement)
    )
    return PolicyOutcome(
        representation=statistics.representation,
        outcome=REASON_CODES[code],
        reason_code=code,
        detail=detail,
        found=found,
        required=required,
        policy=policy,
    )


def policy_exit_code(outcome: PolicyOutcome) -> int:
    """0 for pass only."""
    return EXIT_DONE if outcome.outcome == PASS else EXIT_NEGATIVE_VERDICT


_Reason = tuple[str, str, float | None, float | None]


def _incomparable(statistics: DecisionStatistics) -> _Reason | None:
    if not statistics.decisions:
        return "no_shared_configuration", "source and representation share no configuration", 0, 1
    if statistics.one_sided:
        names = ", ".join(statistics.one_sided)
        return "configurations_differ", f"only one side has {names}", len(statistics.one_sided), 0
    if statistics.mismatched:
        return "reports_mismatch", "comparisons of reports that do not belong together", statistics.mismatched, 0
    return None


def _wrong(policy: Policy, statistics: DecisionStatistics) -> _Reason | None:
    for code, count, allowed, what in (
        ("false_negatives", statistics.false_negatives, policy.max_false_negatives, "missed regressions"),
        ("false_positives", statistics.false_positives, policy.max_false_positives, "false alarms"),
    ):
        if count > allowed:
            return code, f"{count} {what}, {allowed} allowed", count, allowed
    return None


def _inconclusive(policy: Policy, statistics: DecisionStatistics) -> _Reason | None:
    if statistics.runs < policy.min_runs:
        return "too_few_runs", f"{statistics.runs} runs of {policy.min_runs}", statistics.runs, policy.min_runs
    if statistics.undecided > policy.max_undecided:
        detail = f"{statistics.undecided} configurations are inconclusive or unstable"
        return "undecided_configurations", detail, statistics.undecided, policy.max_undecided
    if statistics.agreement is None:
        return "only_ties", "no configuration is decided outside the tie band", None, policy.min_agreement
    return None


def _agreement(policy: Policy, statistics: DecisionStatistics) -> _Reason | None:
    assert statistics.agreement is not None  # asked before
    if statistics.agreement < policy.min_agreement:
        detail = f"{statistics.agreement:.3f} of the decisions agree"
        return "agreement_too_low", detail, statistics.agreement, policy.min_agreement
    return None


def _ranking(policy: Policy, ranking: Ranking | None) -> _Reason | None:
    for code, required, name in (
        ("ranking_agreement_too_low", policy.min_ranking_agreement, "agreement"),
        ("tau_too_low", policy.min_kendall_tau_b, "kendall_tau_b"),
    ):
        if required is None:
            continue
        found = None if ranking is None else getattr(ranking, name)
        if found is None:
            return "ranking_undefined", f"the ranking has no {name}", None, required
        if found < required:
            return code, f"the ranking's {name} is {found:.3f}", found, required
    return None
