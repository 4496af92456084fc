"""Control ``cluster``: k medoids per shape group; every event becomes the nearest one.

Distance is L1 over the features, each over max(1, its largest value in the group). The first medoid is the
group's, the next ones are farthest first; then events are assigned to the nearest medoid and every cluster
takes its own medoid, until nothing moves. Ties always go to the smaller event index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.controls.medoid import distances, medoid
from commcanary.controls.shapes import compared, features, shape_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events


def select(events: Events, cluster_count: int) -> NDArray[np.int64]:
    """int64[n]: the source event that stands in each position."""
    table = features(events)
    chosen = np.arange(len(events), dtype=np.int64)
    for members in shape_groups(events):
        if len(members) > 1:
            chosen[members] = members[k_medoids(*compared(table[members]), cluster_count)]
    return chosen


def k_medoids(points: NDArray[np.float64], scale: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """int64[m]: for every row of ``points`` the row of its medoid; fewer than k where fewer differ."""
    medoids = _farthest_first(points, scale, k)
    seen: set[tuple[int, ...]] = set()
    while True:
        assigned = _nearest(points, scale, medoids)
        seen.add(tuple(medoids.tolist()))
        moved = np.sort([_medoid_of(points, scale, np.flatnonzero(assigned == own)) for own in medoids])
        if tuple(moved.tolist()) in seen:  # stable, or on the way round a cycle
            return assigned
        medoids = moved


def _farthest_first(points: NDArray[np.float64], scale: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    found = [medoid(points, scale)]
    distance = distances(points, points[found[0]], scale)
    while len(found) < k and distance.max() > 0:
        found.append(int(np.argmax(distance)))
        distance = np.minimum(distance, distances(points, points[found[-1]], scale))
    return np.array(sorted(found), dtype=np.int64)


def _nearest(points: NDArray[np.float64], scale: NDArray[np.float64], medoids: NDArray[np.int64]) -> NDArray[np.int64]:
    nearest = np.full(len(points), medoids[0], np.int64)
    smallest = distances(points, points[medoids[0]], scale)
    for row in medoids[1:]:
        distance = distances(points, points[row], scale)
        closer = distance < smallest
        nearest[closer] = row
        smallest = np.where(closer, distance, smallest)
    return nearest


def _medoid_of(points: NDArray[np.float64], scale: NDArray[np.float64], members: NDArray[np.int64]) -> int:
    return int(members[medoid(points[members], scale)])
