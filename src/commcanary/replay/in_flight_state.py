"""What changes while the general kernel runs: one record per rank, per event and per stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.replay.in_flight_layout import InFlightLayout

BEFORE, OVERLAP, BLOCKED_AT_ONCE, BLOCKED_LATER, READY = range(5)
"""What a rank is doing; READY for its next step, or at its end."""

IDLE, LATENCY, TRANSFER = range(3)
"""What a stream is doing."""

NEVER = 2**62

RANK = np.dtype(
    [
        ("step", np.int64),
        ("wait", np.int64),  # next entry of its wait list
        ("began", np.int64),  # compute or waiting
        ("since", np.int64),  # when ``remaining`` was right
        ("remaining", np.float64),
        ("slowness", np.float64),  # time per work; 0: just begun
        ("busy", np.int64),
        ("exposed", np.int64),
        ("end", np.int64),
        ("ended_at", np.int64),  # the latest completion that it waited for, and the smallest event of that moment
        ("ended_by", np.int32),
        ("cause", np.int32),  # the event that it really waited for last
        ("doing", np.int32),
        ("reached", np.int32),  # the event at which it waits; n at the end
        ("outstanding", np.int32),  # completions that it waits for; 0: it can go on; -1: it computes or has ended
        ("collectives", np.int32),  # between start and completion
        ("transfers", np.int32),
        ("head", np.int32),  # its first node
        ("computing", np.bool_),  # as the transfers on it last counted it
        ("listed", np.bool_),  # among the touched of this moment
    ],
    align=True,
)

EVENT = np.dtype(
    [
        ("earliest", np.int64),
        ("latest", np.int64),
        ("issues", np.int64),
        ("earliest_wait", np.int64),
        ("issued", np.int32),
        ("bound", np.int32),
        ("cause", np.int32),
        ("done", np.bool_),
    ],
    align=True,
)

STREAM = np.dtype(
    [
        ("since", np.int64),
        ("remaining", np.float64),
        ("slowness", np.float64),
        ("current", np.int32),
        ("previous", np.int32),
        ("doing", np.int32),
        ("computing", np.int32),  # members that compute
        ("listed", np.bool_),  # among the stale of this moment: its rate has to be worked out anew
    ],
    align=True,
)

NODE = np.dtype([("next", np.int32), ("previous", np.int32), ("stream", np.int32)], align=True)
"""Links a rank to a transfer on it: the transfers of a rank are a doubly linked list of nodes."""


class InFlightState(NamedTuple):
    """All records of a run, a heap of what ends when, and room for the lists of one moment.

    Actors are ranks 0 ... R - 1, then streams. The heap holds those at work, earliest first; ``place`` is where each
    stands there, -1 for not at all, and ``due_ns`` when its compute, latency phase or transfer ends.
    """

    ranks: NDArray[Any]
    events: NDArray[Any]
    streams: NDArray[Any]
    nodes: NDArray[Any]
    heap: NDArray[np.int32]
    place: NDArray[np.int32]
    due_ns: NDArray[np.int64]
    touched: NDArray[np.int32]
    stale: NDArray[np.int32]
    startable: NDArray[np.int32]


def initial_state(layout: InFlightLayout) -> InFlightState:
    """Time 0: no rank has begun, nothing is in flight."""
    ranks, streams = len(layout.step_bounds) - 1, len(layout.first_on_stream)
    rank = np.zeros(ranks, RANK)
    rank["step"] = layout.step_bounds[:-1]
    rank["wait"] = layout.wait_bounds[:-1]
    rank["cause"] = rank["ended_by"] = rank["head"] = -1
    event = np.zeros(len(layout.next_on_stream), EVENT)
    event["earliest"] = event["earliest_wait"] = NEVER
    event["latest"] = event["bound"] = event["cause"] = -1
    stream = np.zeros(streams, STREAM)
    stream["current"] = layout.first_on_stream
    stream["previous"] = -1
    node = np.zeros(int(layout.node_bounds[-1]), NODE)
    node["stream"] = np.repeat(np.arange(streams, dtype=np.int32), np.diff(layout.node_bounds))
    actors = ranks + streams
    agenda = (np.empty(actors, np.int32), np.full(actors, -1, np.int32), np.empty(actors, np.int64))
    touched, stale, startable = (np.empty(size, np.int32) for size in (ranks, streams, streams))
    return InFlightState(rank, event, stream, node, *agenda, touched, stale, startable)
