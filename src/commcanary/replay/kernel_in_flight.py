"""Compiled closed loop, general case: collectives in flight share their ranks' links, moment by moment.

At every moment all that ends then ends together; ranks go on as far as they can; collectives start; then the rates of
whatever was touched are worked out anew, and with them when it ends. So the outcome does not depend on the order of
actors within a moment.

It is one long function on purpose: numba counts references to every array that a call passes on, and with a function
per step that took ten times as long as the steps. What it calls in its loops is inlined at the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from commcanary.replay.in_flight_state import (
    BEFORE,
    BLOCKED_AT_ONCE,
    BLOCKED_LATER,
    IDLE,
    LATENCY,
    OVERLAP,
    READY,
    TRANSFER,
)
from commcanary.replay.kernel_durations import whole_ns
from commcanary.replay.kernel_heap import settle
from commcanary.replay.kernel_lists import listed_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.replay.in_flight_layout import InFlightLayout
    from commcanary.replay.in_flight_state import InFlightState


@njit(cache=True, error_model="numpy")
def run_in_flight(
    a: float,
    b: float,
    signature: NDArray[np.int32],
    stream_of: NDArray[np.int32],
    overlap_ns: NDArray[np.int64],
    consumer: NDArray[np.int64],
    member_bounds: NDArray[np.int64],
    members: NDArray[np.int32],
    latency_ns: NDArray[np.int64],
    work_ns: NDArray[np.float64],
    layout: InFlightLayout,
    state: InFlightState,
    start_ns: NDArray[np.int64],
    completion_ns: NDArray[np.int64],
) -> None:
    """One run from time 0: columns of the program and its layout, a fresh state, then what is filled per event."""
    step_bounds, step_event, step_before, wait_bounds, wait_event, _, next_on_stream, node_bounds = layout
    ranks, events, streams, nodes, heap, place, due_ns, touched, stale, startable = state
    count, rank_count = len(signature), len(ranks)
    due = 0  # actors in the heap
    now = touched_count = stale_count = startable_count = 0
    for r in range(rank_count):
        touched_count = listed_once(ranks, touched, touched_count, r)
        ranks[r].doing = BLOCKED_LATER
        ranks[r].step -= 1  # it goes on from before its first step
    while due > 0 or touched_count > 0:
        # ---- what ends at this moment
        if due > 0:
            now = due_ns[heap[0]]
        while due > 0 and due_ns[heap[0]] == now:
            actor = heap[0]
            place[actor] = -1
            due -= 1
            if due > 0:
                settle(heap, place, due_ns, due, 0, heap[due])
            if actor < rank_count:
                rank = ranks[actor]
                rank.busy += now - rank.began
                rank.outstanding = 0
                touched_count = listed_once(ranks, touched, touched_count, actor)
                continue
            here = actor - rank_count
            stream = streams[here]
            event = stream.current
            begins = stream.doing == LATENCY and work_ns[event] > 0.0
            first, last = member_bounds[signature[event]], member_bounds[signature[event] + 1]
            linked = stream.doing == TRANSFER
            if begins:
                stream.doing = TRANSFER
                stream.remaining = work_ns[event]
                stream.since = now
                stream.slowness = 0.0
                stream.computing = 0
                stale_count = listed_once(streams, stale, stale_count, here)
            else:
                stream.doing = IDLE
                stream.previous = event
                stream.current = next_on_stream[event]
                events[event].done = True
                completion_ns[event] = now
                if stream.current >= 0:
                    following = signature[stream.current]
                    if events[stream.current].issued == member_bounds[following + 1] - member_bounds[following]:
                        startable[startable_count] = stream.current
                        startable_count += 1
            for j in range(first, last):
                r = members[j]
                rank = ranks[r]
                node = node_bounds[here] + j - first
                if linked:
                    next_node, previous = nodes[node].next, nodes[node].previous
                    if previous >= 0:
                        nodes[previous].next = next_node
                    else:
                        rank.head = next_node
                    if next_node >= 0:
                        nodes[next_node].previous = previous
                    rank.transfers -= 1
                if linked or begins:  # the other transfers on the rank get another share
                    other_node = rank.head
                    while other_node >= 0:
                        sharer = nodes[other_node].stream
                        stale_count = listed_once(streams, stale, stale_count, sharer)
                        other_node = nodes[other_node].next
                if begins:
                    nodes[node].next = rank.head
                    nodes[node].previous = -1
                    if rank.head >= 0:
                        nodes[rank.head].previous = node
                    rank.head = node
                    rank.transfers += 1
                    stream.computing += rank.computing
                    continue
                rank.collectives -= 1
                touched_count = listed_once(ranks, touched, touched_count, r)
                if rank.doing == BLOCKED_AT_ONCE:
                    waited_for = rank.reached == event
                else:
                    waited_for = rank.doing == BLOCKED_LATER and 0 <= consumer[event] <= rank.reached
                if waited_for:
                    rank.outstanding -= 1
                    if rank.ended_at < now or event < rank.ended_by:
                        rank.ended_by = event
                    rank.ended_at = now

        # ---- ranks whose compute or wait is over go on
        for i in range(touched_count):
            r = touched[i]
            rank = ranks[r]
            while rank.outstanding == 0:
                reaches = False
                if rank.doing == BEFORE:  # over: issue, then overlapped compute
                    event = step_event[rank.step]
                    mark = events[event]
                    mark.issued += 1
                    mark.issues += now
                    mark.earliest = min(mark.earliest, now)
                    if now > mark.latest or r < mark.bound:
                        mark.bound = r
                        mark.cause = rank.cause
                    mark.latest = now
                    stream = streams[stream_of[event]]
                    size = member_bounds[signature[event] + 1] - member_bounds[signature[event]]
                    if mark.issued == size and stream.current == event and stream.doing == IDLE:
                        startable[startable_count] = event
                        startable_count += 1
                    rank.doing = OVERLAP
                    work = overlap_ns[event]
                elif rank.doing == OVERLAP:  # over: wait, or go to the next step
                    event = step_event[rank.step]
                    work = 0
                    reaches = True
                    if consumer[event] < 0:
                        mark = events[event]
                        mark.earliest_wait = min(mark.earliest_wait, now)
                        if not mark.done:
                            rank.doing = BLOCKED_AT_ONCE
                            rank.reached = event
                            rank.outstanding = 1
                            rank.began = now
                            reaches = False
                else:  # a wait is over
                    if now > rank.began:
                        rank.exposed += now - rank.began
                        rank.cause = rank.ended_by
                    work = 0
                    reaches = rank.doing == BLOCKED_AT_ONCE or rank.step < step_bounds[r]
                    if not reaches:
                        rank.doing = READY
                if reaches:
                    rank.step += 1
                    rank.reached = step_event[rank.step] if rank.step < step_bounds[r + 1] else count
                    waits = 0
                    while rank.wait < wait_bounds[r + 1]:
                        event = wait_event[rank.wait]
                        if consumer[event] > rank.reached:
                            break
                        mark = events[event]
                        mark.earliest_wait = min(mark.earliest_wait, now)
                        waits += not mark.done
                        rank.wait += 1
                    rank.outstanding = waits
                    rank.began = now
                    rank.doing = BLOCKED_LATER if waits > 0 else READY
                if rank.doing == READY:  # for the next step, or at the end
                    if rank.step == step_bounds[r + 1]:
                        rank.end = now
                        rank.outstanding = -1
                    else:
                        rank.doing = BEFORE
                        work = step_before[rank.step]
                if work > 0:
                    rank.began = now
                    rank.since = now
                    rank.remaining = work
                    rank.slowness = 0.0
                    rank.outstanding = -1

        # ---- collectives that are issued by all and whose stream is free start
        for i in range(startable_count):
            event = startable[i]
            here = stream_of[event]
            mark = events[event]
            start_ns[event] = now
            if mark.latest < now:
                mark.bound = -1
                mark.cause = streams[here].previous
            streams[here].doing = LATENCY
            streams[here].remaining = latency_ns[event]
            streams[here].slowness = 0.0
            stale_count = listed_once(streams, stale, stale_count, here)
            for j in range(member_bounds[signature[event]], member_bounds[signature[event] + 1]):
                rank = ranks[members[j]]
                rank.collectives += 1
                touched_count = listed_once(ranks, touched, touched_count, members[j])
        startable_count = 0

        # ---- who computes, as transfers see it
        if b > 0.0:
            for i in range(touched_count):
                rank = ranks[touched[i]]
                computing = rank.doing == BEFORE or rank.doing == OVERLAP
                if computing != rank.computing:
                    rank.computing = computing
                    node = rank.head
                    while node >= 0:
                        here = nodes[node].stream
                        streams[here].computing += 1 if computing else -1
                        stale_count = listed_once(streams, stale, stale_count, here)
                        node = nodes[node].next

        # ---- rates, and with them the ends
        for i in range(touched_count + stale_count):
            if i < touched_count:
                actor = touched[i]
                rank = ranks[actor]
                rank.listed = False
                if rank.doing != BEFORE and rank.doing != OVERLAP:
                    continue
                slowness = 1.0 + a if rank.collectives > 0 else 1.0
                if slowness == rank.slowness:
                    continue
                if rank.slowness > 0.0:
                    rank.remaining = max(0.0, rank.remaining - (now - rank.since) / rank.slowness)
                rank.since = now
                rank.slowness = slowness
                time = now + whole_ns(rank.remaining * slowness)
            else:
                here = stale[i - touched_count]
                actor = rank_count + here
                stream = streams[here]
                stream.listed = False
                if stream.doing == IDLE:
                    continue
                slowness = 1.0
                if stream.doing == TRANSFER:
                    kind = signature[stream.current]
                    sharing = 1
                    for j in range(member_bounds[kind], member_bounds[kind + 1]):
                        sharing = max(sharing, ranks[members[j]].transfers)
                    slowness = float(sharing)
                    if stream.computing > 0:
                        slowness *= 1.0 + b
                if slowness == stream.slowness:
                    continue
                if stream.slowness > 0.0:
                    stream.remaining = max(0.0, stream.remaining - (now - stream.since) / stream.slowness)
                stream.since = now
                stream.slowness = slowness
                time = now + whole_ns(stream.remaining * slowness)

            # into the heap, or to its new place there
            due_ns[actor] = time
            at = place[actor]
            if at < 0:
                at = due
                due += 1
            settle(heap, place, due_ns, due, at, actor)
        touched_count = stale_count = 0
