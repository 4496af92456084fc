"""Jobs without a device (gloo, MPI): operators compute, the backend's annotations communicate, both on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.intervals import outermost
from commcanary.sources.kineto.operations import annotated_operation
from commcanary.timeline.covered import Covered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.rank_profile import RankProfile

    Ints = NDArray[np.int64]

HOST_BACKENDS = frozenset({"gloo", "mpi"})
"""Backends whose annotation lasts as long as the transfer. NCCL's marks the call that enqueues it."""


def communicating_marks(profile: RankProfile) -> Ints:
    """Indices of the annotations that are transfers on the host."""
    shapes = profile.host_shapes.values
    backend = [annotated_operation(shape.name) for shape in shapes]
    fits = np.asarray([found is not None and found[0] in HOST_BACKENDS for found in backend], np.bool_)
    return np.flatnonzero(fits[profile.annotations.column("code")]) if len(profile.annotations) else np.zeros(0, int)


def computing_stretches(profile: RankProfile) -> tuple[Ints, Ints, Ints, Ints]:
    """Start, end, thread and name's code of the outermost operators, without the calls inside them.

    An operator that issues a collective (autograd's hook) computes but for that time.
    """
    host = profile.host
    start, end, thread, code = (host.column(name)[outermost(host)] for name in ("start", "end", "thread", "code"))
    calls = profile.operators
    pieces: list[tuple[Ints, Ints, Ints, Ints]] = []
    for number in np.unique(thread):
        mine = np.flatnonzero(thread == number)
        mine = mine[np.argsort(start[mine], kind="stable")]
        here = calls.column("thread") == number
        issuing = Covered(calls.column("start")[here], calls.column("end")[here])
        cut = issuing.within(start[mine], end[mine]) > 0
        whole = mine[~cut]
        pieces.append((start[whole], end[whole], thread[whole], code[whole]))
        for i in mine[cut].tolist():
            rest = Covered(start[i : i + 1], end[i : i + 1]).minus(issuing)
            same = np.ones(len(rest), np.int64)
            pieces.append((rest.start, rest.end, same * number, same * code[i]))
    if not pieces:
        none = np.zeros(0, np.int64)
        return none, none, none, none
    starts, ends, threads, codes = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
    return starts, ends, threads, codes
