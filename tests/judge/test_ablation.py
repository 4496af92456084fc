"""What each ablation costs on the ranking-inversion scaffold, whose inversion comes from skew and overlap."""

from __future__ import annotations

import pytest

from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.errors import InputRefusal
from commcanary.judge.ablation import ABLATION_COSTS, ablation_costs
from commcanary.judge.reference import Reference
from commcanary.replay.configuration import Protocol
from commcanary.sources.synthetic.ranking_inversion import CONFIGURATIONS, SEED, ranking_inversion


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(ranking_inversion(), "scheduler-v4", CONFIGURATIONS, Protocol(seeds=(SEED,)))


def test_leaving_out_what_nothing_reads_costs_nothing(reference: Reference) -> None:
    cost = ablation_costs(reference, ["observed_exposed"]).costs[0]
    assert (cost.ranking_agreement, cost.kendall_tau_b, cost.failed_checks) == (1.0, 1.0, 0)
    assert set(cost.errors_pct.values()) == {0.0}


def test_without_overlap_the_lower_latency_floor_wins(reference: Reference) -> None:
    # E has no effect then, and F 7 beats F 8 everywhere
    cost = ablation_costs(reference, ["compute_overlap"]).costs[0]
    assert (cost.ranking_agreement, cost.kendall_tau_b) == (0.0, -1.0)
    assert cost.hidden_error_points > 5
    assert cost.failed_checks > 0


def test_the_document_reads_back_and_unknown_names_are_refused(reference: Reference) -> None:
    found = ablation_costs(reference, ["arrival_skew", "noise"])
    assert [cost.ablation for cost in found.costs] == ["arrival_skew", "noise"]
    assert ABLATION_COSTS.from_json(json_bytes(ABLATION_COSTS, Stored(found))).header == found
    with pytest.raises(InputRefusal, match="magic"):
        ablation_costs(reference, ["magic"])
