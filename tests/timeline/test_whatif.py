"""Predictions for a segment: declared and swept variants, the law behind them, refusals."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from commcanary.artifacts.jsontext import convert
from commcanary.errors import BudgetRefusal, InputRefusal, UnknownValueRefusal
from commcanary.timeline.alpha_beta import AlphaBeta, fit_alpha_beta
from commcanary.timeline.segment import Segment
from commcanary.timeline.splits import Sweep
from commcanary.timeline.whatif import Outcome, WhatIf, predict

MIB = 1 << 20
LAW = {"startup_us": 1000.0, "bandwidth_gb_s": 16 * MIB / 1e6}
BUCKET: dict[str, Any] = {"name": "g", "bytes": "96 MiB", "ready_us": 210_000.0}
BACKWARD: dict[str, Any] = {"compute_us": 210_000.0, "law": LAW, "buckets": [BUCKET]}


def segment(**changes: Any) -> Segment:
    return convert({**BACKWARD, **changes}, Segment)


def lengths(found: WhatIf) -> dict[str, float]:
    return {outcome.name: outcome.step_us for outcome in (found.outcome, *found.variants)}


def halves(early: float, size: int = 80) -> list[dict[str, Any]]:
    return [
        {"name": "early", "bytes": size * MIB, "ready_us": early},
        {"name": "late", "bytes": (96 - size) * MIB, "ready_us": 210_000.0},
    ]


def test_declared_variants_of_the_worked_example() -> None:
    found = predict(
        segment(
            variants=[
                {"name": "split", "buckets": halves(202_000.0)},
                {"name": "slowed", "buckets": halves(202_000.0), "slowdown_us": 1000.0},
            ]
        )
    )
    assert lengths(found) == {"as it is": 217_000, "split": 212_000, "slowed": 213_000}
    split, slowed = found.variants
    assert (split.gain_us, slowed.gain_us, slowed.gain_without_interference_us) == (5000, 4000, 5000)
    assert (found.outcome.startups, split.startups, split.startup_us) == (1, 2, 2000)
    assert (split.peak_buffer_bytes, split.extra_buffer_bytes) == (80 * MIB, -16 * MIB)
    assert slowed.compute_slowdown == 0.2
    assert (found.best, found.label) == ("split", "prediction")
    assert found.assumptions[0] == "a prediction, not a measurement"


def test_law_fitted_to_measured_collectives() -> None:
    sizes = [1 * MIB, 16 * MIB, 64 * MIB, 96 * MIB]
    law = AlphaBeta(**LAW)
    measured = [{"bytes": size, "us": law.time_us(size)} for size in sizes]
    found = predict(segment(law=None, collectives=measured))
    assert (found.law_from, found.outcome.step_us) == ("measured collectives", 217_000)
    assert found.fit is not None
    assert (found.outcome.low_us, found.outcome.high_us) == pytest.approx((217_000, 217_000), abs=0.01)


def test_interval_of_the_law_becomes_an_interval_of_the_step() -> None:
    sizes = [1 * MIB, 16 * MIB, 64 * MIB, 96 * MIB]
    fit = fit_alpha_beta(sizes, [1100.0, 1900.0, 5200.0, 6900.0])
    found = predict(segment(), None, fit, "nccl-tests x.log")
    low, high = found.outcome.low_us, found.outcome.high_us
    assert found.law_from == "nccl-tests x.log"
    assert low is not None
    assert high is not None
    assert low < found.outcome.step_us < high
    assert fit.startup_interval_us is not None
    assert fit.bandwidth_interval_gb_s is not None
    worst = AlphaBeta(fit.startup_interval_us[1], fit.bandwidth_interval_gb_s[0])
    assert high == pytest.approx(210_000 + worst.time_us(96 * MIB), abs=0.001)


def test_sweep_of_sizes_with_parts_that_become_ready_evenly() -> None:
    """From 162 ms on 2 MiB a ms: 80 MiB after 202 ms, as in the worked example, which is the best of twelfths."""
    found = predict(segment(buckets=[{**BUCKET, "ready_from_us": 162_000.0}]), Sweep("g"))
    assert len(found.variants) == 11
    assert found.best == "g: 80 MiB + 16 MiB"
    assert lengths(found)["g: 80 MiB + 16 MiB"] == 212_000
    assert lengths(found)["g: 88 MiB + 8 MiB"] == 214_000, "1 + 5.5 ms from 206 on, then 1 + 0.5"
    assert found.variants[0].buckets[0].ready_us == 166_000


def test_sweep_in_up_to_three_parts_and_all_orders() -> None:
    found = predict(segment(buckets=[{**BUCKET, "ready_from_us": 162_000.0}]), Sweep("g", 3, 4, True))
    assert len(found.variants) == 3 * 2 + 3 * 6
    best = {outcome.name: outcome for outcome in found.variants}[found.best]
    assert best.step_us == min(outcome.step_us for outcome in found.variants)
    assert len({outcome.name for outcome in found.variants}) == 24
    turned = "g: 72 MiB + 24 MiB, g.2 then g.1"
    assert lengths(found)[turned] == 218_000, "the first part waits behind the last: 2.5 + 5.5 ms after 210"


def test_sweep_between_parameters() -> None:
    parameters = [
        {"name": "w3", "bytes": 40 * MIB, "ready_us": 190_000.0},
        {"name": "w2", "bytes": 40 * MIB, "ready_us": 202_000.0},
        {"name": "w1", "bytes": 16 * MIB, "ready_us": 210_000.0},
    ]
    found = predict(segment(buckets=[{**BUCKET, "parameters": parameters}]), Sweep("g"))
    assert lengths(found) == {"as it is": 217_000, "g: 40 MiB + 56 MiB": 214_500, "g: 80 MiB + 16 MiB": 212_000}
    assert [(p.bucket, p.name, p.bytes, p.ready_us) for p in found.parameters] == [
        ("g", "w3", 40 * MIB, 190_000),
        ("g", "w2", 40 * MIB, 202_000),
        ("g", "w1", 16 * MIB, 210_000),
    ]


def test_many_parameters_are_thinned_to_the_grid() -> None:
    parameters = [{"name": str(i), "bytes": MIB, "ready_us": 114_000.0 + 1000 * (i + 1)} for i in range(96)]
    found = predict(segment(buckets=[{**BUCKET, "parameters": parameters}]), Sweep("g", 2, 12))
    assert [outcome.buckets[0].bytes // MIB for outcome in found.variants] == list(range(8, 96, 8))


def test_orders_that_stand_still_are_named() -> None:
    buckets = [
        {"name": "a", "bytes": 1024, "ready_us": 10.0, "needed_us": 20.0},
        {"name": "b", "bytes": 1024, "ready_us": 30.0},
    ]
    found = predict(segment(buckets=buckets), Sweep(orders=True))
    assert found.variants == ()
    assert found.skipped == ("b then a: a is needed before b, which stands before it on the stream, can be ready",)


def test_measured_segment_checks_the_model() -> None:
    check = predict(segment(measured_us=220_000.0)).model_check
    assert check is not None
    assert (check.error_us, check.error_pct) == (-3000, -1.364)


def test_a_step_in_which_nothing_waited_checks_nothing() -> None:
    early = [{"name": "g", "bytes": 1024, "ready_us": 0.0}]
    given = segment(buckets=early)
    same = predict(segment(buckets=early, measured_us=given.compute_us))
    assert same.outcome.tail_us == 0
    assert same.model_check is None
    assert "nothing waited" in str(same.model_unchecked)
    shorter = predict(segment(buckets=early, measured_us=given.compute_us / 2))
    assert (shorter.model_unchecked, getattr(shorter.model_check, "error_pct", None)) == (None, 100)
    waits = predict(segment(measured_us=given.compute_us))  # the model predicts a wait that was not there
    assert waits.model_check is not None
    assert predict(given).model_unchecked == "the segment was not measured"


def parts(outcome: Outcome) -> float:
    return outcome.compute_us + outcome.tail_us + outcome.slowdown_us


def test_parts_are_the_step() -> None:
    found = predict(segment(buckets=[{**BUCKET, "ready_from_us": 0.0}], compute_slowdown=0.3), Sweep("g", 3, 6))
    for outcome in (found.outcome, *found.variants):
        assert parts(outcome) == pytest.approx(outcome.step_us, abs=0.003)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"compute_us": -1.0}, "compute_us: is -1.0"),
        ({"buckets": []}, "buckets: is empty"),
        ({"buckets": [{**BUCKET, "bytes": "many"}]}, "g.bytes: 'many' is no size"),
        ({"buckets": [{**BUCKET, "bytes": 0}]}, "g.bytes: is 0"),
        ({"buckets": [BUCKET, BUCKET]}, "buckets[0].name: 'g' is given twice"),
        ({"buckets": [{**BUCKET, "ready_us": 210_001.0}]}, "buckets[0].ready_us: is 210001.0"),
        ({"buckets": [{**BUCKET, "needed_us": 1.0}]}, "buckets[0].ready_us: is 210000.0"),
        ({"buckets": [{**BUCKET, "ready_from_us": 2.2e5}]}, "buckets[0].ready_from_us: is 220000.0"),
        (
            {"buckets": [{**BUCKET, "parameters": [{"name": "p", "bytes": 4, "ready_us": 2.1e5}]}]},
            "buckets[0].parameters: hold 4 bytes, the bucket 100663296",
        ),
        (
            {"buckets": [{**BUCKET, "parameters": [{"name": "p", "bytes": "96 MiB", "ready_us": 1.0}]}]},
            "buckets[0].ready_us: is 210000.0, its last parameter is ready at 1.0",
        ),
        ({"variants": [{"name": "v", "buckets": [{**BUCKET, "bytes": 4}]}]}, "variants[0].buckets: move 4 bytes"),
        ({"variants": [{"name": "as it is", "buckets": [BUCKET]}]}, "variants[0].name: 'as it is' is taken"),
        ({"law": {**LAW, "bandwidth_gb_s": 0.0}}, "law.bandwidth_gb_s: is 0.0"),
        ({"law": {**LAW, "startup_us": -1.0}}, "law.startup_us: is -1.0"),
        ({"collectives": [{"bytes": 4, "us": 0.0}]}, "collectives[0].us: is 0.0"),
        ({"collectives": [{"bytes": 4, "us": 1.0}]}, "law: is given beside measured collectives"),
        ({"compute_slowdown": -0.5}, "compute_slowdown: is -0.5"),
    ],
)
def test_impossible_segments(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InputRefusal) as refused:
        predict(segment(**changes))
    assert str(refused.value).startswith(told)


def test_what_is_not_known_is_not_guessed() -> None:
    with pytest.raises(UnknownValueRefusal, match="neither law nor collectives are given"):
        predict(segment(law=None))
    with pytest.raises(UnknownValueRefusal, match="nothing says when a part of the bucket is ready"):
        predict(segment(), Sweep("g"))
    with pytest.raises(UnknownValueRefusal, match="have none called 'h'; known are g"):
        predict(segment(), Sweep("h"))


def test_too_large_a_sweep_is_refused() -> None:
    with pytest.raises(BudgetRefusal, match=r"makes \d+ variants"):
        predict(segment(buckets=[{**BUCKET, "ready_from_us": 0.0}]), Sweep("g", 6, 60))


def test_document_round_trip() -> None:
    found = predict(segment(buckets=[{**BUCKET, "ready_from_us": 0.0}]), Sweep("g"))
    assert convert(msgspec.json.decode(msgspec.json.encode(found)), WhatIf) == found
