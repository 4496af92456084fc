"""The serialising resource of an event: what serves one collective at a time, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.replay.occurrence import combined_ids, dense_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, Signature


def is_pairwise(signature: Signature) -> bool:
    """Whether the event occupies a directed pair of ranks instead of its whole group."""
    return (
        signature.op == "point_to_point" and signature.sender_rank is not None and signature.receiver_rank is not None
    )


def resource_name(events: Events, signature: Signature) -> str:
    """The resource, but for the message sequence that a pairwise one ends in."""
    group = events.group_of(signature)
    if is_pairwise(signature):
        channel = "default" if signature.channel is None else signature.channel
        tag = "default" if signature.tag is None else signature.tag
        ends = f"{signature.sender_rank}->{signature.receiver_rank}"
        return f"p2p:{group.name}:{ends}:channel={channel}:tag={tag}"
    if group.name and group.name != "default":
        return group.name
    return "default:ranks=" + ",".join(str(rank) for rank in group.members)


def resource_ids(events: Events) -> NDArray[np.int64]:
    """int64[n]: equal numbers for events that share a resource, counted from 0 without holes.

    A group name never meets a pairwise resource here, even if someone names a group like one.
    """
    pairwise = np.array([is_pairwise(s) for s in events.signatures], dtype=np.bool_)
    names = dense_ids([(is_pairwise(s), resource_name(events, s)) for s in events.signatures])
    if not len(events):
        return np.zeros(0, np.int64)
    sequence = np.where(pairwise[events.signature], events.message_sequence, 0)
    ids = combined_ids(names[events.signature], sequence)
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)
