"""Phases: record_function blocks (forward, backward, optimizer, prefill, decode ...) around a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.calls.phase_names import UNKNOWN_PHASE, phase_of_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.rank_profile import RankProfile


def phases_of_calls(
    profile: RankProfile,
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    thread: NDArray[np.int64],
    more: tuple[str, ...],
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Number of each call's phase, and the phases.

    A phase is the innermost block around the call on its own thread, else on any other thread.
    Backward passes issue their calls on autograd's thread, while the block stands on the thread that
    called ``backward``.
    """
    names = [phase_of_block(name, more) for name in profile.block_names.values]
    blocks = profile.blocks
    b_start, b_end, b_thread = blocks.column("start"), blocks.column("end"), blocks.column("thread")
    code = blocks.column("code")
    chosen = [i for i in np.lexsort((-b_end, b_start)) if names[code[i]] is not None]
    by_length = sorted(chosen, key=lambda i: int(b_start[i] - b_end[i]))
    order = np.argsort(start, kind="stable")
    sorted_start = start[order]
    phases = np.full(len(start), -1, np.int64)
    for own_thread in (False, True):
        for block in by_length:
            low, high = np.searchsorted(sorted_start, (b_start[block], b_end[block] + 1))
            inside = order[low:high]
            inside = inside[end[inside] <= b_end[block]]
            if own_thread:
                inside = inside[thread[inside] == b_thread[block]]
            phases[inside] = code[block]
    used = np.unique(phases[phases >= 0]).tolist()
    table = tuple(dict.fromkeys(names[c] or UNKNOWN_PHASE for c in used))
    number = np.full(len(names) + 1, len(table), np.int64)  # the last entry, index -1, is no block
    number[used] = [table.index(names[c] or UNKNOWN_PHASE) for c in used]
    return number[phases], (*table, UNKNOWN_PHASE)
