"""Communication calls on the host's threads: operators paired with their annotations, and time between.

An operator marks the call on the thread that issued it. The backend's worker marks the execution with an
annotation. No field links them: the n-th call pairs with the n-th annotation of equal operation and
shapes, and only where as many calls as annotations exist - never by time of ending.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.operators import annotation_call, operator_call
from commcanary.timeline.covered import Covered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.operators import HostCall
    from commcanary.sources.kineto.rank_profile import RankProfile

    Ints = NDArray[np.int64]
    Key = tuple[str, str | None]


class HostCalls:
    """The stand-alone operators of one rank in order of their starts.

    ``operator`` are their indices in the profile's operators, ``annotation`` the paired annotations (-1:
    none), ``dtype`` their element types as the profiler spells them (None: unknown).
    """

    def __init__(self, profile: RankProfile, operators: Ints, annotations: Ints) -> None:
        self._profile = profile
        shapes = profile.host_shapes.values
        start = profile.operators.column("start")
        self.operator = operators[np.argsort(start[operators], kind="stable")]
        code = profile.operators.column("code")[self.operator].tolist()
        said = {c: operator_call(shapes[c]) for c in set(code)}
        self.calls: list[HostCall] = [said[c] for c in code]
        marks = annotations[np.argsort(profile.annotations.column("start")[annotations], kind="stable")]
        mark_code = profile.annotations.column("code")[marks].tolist()
        marked = {c: annotation_call(shapes[c]) for c in set(mark_code)}
        queues: dict[Key, list[int]] = defaultdict(list)
        types: dict[Key, set[str | None]] = defaultdict(set)
        for mark, c in zip(marks.tolist(), mark_code, strict=True):
            key = (marked[c].op, marked[c].tensors)
            queues[key].append(mark)
            types[key].add(marked[c].dtype)
        keys = [_key(call, queues) for call in self.calls]
        wanted: dict[Key, int] = defaultdict(int)
        for key in keys:
            wanted[key] += 1
        self.annotation = np.full(len(keys), -1, np.int64)
        self.dtype: list[str | None] = [call.dtype for call in self.calls]
        used: dict[Key, int] = defaultdict(int)
        for i, key in enumerate(keys):
            closes = wanted[key] == len(queues.get(key, ()))
            if closes:
                mark = queues[key][used[key]]
                used[key] += 1
                self.annotation[i] = mark
            if self.dtype[i] is None:
                if closes:
                    self.dtype[i] = marked[int(profile.annotations.column("code")[mark])].dtype
                elif len(types.get(key, ())) == 1:
                    self.dtype[i] = next(iter(types[key]))

    def __len__(self) -> int:
        return len(self.operator)

    @property
    def start(self) -> Ints:
        """int64[n]: when each call was issued."""
        return self._profile.operators.column("start")[self.operator]

    @property
    def end(self) -> Ints:
        """int64[n]: when each paired annotation ended, -1 where none is paired."""
        ends = self._profile.annotations.column("end")
        return np.where(self.annotation >= 0, ends[self.annotation], -1) if len(ends) else self.annotation

    @property
    def annotated(self) -> Ints:
        """int64[n]: length of each paired annotation, 0 where none is paired."""
        spans = self._profile.annotations
        if not len(spans):
            return np.zeros(len(self), np.int64)
        length = spans.column("end") - spans.column("start")
        return np.where(self.annotation >= 0, length[self.annotation], 0)

    def compute_before(self) -> Ints:
        """int64[n]: ns that the issuing thread can have computed since the rank's previous call returned.

        Counted: all time in operators, and all other time in which none of the rank's calls was in flight
        (Python between operators). Not counted: time outside operators while a call was in flight, for the
        thread may have stood waiting there; no event shows which. So it is a lower bound while calls are
        in flight, and exact elsewhere. A call is in flight from its issue to its annotation's end.
        """
        profile = self._profile
        start, thread = self.start, profile.operators.column("thread")[self.operator]
        returned = profile.operators.column("end")[self.operator]
        flying = Covered(start, np.maximum(self.end, returned))
        result = np.zeros(len(self), np.int64)
        if not len(self):
            return result
        host = profile.host
        previous = np.maximum.accumulate(returned)
        for number in np.unique(thread):
            on_thread = host.column("thread") == number
            busy_start, busy_end = host.column("start")[on_thread], host.column("end")[on_thread]
            first = min([int(start[0]), *busy_start[:1].tolist(), *profile.blocks.column("start").tolist()])
            since = np.concatenate([[first], previous[:-1]])
            busy = Covered(busy_start, busy_end)
            either = Covered(np.concatenate([busy.start, flying.start]), np.concatenate([busy.end, flying.end]))
            mine = np.flatnonzero(thread == number)
            low, high = np.minimum(since[mine], start[mine]), start[mine]
            idle_in_flight = either.within(low, high) - busy.within(low, high)
            result[mine] = (high - low) - idle_in_flight
        return result


def _key(call: HostCall, queues: dict[Key, list[int]]) -> Key:
    """The annotations that a call pairs with; gloo runs a reduce-scatter as an all-reduce of its input."""
    own = (call.op, call.tensors)
    if own not in queues and call.op == "reduce_scatter" and ("all_reduce", call.tensors) in queues:
        return "all_reduce", call.tensors
    return own
