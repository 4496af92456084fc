from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commcanary.controls.ddmin import ddmin


def test_one_culprit_in_the_first_chunk_each_time_halves_to_it() -> None:
    reduction = ddmin(100, lambda part: 0 in part)
    assert reduction.kept.tolist() == [0]
    assert reduction.oracle_calls == 6  # 50, 25, 12, 6, 3, 1
    assert not reduction.budget_exhausted


def test_nothing_is_asked_about_a_single_event() -> None:
    assert ddmin(1, lambda part: True).oracle_calls == 0


def test_the_budget_ends_it_with_what_was_accepted_so_far() -> None:
    reduction = ddmin(100, lambda part: 99 in part, budget=3)
    assert reduction.budget_exhausted
    assert reduction.oracle_calls == 3
    assert reduction.kept.tolist() == list(range(50, 100))


def test_equal_parts_are_asked_about_once() -> None:
    asked: list[tuple[int, ...]] = []

    def oracle(part: np.ndarray) -> bool:
        asked.append(tuple(part.tolist()))
        return {1, 6} <= set(part.tolist())

    ddmin(8, oracle)
    assert len(asked) == len(set(asked))


@given(st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_a_monotone_oracle_is_reduced_to_exactly_its_culprits(case: tuple[int, set[int]]) -> None:
    count, culprits = case
    reduction = ddmin(count, lambda part: culprits <= set(part.tolist()), budget=10_000)
    assert set(reduction.kept.tolist()) == culprits


@given(st.integers(2, 16), st.integers(0, 2**16))
def test_losing_any_one_event_of_the_result_is_not_accepted(count: int, salt: int) -> None:
    def oracle(part: np.ndarray) -> bool:
        return len(part) == count or hash((salt, tuple(part.tolist()))) % 3 == 0

    kept = ddmin(count, oracle, budget=100_000).kept
    if len(kept) > 1:
        assert not any(oracle(np.delete(kept, i)) for i in range(len(kept)))
