"""Call sites: which annotation and operators the host was in when it launched something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.intervals import Disjoint, outermost
from commcanary.sources.kineto.operations import CONTROL, operator_operation
from commcanary.sources.kineto.spans import Numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.rank_profile import RankProfile
    from commcanary.sources.kineto.spans import Spans

    Ints = NDArray[np.int64]

STEP_PREFIX = "ProfilerStep"
_BETWEEN = " > "


def call_sites(profile: RankProfile, thread: Ints, time: Ints) -> tuple[Ints, tuple[str, ...]]:
    """Number of the site of each point on the host (``thread``, ``time``: int64[n]), and the sites.

    A site reads ``annotation > outermost operator > innermost operator``, with what is there and once each;
    the number is -1 where no operator or annotation is around the point. Profiler steps are no sites.
    """
    parts: list[list[tuple[int, str]]] = [[] for _ in range(len(time))]
    host_shapes = [shape.name for shape in profile.host_shapes.values]
    sources = (
        (profile.blocks, profile.block_names.values),
        (profile.host, profile.host_names.values),
        (profile.operators, host_shapes),
    )
    for level, (spans, names) in enumerate(sources):
        for span, point in _around(spans, thread, time):
            name = names[int(spans.column("code")[span])]
            if level or not name.startswith(STEP_PREFIX):
                length = int(spans.column("end")[span] - spans.column("start")[span])
                parts[point].append((-length if level else 1, name))
    sites = Numbered()
    number = np.asarray([sites.number(_site(found)) if found else -1 for found in parts], np.int64)
    return number, tuple(sites.values)


def operations_around(profile: RankProfile, thread: Ints, time: Ints) -> list[str | None]:
    """Operation of the ``c10d::`` operator around each point, None where there is none or it moves no data."""
    shapes = profile.host_shapes.values
    operators = profile.operators
    found = Disjoint(operators, outermost(operators)).containing(thread, time)
    code = np.append(operators.column("code"), -1)[found].tolist()
    operations = [None if c < 0 else operator_operation(shapes[c].name) for c in code]
    return [None if operation == CONTROL else operation for operation in operations]


def _site(found: list[tuple[int, str]]) -> str:
    """``found`` lists annotations (1, outermost first) and operators (minus their lengths)."""
    annotations = [name for rank, name in found if rank > 0]
    operators = [name for rank, name in sorted((f for f in found if f[0] <= 0), key=lambda f: f[0])]
    chain = [*annotations[-1:], *operators[:1], *operators[-1:]]
    return _BETWEEN.join(dict.fromkeys(chain))


def _around(spans: Spans, thread: Ints, time: Ints) -> list[tuple[int, int]]:
    """(span, point) for every span that is around a point on its thread, longer spans first."""
    found = []
    start, end, of = spans.column("start"), spans.column("end"), spans.column("thread")
    for number in np.unique(thread):
        points = np.flatnonzero(thread == number)
        points = points[np.argsort(time[points], kind="stable")]
        mine = np.flatnonzero(of == number)
        low = np.searchsorted(time[points], start[mine], side="left")
        high = np.searchsorted(time[points], end[mine], side="right")
        holding = np.flatnonzero(high > low)
        holding = holding[np.argsort((start - end)[mine[holding]], kind="stable")]
        for i in holding.tolist():
            found += [(int(mine[i]), point) for point in points[low[i] : high[i]].tolist()]
    return found
