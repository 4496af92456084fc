"""Which occurrence of its kind an event is: the number of earlier events with the same key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, Signature


def v4_key(events: Events, signature: Signature) -> tuple[Any, ...]:
    """v4's compile key without the message sequence, which varies from event to event."""
    group = events.group_of(signature)
    return (
        signature.phase,
        signature.op,
        signature.bytes,
        group.members,
        group.name,
        signature.sender_rank,
        signature.receiver_rank,
        signature.tag,
        signature.channel,
        signature.concurrent_groups,
        signature.custom_op,
    )


def v4_occurrences(events: Events) -> NDArray[np.int64]:
    """int64[n]: number of earlier events with the same v4 compile key, in source order."""
    keys = dense_ids([v4_key(events, signature) for signature in events.signatures])
    return count_earlier(combined_ids(keys[events.signature], events.message_sequence))


def dense_ids(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    """int64[len(keys)]: equal keys get equal numbers 0, 1, ..., in order of first appearance."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def combined_ids(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: dense ids of the pairs (first[i], second[i])."""
    if not len(first) or (second == second[0]).all():
        return first
    values, rank = np.unique(second, return_inverse=True)
    ids: NDArray[np.int64] = np.unique(first * len(values) + rank, return_inverse=True)[1].astype(np.int64)
    return ids


def count_earlier(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: for each entry, how many earlier entries are equal to it."""
    order = np.argsort(ids, kind="stable")
    arranged = ids[order]
    position = np.arange(len(ids), dtype=np.int64)
    begins = np.concatenate([np.ones(min(1, len(ids)), np.bool_), arranged[1:] != arranged[:-1]])
    run_start = np.maximum.accumulate(np.where(begins, position, 0))
    result = np.empty(len(ids), np.int64)
    result[order] = position - run_start
    return result
