"""The noise keys of closed-loop-v1: what an event *is*, never when its ranks arrived.

In scheduler-v4 an arrival offset that moves by 5 ns draws new noise for the event. Here two canaries of one
trace draw the same noise as long as they agree on phases, operations, groups and order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.replay.noise import canonical_json, hash_prefix
from commcanary.replay.occurrence import count_earlier, dense_ids
from commcanary.replay.splitmix import GOLDEN, MIX_1, MIX_2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, Signature


def kind_hash(events: Events, signature: Signature) -> int:
    """H: the hash of {phase, op, group, rank_count}."""
    group = events.group_of(signature)
    fields = {"phase": signature.phase, "op": signature.op, "group": group.name, "rank_count": group.size}
    return hash_prefix(canonical_json(fields))


def kind_noise_hashes(events: Events) -> NDArray[np.uint64]:
    """uint64[n], in source order: splitmix64(H xor occurrence * golden), occurrence among events of equal H."""
    if not len(events):
        return np.zeros(0, np.uint64)
    hashes = [kind_hash(events, signature) for signature in events.signatures]
    occurrence = count_earlier(dense_ids(hashes)[events.signature]).astype(np.uint64)
    kind = np.array(hashes, dtype=np.uint64)[events.signature]
    return _splitmix64(kind ^ (occurrence * np.uint64(GOLDEN)))


def _splitmix64(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """``splitmix.splitmix64`` of a column; uint64 arrays wrap silently, which is the modulus."""
    mixed = value + np.uint64(GOLDEN)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(MIX_1)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(MIX_2)
    return mixed ^ (mixed >> np.uint64(31))
