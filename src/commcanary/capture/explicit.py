"""``record_collective``: for libraries that communicate without ``torch.distributed``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from commcanary.capture.recorder import RECORDER, UNKNOWN, CallKey, Recorder


def record_collective(
    op: str,
    nbytes: int,
    ranks: Sequence[int],
    issued_ns: int,
    *,
    rank: int | None = None,
    group: str = "default",
    completed_ns: int | None = None,
    waited_ns: int | None = None,
    compute_before_ns: int | None = None,
    dtype: str | None = None,
    in_elements: int | None = None,
    out_elements: int | None = None,
    root: int | None = None,
    reduction: str | None = None,
    peer: int | None = None,
    tag: str | None = None,
    phase: str = "unknown",
) -> None:
    """Record one finished communication call of this process; does nothing where nobody captures.

    ``op`` is a trace's operation or any name of your own; ``send`` and ``recv`` name their ``peer``. ``nbytes``
    are those of the larger side, as nccl-tests counts. ``ranks`` are the group's global ranks. Times are
    ``time.monotonic_ns()``: issue, completion and the moment from which the caller waited (between issue and
    wait it computed). What is None is unknown. ``rank`` is this process's global rank, else the one that
    torch.distributed or the variable RANK says. Raises ``ValueError`` for what no call can be.
    """
    if RECORDER is None:
        return
    own = _rank(RECORDER, rank)
    if own not in ranks:
        raise ValueError(f"record_collective: rank {own} is not among ranks {list(ranks)[:8]}")
    if nbytes <= 0:
        raise ValueError(f"record_collective: nbytes is {nbytes}; give a whole number above 0")
    if op in ("send", "recv") and (peer is None or peer == own or peer not in ranks):
        raise ValueError(f"record_collective: a {op} names another of its ranks as peer, not {peer!r}")
    for name, value in (("waited_ns", waited_ns), ("completed_ns", completed_ns)):
        if value is not None and value < issued_ns:
            raise ValueError(f"record_collective: {name} lies before issued_ns")
    RECORDER.add(
        CallKey(
            op,
            nbytes,
            UNKNOWN if in_elements is None else in_elements,
            UNKNOWN if out_elements is None else out_elements,
            dtype,
            RECORDER.group(group, tuple(ranks)),
            root,
            reduction,
            peer,
            tag,
            phase,
        ),
        issued_ns,
        UNKNOWN if waited_ns is None else waited_ns,
        UNKNOWN if completed_ns is None else completed_ns,
        UNKNOWN if compute_before_ns is None else compute_before_ns,
    )


def _rank(recorder: Recorder, given: int | None) -> int:
    """Own rank; the first call of a process that torch.distributed does not know says which one it is."""
    if given is None:
        text = os.environ.get("RANK", "")
        given = recorder.rank if recorder.rank != UNKNOWN else int(text) if text.isdigit() else None
    if given is None:
        raise ValueError("record_collective: this process's rank is unknown; give rank=")
    if recorder.rank != given:
        size = os.environ.get("WORLD_SIZE", "")
        world = int(size) if size.isdigit() else recorder.world_size
        recorder.join(given, world, None, None)
    return given
