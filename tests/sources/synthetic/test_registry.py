"""How many events a synthetic trace has, said without making it."""

from __future__ import annotations

import pytest

from commcanary.sources.synthetic.registry import NAMES, size_of, synthetic


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("events", [None, 1, 7, 50, 82, 100, 1001])
@pytest.mark.parametrize("repeat", [1, 3])
def test_its_size_is_known_before(name: str, events: int | None, repeat: int) -> None:
    if name == "ranking-inversion":
        events = None
    assert size_of(name, events, repeat) == len(synthetic(name, 7, events, repeat))
