"""A wrong option that came out of a campaign's configuration is the file's fault, and told by the file's key."""

from __future__ import annotations

import pytest

from commcanary.errors import EXIT_REFUSED, InputRefusal, UsageError
from commcanary.stages.configured import configured


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("--clock-offset-us misses rank 3", "clock_offsets_us misses rank 3"),
        ("--rank is given twice", "ranks is given twice"),
        ("--range '(' is no pattern", "ranges '(' is no pattern"),
        ("--trim 2 1: give start below end", "trim_s 2 1: give start below end"),
        ("--world-size 2 for rank 5", "world_size 2 for rank 5"),
        ("--rank 1 is outside --world-size 1", "ranks 1 is outside world_size 1"),
        ("nothing of an option", "nothing of an option"),
    ],
)
def test_an_option_is_told_by_its_key(said: str, told: str) -> None:
    wrong = UsageError(said)
    with pytest.raises(InputRefusal) as refused, configured("source of workload w"):
        raise wrong
    assert str(refused.value) == f"source of workload w: {told}; correct it in the campaign's configuration"
    assert refused.value.exit_code == EXIT_REFUSED
    assert refused.value.__cause__ is wrong


def test_other_refusals_and_results_pass_as_they_are() -> None:
    other = InputRefusal("--rank", "is --rank", "leave --rank out")
    with pytest.raises(InputRefusal) as refused, configured("source of workload w"):
        raise other
    assert refused.value is other
    with configured("source of workload w"):
        done = True
    assert done
