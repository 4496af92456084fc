"""The records of one rank, each with the call that it is of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import STANDARD_OPS, ProcessGroup, Signature
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import MAX_BYTES, Call, Fate
from commcanary.sources.nccl_inspector.operations import COLLECTIVES, MESSAGES
from commcanary.sources.nccl_inspector.processes import wants

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nccl_inspector.file_records import FileRecords, Kind
    from commcanary.sources.nccl_inspector.processes import Process
    from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

    Ints = NDArray[np.int64]

RULE = "Inspector record"


@dataclass(frozen=True)
class RankRecords:
    """``rows`` are the places, in the columns of ``file``, of the records that are taken; ``calls`` one a kind.

    ``left`` counts the other records by fate and reason. ``kinds`` are the file's by number.
    """

    rank: int
    file: FileRecords
    rows: Ints
    kinds: tuple[Kind, ...]
    calls: tuple[Call, ...]
    left: Counter[tuple[Fate, str]]

    def values(self, column: str) -> Ints:
        """int64[n]: a column of the file at ``rows``."""
        return self.file.column(column)[self.rows]


def rank_records(
    file: FileRecords, process: Process, rank: int, seating: Seating, settings: NcclInspectorSettings
) -> RankRecords:
    """Read every record of ``process``; raises ``InputRefusal`` for one that is not known for certain."""
    kinds = tuple(file.kinds)
    kind = file.column("kind")
    line = file.column("line")
    seen = np.bincount(kind, minlength=len(kinds)).tolist()
    calls: list[Call] = []
    taken = np.zeros(len(kinds), np.bool_)
    left: Counter[tuple[Fate, str]] = Counter()
    for number, of in enumerate(kinds):
        if not process.accounts_for(of.caller, wants(file, of.caller.communicator, settings.process_group)):
            calls.append(Call(Fate.OUTSIDE, RULE, "another rank's"))
            continue
        try:
            call = _call(file, of, rank, seating, settings)
        except InputRefusal as refusal:
            if settings.on_error == "stop":
                refusal.place = f"line {line[np.argmax(kind == number)]}.{refusal.place}"
                raise refusal.in_file(file.name) from refusal.__cause__
            call = Call(Fate.REFUSED, RULE, refusal.found)
        calls.append(call)
        taken[number] = call.fate is Fate.TAKEN
        if call.fate is not Fate.TAKEN:
            left[call.fate, call.reason] += seen[number]
    rows = np.flatnonzero(taken[kind]) if len(kind) else np.zeros(0, np.int64)
    return RankRecords(rank, file, rows, kinds, tuple(calls), left)


def _call(file: FileRecords, kind: Kind, rank: int, seating: Seating, settings: NcclInspectorSettings) -> Call:
    communicator = kind.caller.communicator
    if not wants(file, communicator, settings.process_group):
        return Call(Fate.OTHER_GROUP, RULE, f"not on process group {settings.process_group}")
    block, size = ("p2p", "p2p_perf.p2p_msg_size_bytes") if kind.peer is not None else ("coll", "coll_perf.coll")
    known = MESSAGES if kind.peer is not None else COLLECTIVES
    if kind.name not in known:
        raise InputRefusal(
            f"{block}_perf.{block}",
            f"is {kind.name!r:.60}, and how its size counts is unknown",
            "leave such records out with --on-error skip",
        )
    if kind.bytes == 0:
        return Call(Fate.EMPTY, RULE, "no bytes")
    group = seating.group(communicator, "header.id")
    if kind.peer is not None:
        return _message(MESSAGES[kind.name], kind.bytes, kind.peer, rank, group)
    op, shares = COLLECTIVES[kind.name]
    total = kind.bytes * group.size if shares else kind.bytes
    if total > MAX_BYTES:
        raise InputRefusal(size, f"makes {total} bytes of {group.size} ranks", "bytes are below 2^63; record again")
    return Call(Fate.TAKEN, RULE, "", group, Signature(op=op, bytes=total, custom_op=op not in STANDARD_OPS))


def _message(op: str, size: int, peer: int, rank: int, group: ProcessGroup) -> Call:
    if peer >= group.size:
        raise InputRefusal(
            "p2p_perf.p2p_peer", f"is {peer} on a communicator of {group.size} ranks", "record the job again"
        )
    other = group.members[peer]
    if other == rank:
        return Call(Fate.EMPTY, RULE, "a rank's message to itself")
    sender, receiver = (rank, other) if op == "send" else (other, rank)
    ends = ProcessGroup.of(group.name, (sender, receiver))
    signature = Signature(op="point_to_point", bytes=size, sender_rank=sender, receiver_rank=receiver)
    return Call(Fate.TAKEN, RULE, "", ends, signature, receives=op == "recv")
