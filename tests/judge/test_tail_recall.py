from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.judge.tail_recall import SourceTails


def by_hand(source: list[float], canary: list[float], percentile: int) -> float:
    level = float(np.percentile(source, percentile))
    tail = {i for i, v in enumerate(source) if v >= level}
    slowest = sorted(range(len(canary)), key=lambda i: (-canary[i], i))[: len(tail)]
    return len(tail & set(slowest)) / len(tail)


def test_a_growing_queue_recalls_itself_only_over_the_whole_run() -> None:
    # in each window of 100 three early events are slow: 0, 1, 2 in the source, 3, 4, 5 in the canary
    place = np.arange(800)
    source = place + np.where(place % 100 < 3, 200.0, 0.0)
    canary = place + np.where((place % 100 >= 3) & (place % 100 < 6), 200.0, 0.0)
    at_95 = SourceTails(source[None]).recall(canary[None], 0.8)[0]
    # slowest 40 of the source: 700-702, 600-602 and the last 34; the canary finds the 34
    assert at_95.whole_run == 0.85
    # slowest 5 of a window: 0, 1, 2 and the last two
    assert at_95.windows == (0.4,) * 8
    assert (at_95.smallest, at_95.status) == (0.4, "fail")


def test_another_number_of_events_has_no_recall() -> None:
    found = SourceTails(np.ones((1, 10))).recall(np.ones((1, 9)), 0.0)
    assert [(r.status, r.whole_run, r.smallest) for r in found] == [("fail", None, None)] * 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60))
def test_equals_a_plain_count_in_every_window(pairs: list[tuple[int, int]]) -> None:
    source, canary = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = SourceTails(np.array([source])).recall(np.array([canary]), 0.8)
    n = len(pairs)
    spans = [(0, n)] + [(n * i // 8, n * (i + 1) // 8) for i in range(8)]
    for recall in found:
        expected = [round(by_hand(source[a:b], canary[a:b], recall.percentile), 6) for a, b in spans if b > a]
        assert [recall.whole_run, *recall.windows] == expected
        assert recall.smallest == min(expected)
