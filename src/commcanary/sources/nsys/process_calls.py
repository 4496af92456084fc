"""The NCCL calls of one process, read from its ranges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import REDUCING, STANDARD_OPS, ProcessGroup, Signature
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import MAX_BYTES, Call, Fate
from commcanary.sources.calls.nccl_operators import REDUCTIONS
from commcanary.sources.nsys.communicators import communicator_name
from commcanary.sources.nsys.exchanges import Exchange, Message
from commcanary.sources.nsys.functions import ONE_SIDED, OPERATIONS, is_operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.sources.nsys.communicators import Communicators, Process
    from commcanary.sources.nsys.read import ExportRead, Said
    from commcanary.sources.nsys.windows import Windows

RULE = "NCCL range with payload"
WITHOUT = "NCCL range without payload"


@dataclass(frozen=True)
class ProcessCalls:
    """The taken calls of one process in order of start: ``range[i]`` is the range of ``calls[i]``.

    ``parts`` counts the ranges that are one all-to-all together with a taken one. ``left`` counts the other ranges
    of operations by rule, fate and reason, ``unknown`` those without a payload.
    """

    process: Process
    rank: int
    calls: tuple[Call, ...]
    range: tuple[int, ...]
    parts: int
    left: Counter[tuple[str, Fate, str]]
    unknown: int


def messages_of(read: ExportRead, process: Process, windows: Windows) -> list[Message]:
    """All readable sends and receives of the process."""
    found = []
    for i in _operations(read, process):
        said = read.said[i]
        op = OPERATIONS.get(read.ranges.name[i])
        if op is not None and op.op in ("send", "recv") and isinstance(said, dict) and {"peer", "bytes"} <= said.keys():
            window = int(windows.of_range[i])
            grouped = window >= 0 and bool(windows.grouped[window])
            communicator = said.get("communicator")
            found.append(Message(i, window, grouped, communicator, op.op == "send", said["peer"], said["bytes"]))
    return found


def process_calls(
    read: ExportRead, process: Process, communicators: Communicators, exchanges: Sequence[Exchange]
) -> ProcessCalls:
    """Read every call of ``process``.

    Raises ``InputRefusal`` at the first that cannot be read for certain, unless ``on_error`` is skip.
    """
    reader = _Reader(read, process, communicators)
    whole = {exchange.first: exchange for exchange in exchanges}
    parts = {part for exchange in exchanges for part in exchange.parts} - whole.keys()
    calls: list[Call] = []
    kept: list[int] = []
    left: Counter[tuple[str, Fate, str]] = Counter()
    unknown = 0
    for i in _operations(read, process):
        if i in parts:
            continue
        if read.said[i] is None:
            unknown += 1
            continue
        call = reader.call(i, whole.get(i))
        if call.fate is Fate.TAKEN:
            calls.append(call)
            kept.append(i)
        else:
            left[call.rule, call.fate, call.reason] += 1
    rank = communicators.rank_of[process]
    folded = sum(len(exchange.parts) - 1 for exchange in exchanges)
    return ProcessCalls(process, rank, tuple(calls), tuple(kept), folded, left, unknown)


def _operations(read: ExportRead, process: Process) -> list[int]:
    mine = np.flatnonzero(read.ranges.process == process.number).tolist()
    return [i for i in mine if is_operation(read.ranges.name[i])]


class _Reader:
    """Ranges of equal function and payload are read once."""

    def __init__(self, read: ExportRead, process: Process, communicators: Communicators) -> None:
        self._read, self._process, self._communicators = read, process, communicators
        self._rank = communicators.rank_of[process]
        self._settings = communicators.settings
        self._known: dict[object, Call] = {}
        self._groups: dict[int | None, ProcessGroup] = {}

    def call(self, i: int, exchange: Exchange | None) -> Call:
        name, said = self._read.ranges.name[i], self._read.said[i]
        key = (name, id(said), None if exchange is None else exchange.bytes)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._guarded(name, said, exchange, i)
        return known

    def _guarded(self, name: str, said: Said, exchange: Exchange | None, i: int) -> Call:
        place = f"{self._read.table}[{self._read.ranges.row[i]}]"
        try:
            if isinstance(said, InputRefusal):
                raise said
            assert said is not None  # those without a payload are counted before
            if exchange is not None:
                return self._exchange(exchange, place)
            return self._read_call(name, said, place)
        except InputRefusal as refusal:
            if self._settings.on_error == "stop":
                raise refusal.in_file(str(self._read.path)) from refusal.__cause__
            return Call(Fate.REFUSED, RULE, refusal.found)

    def _read_call(self, name: str, said: Mapping[str, int], place: str) -> Call:
        if name in ONE_SIDED:
            return Call(Fate.CONTROL, RULE, f"{name} is one-sided: no collective and no matched message")
        communicator = said.get("communicator")
        if not self._wanted(communicator):
            return self._other_group()
        size = said.get("bytes")
        if size is None:
            raise InputRefusal(f"{place}.binaryData", f"has no message size for {name}", "export the report again")
        if size == 0:
            return Call(Fate.EMPTY, RULE, "no bytes")
        op, shares = OPERATIONS[name]
        group = self._group(communicator, place)
        if op in ("send", "recv"):
            return self._message(op, size, said.get("peer"), group, place)
        size = _bounded(size * group.size if shares else size, place)
        root = said.get("root")
        if root is not None and not 0 <= root < group.size:
            raise InputRefusal(f"{place}.binaryData", f"has root {root} of {group.size} ranks", "export again")
        reduction = said.get("reduction")
        return self._taken(
            group,
            Signature(
                op=op,
                bytes=size,
                custom_op=op not in STANDARD_OPS,
                root_rank=None if root is None else group.members[root],
                reduction_op=REDUCTIONS.get(reduction) if reduction is not None and op in REDUCING else None,
            ),
        )

    def _message(self, op: str, size: int, peer: int | None, group: ProcessGroup, place: str) -> Call:
        if peer is None or not 0 <= peer < group.size:
            raise InputRefusal(f"{place}.binaryData", f"has peer {peer} of {group.size} ranks", "export again")
        other = group.members[peer]
        if other == self._rank:
            return Call(Fate.EMPTY, RULE, "a rank's message to itself")
        sender, receiver = (self._rank, other) if op == "send" else (other, self._rank)
        ends = ProcessGroup.of(group.name, (sender, receiver))
        signature = Signature(
            op="point_to_point", bytes=_bounded(size, place), sender_rank=sender, receiver_rank=receiver
        )
        return Call(Fate.TAKEN, RULE, "", ends, signature, receives=op == "recv")

    def _exchange(self, exchange: Exchange, place: str) -> Call:
        if not self._wanted(exchange.communicator):
            return self._other_group()
        if exchange.bytes == 0:
            return Call(Fate.EMPTY, RULE, "no bytes")
        group = self._group(exchange.communicator, place)
        return self._taken(group, Signature(op="all_to_all", bytes=_bounded(exchange.bytes, place)))

    def _taken(self, group: ProcessGroup, signature: Signature) -> Call:
        return Call(Fate.TAKEN, RULE, "", group, signature)

    def _wanted(self, communicator: int | None) -> bool:
        wanted = self._settings.process_group
        return wanted is None or wanted == communicator_name(communicator)

    def _other_group(self) -> Call:
        return Call(Fate.OTHER_GROUP, RULE, f"not on process group {self._settings.process_group}")

    def _group(self, communicator: int | None, place: str) -> ProcessGroup:
        if communicator not in self._groups:
            group = self._communicators.group(communicator, place)
            if self._rank not in group.members:
                raise InputRefusal(
                    place, f"rank {self._rank} calls on {group.name}, which does not seat it", "export again"
                )
            self._groups[communicator] = group
        return self._groups[communicator]


def _bounded(size: int, place: str) -> int:
    if size > MAX_BYTES:
        raise InputRefusal(
            f"{place}.binaryData", f"moves {size} bytes", "bytes are below 2^63; export the report again"
        )
    return size
