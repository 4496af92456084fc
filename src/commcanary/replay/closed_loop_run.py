"""One closed-loop run of a program whose durations are drawn: choose the kernel, keep what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.replay.in_flight_layout import InFlightLayout
from commcanary.replay.in_flight_state import initial_state
from commcanary.replay.kernel_at_once import run_at_once
from commcanary.replay.kernel_in_flight import run_in_flight
from commcanary.replay.kernel_in_flight_samples import fill_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.replay.closed_loop_program import ClosedLoopProgram


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run on the grid, ns: per event start, completion and what bound the start; per rank the totals.

    ``bound_rank`` is -1 where the stream bound the start; ``cause`` is the event that the bounding rank had waited
    for last, or the stream's event before, or -1; ``rank_cause`` the last event that a rank waited for, or -1.
    """

    start: NDArray[np.int64]
    completion: NDArray[np.int64]
    bound_rank: NDArray[np.int32]
    cause: NDArray[np.int32]
    free: NDArray[np.int64]
    busy: NDArray[np.int64]
    exposed: NDArray[np.int64]
    rank_cause: NDArray[np.int32]

    @classmethod
    def empty(cls, events: int, ranks: int) -> Outcome:
        """Before a run: everything at 0, no cause."""
        return cls(
            start=np.empty(events, np.int64),
            completion=np.empty(events, np.int64),
            bound_rank=np.empty(events, np.int32),
            cause=np.empty(events, np.int32),
            free=np.zeros(ranks, np.int64),
            busy=np.zeros(ranks, np.int64),
            exposed=np.zeros(ranks, np.int64),
            rank_cause=np.full(ranks, -1, np.int32),
        )


def run_program(
    program: ClosedLoopProgram,
    a: float,
    b: float,
    latency_ns: NDArray[np.int64],
    work_ns: NDArray[np.float64],
    samples: NDArray[np.float64],
) -> Outcome:
    """Run ``program`` once, filling ``samples`` (5 rows of n, us, in the order of ``Samples``).

    ``latency_ns`` and ``work_ns`` (transfer alone on the wire) are per event; a and b are the interference.
    Programs in which every event is consumed at once take the closed form, others the general kernel.
    """
    if program.in_flight is None:
        return closed_form(program, a, b, latency_ns, work_ns, samples)
    return general(program, program.in_flight, a, b, latency_ns, work_ns, samples)


def closed_form(
    program: ClosedLoopProgram,
    a: float,
    b: float,
    latency_ns: NDArray[np.int64],
    work_ns: NDArray[np.float64],
    samples: NDArray[np.float64],
) -> Outcome:
    """``run_program`` where every event is consumed at once."""
    outcome = Outcome.empty(len(program.order), len(program.ranks))
    run_at_once(
        a,
        b,
        program.signature,
        program.stream,
        program.overlap_ns,
        program.before_ns,
        program.member_bounds,
        program.members,
        latency_ns,
        work_ns,
        samples,
        outcome.start,
        outcome.completion,
        outcome.bound_rank,
        outcome.cause,
        outcome.free,
        outcome.busy,
        outcome.exposed,
        outcome.rank_cause,
        np.zeros(program.streams, np.int64),
        np.full(program.streams, -1, np.int32),
    )
    return outcome


def general(
    program: ClosedLoopProgram,
    layout: InFlightLayout,
    a: float,
    b: float,
    latency_ns: NDArray[np.int64],
    work_ns: NDArray[np.float64],
    samples: NDArray[np.float64],
) -> Outcome:
    """``run_program`` for any program; ``layout`` is the program's."""
    start, completion = np.empty((2, len(program.order)), np.int64)
    state = initial_state(layout)
    run_in_flight(
        a,
        b,
        program.signature,
        program.stream,
        program.overlap_ns,
        program.consumer,
        program.member_bounds,
        program.members,
        latency_ns,
        work_ns,
        layout,
        state,
        start,
        completion,
    )
    fill_samples(program.signature, program.member_bounds, state.events, start, completion, samples)
    ranks, events = state.ranks, state.events
    return Outcome(
        start=start,
        completion=completion,
        bound_rank=np.ascontiguousarray(events["bound"]),
        cause=np.ascontiguousarray(events["cause"]),
        free=ranks["end"].copy(),
        busy=ranks["busy"].copy(),
        exposed=ranks["exposed"].copy(),
        rank_cause=ranks["cause"].copy(),
    )
