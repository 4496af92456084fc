"""The order that events are replayed in: program order, or sorted by kind where ordering is ablated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, Signature


def replayed_order(events: Events, ablations: tuple[str, ...]) -> NDArray[np.int64]:
    """int64[n]: the source index of each replayed event, in replayed order."""
    if "operation_ordering" not in ablations:
        return np.arange(len(events), dtype=np.int64)
    keys = [_kind(events, signature) for signature in events.signatures]
    place = {key: index for index, key in enumerate(sorted(set(keys)))}
    rank = np.array([place[key] for key in keys], dtype=np.int64)
    return np.argsort(rank[events.signature], kind="stable").astype(np.int64)


def _kind(events: Events, signature: Signature) -> tuple[Any, ...]:
    """Phase, op, bytes, group, ranks, sender, receiver, tag, channel; null sorts first."""
    group = events.group_of(signature)
    return (
        signature.phase,
        signature.op,
        signature.bytes,
        group.name,
        group.members,
        _null_first(signature.sender_rank),
        _null_first(signature.receiver_rank),
        _null_first(signature.tag),
        _null_first(signature.channel),
    )


def _null_first(value: str | int | None) -> tuple[bool, str | int]:
    return (False, 0) if value is None else (True, value)
