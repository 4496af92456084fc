"""The number of samples of one replay is bounded before anything of that size is made."""

from __future__ import annotations

import pytest

from commcanary.errors import BudgetRefusal
from commcanary.replay.configuration import Configuration
from commcanary.replay.model import MODELS, model_named
from commcanary.replay.samples import check_sample_count
from commcanary.sources.synthetic.registry import synthetic


@pytest.mark.parametrize(("events", "runs"), [(50_000_000, 1), (1, 50_000_000), (100, 500_000)])
def test_fifty_million_are_allowed(events: int, runs: int) -> None:
    check_sample_count(events, runs)
    with pytest.raises(BudgetRefusal, match="more than 50,000,000"):
        check_sample_count(events, runs + 1)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("iterations", [600_000, 10**15])
def test_every_model_refuses_at_once(name: str, iterations: int) -> None:
    model = model_named(name)
    prepared = model.prepare(synthetic("inference", 1, 100).events)
    with pytest.raises(BudgetRefusal, match="samples"):
        model.run(prepared, Configuration(), (7,), iterations)
