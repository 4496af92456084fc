"""What each ablation costs on the ranking-inversion scaffold, whose inversion comes from skew and overlap."""

from __future__ import annotations

import msgspec
import pytest

from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_exchange import read_exchange
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


def alternating() -> Trace:
    """Sixteen all_reduces a second apart, from 16 MiB down and 1 KiB in turn: none waits for another in any order."""
    row = {"op": "all_reduce", "ranks": 2, "gap_us": 1e6}
    rows = [{**row, "bytes": 2**24 - i * 2**16 if i % 2 == 0 else 2**10 + i} for i in range(16)]
    return read_exchange(msgspec.json.encode({"format": "commcanary.trace.v1", "events": rows}))


def test_an_event_is_compared_with_itself_in_whatever_order_it_is_replayed() -> None:
    protocol = Protocol(seeds=(1,), ablations=("noise", "rare_tail_windows"))
    reference = Reference(alternating(), "scheduler-v4", CONFIGURATIONS, protocol)
    # sorted by kind, the eight small ones are replayed first; the large ones stay the even events
    sorted_by_kind = reference.replayed(reference.trace.events, (*protocol.ablations, "operation_ordering"))
    for name, outcome in sorted_by_kind.items():
        exposed = outcome.exposed_us[0]
        assert exposed[::2].min() > exposed[1::2].max()
        assert exposed == pytest.approx(reference.outcomes[name].exposed_us[0])
    # by position, each window of two events would have found its slow one half the time: recall 0.5
    cost = ablation_costs(reference, ["operation_ordering"]).costs[0]
    assert (cost.ranking_agreement, cost.hidden_error_points, cost.failed_checks) == (1.0, 0.0, 0)
    assert set(cost.errors_pct.values()) == {0.0}


def test_the_document_reads_back_and_unknown_names_are_refused(reference: Reference) -> None:
    found = ablation_costs(reference, ["arrival_skew", "noise"])
    assert [cost.ablation for cost in found.costs] == ["arrival_skew", "noise"]
    assert ABLATION_COSTS.from_json(json_bytes(ABLATION_COSTS, Stored(found))).header == found
    with pytest.raises(InputRefusal, match="magic"):
        ablation_costs(reference, ["magic"])
