"""When messages between pairs of ranks arrive, if ranks share what they send and receive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.replay.grid import whole_ns

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Hop:
    """A message that both ``ranks`` are ready for at ``start`` (ns)."""

    ranks: tuple[int, int]
    start: int


def arrivals_ns(hops: Sequence[Hop], latency_ns: int, work_ns: float) -> list[int]:
    """The arrival of each message: ``latency_ns``, then ``work_ns`` alone on the wire.

    A message advances at the smaller of its ranks' shares, 1 / (messages of the rank on the wire).
    """
    begins = [hop.start + latency_ns for hop in hops]
    waiting = sorted(range(len(hops)), key=lambda i: (begins[i], i))
    left: dict[int, float] = {}
    arrived = [0] * len(hops)
    now = 0
    while waiting or left:
        if not left:
            now = begins[waiting[0]]
        while waiting and begins[waiting[0]] <= now:
            left[waiting.pop(0)] = work_ns
        slowness = {i: max(sum(rank in hops[j].ranks for j in left) for rank in hops[i].ranks) for i in left}
        needs = {i: whole_ns(left[i] * slowness[i]) for i in left}
        step = min(needs.values())
        if waiting:
            step = min(step, begins[waiting[0]] - now)
        now += step
        for i in list(left):
            left[i] -= step / slowness[i]
            if needs[i] == step:
                del left[i]
                arrived[i] = now
    return arrived
