"""k-medoids against a plain-Python twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commcanary.controls.cluster import k_medoids


def twin(points: list[list[float]], k: int) -> list[int]:
    def distance(a: int, b: int) -> float:
        return sum(abs(x - y) for x, y in zip(points[a], points[b], strict=True))

    def medoid(rows: list[int]) -> int:
        columns = list(zip(*(points[r] for r in rows), strict=True))
        middle = [(sorted(c)[(len(c) - 1) // 2] + sorted(c)[len(c) // 2]) / 2 for c in columns]
        return min(rows, key=lambda r: (sum(abs(x - m) for x, m in zip(points[r], middle, strict=True)), r))

    every = list(range(len(points)))
    medoids = [medoid(every)]
    while len(medoids) < k:
        far = max(every, key=lambda r: (min(distance(r, m) for m in medoids), -r))
        if min(distance(far, m) for m in medoids) == 0:
            break
        medoids.append(far)
    seen: list[list[int]] = []
    while True:
        medoids = sorted(medoids)
        assigned = [min(medoids, key=lambda m: (distance(r, m), m)) for r in every]
        seen.append(medoids)
        medoids = sorted(medoid([r for r in every if assigned[r] == m]) for m in medoids)
        if medoids in seen:
            return assigned


# quarters are exact in binary, so that both sides see the same ties
@given(
    st.lists(st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=3, max_size=3), min_size=1, max_size=14),
    st.integers(1, 5),
)
def test_equals_the_twin(points: list[list[float]], k: int) -> None:
    assert k_medoids(np.array(points), np.ones(3), k).tolist() == twin(points, k)
