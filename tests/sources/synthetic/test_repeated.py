"""A trace several times in a row."""

from __future__ import annotations

import numpy as np
import pytest

from commcanary.artifacts.trace_checks import check_trace
from commcanary.errors import UsageError
from commcanary.sources.synthetic.registry import synthesis, synthetic


@pytest.mark.parametrize("name", ["mixed", "ddp", "pipeline"])
def test_each_copy_is_the_trace_with_its_own_consumers(name: str) -> None:
    once, often = synthetic(name, 7, 49), synthetic(name, 7, 49, repeat=3)
    count = len(once)
    assert len(often) == 3 * count
    check_trace(often.events, often.start_ns)
    for copy in range(3):
        part = slice(copy * count, (copy + 1) * count)
        assert (often.events.signature[part] == once.events.signature).all()
        consumer = often.events.consumer[part]
        assert (np.where(consumer >= 0, consumer - copy * count, -1) == once.events.consumer).all()
        assert (often.events.gap_ns[part][1:] == once.events.gap_ns[1:]).all()
    assert often.events.gap_ns[count] == once.events.gap_ns.sum() // (count - 1)


def test_not_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="--repeat 0"):
        synthesis("mixed", 7, 10, repeat=0)
