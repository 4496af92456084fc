"""A calibrated configuration reproduces the startup and bandwidth that it was made of."""

from __future__ import annotations

import pytest

from commcanary.artifacts.events import Signature
from commcanary.errors import InputRefusal
from commcanary.replay.calibrated import calibrated_configuration
from commcanary.replay.duration import startup_us, transfer_us


@pytest.mark.parametrize(
    "operation", ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce"]
)
@pytest.mark.parametrize("ranks", [2, 3, 8, 1024])
def test_models_take_what_was_measured(operation: str, ranks: int) -> None:
    configuration = calibrated_configuration("new", "label", 37.5, 120.0, operation, ranks)
    signature = Signature(op=operation, bytes=1 << 26, group=0, phase="p", custom_op=operation == "reduce")
    modelled = startup_us(configuration, ranks) + transfer_us(configuration, signature, ranks)
    assert modelled == pytest.approx(37.5 + (1 << 26) / 120_000)


def test_startup_below_the_models_own_terms_is_refused() -> None:
    with pytest.raises(InputRefusal, match=r"startup: is 5\.000 us, less than the 7\.450 us"):
        calibrated_configuration("new", "label", 5.0, 120.0, "all_reduce", 8)


def test_one_rank_is_refused() -> None:
    with pytest.raises(InputRefusal, match="moves nothing"):
        calibrated_configuration("new", "label", 50.0, 120.0, "all_reduce", 1)
