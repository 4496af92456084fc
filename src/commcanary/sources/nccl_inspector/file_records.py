"""The records of one file as columns: what every process wrote, before it is known who the others are."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal
from commcanary.sources.calls.seating import Seat
from commcanary.sources.nccl_inspector.records import DumpStats
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.nccl_inspector.records import Collective, Header, Kernel, Line, Message

    Ints = NDArray[np.int64]


class CommunicatorRank(NamedTuple):
    """One rank of one communicator, as a file's records state it."""

    communicator: str
    rank: int


class Kind(NamedTuple):
    """What is equal in many records: who, which operation, how many bytes NCCL was given, and a message's peer."""

    caller: CommunicatorRank
    name: str
    bytes: int
    peer: int | None


@dataclass
class FileRecords:
    """Columns of a file's records in order, int64, -1 where unknown.

    ``name`` is how refusals show the file, ``base`` its own name. ``kind`` numbers ``kinds``; ``duration_us`` is 0
    where the plugin measured none. ``start_ns`` is the launch on the host, ``end_ns`` the last end of a channel that
    the host saw. ``seats`` and ``names`` are of communicators, out of ``headers`` found right. ``stats`` sums what
    dumps say that they wrote, with the last count of what was overwritten. ``left`` counts lines that could not be
    read, by why.
    """

    name: str
    base: str
    process: tuple[str, int] | None = None
    versions: set[str] = field(default_factory=set)
    seats: dict[str, dict[int, Seat]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    headers: set[tuple[str, int, int, str]] = field(default_factory=set)
    kinds: dict[Kind, int] = field(default_factory=dict)
    sources: Counter[str] = field(default_factory=Counter)
    stats: dict[CommunicatorRank, DumpStats] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    proxy_records: int = 0
    kind: array[int] = field(default_factory=lambda: array("q"))
    line: array[int] = field(default_factory=lambda: array("q"))
    number: array[int] = field(default_factory=lambda: array("q"))
    duration_us: array[int] = field(default_factory=lambda: array("q"))
    start_ns: array[int] = field(default_factory=lambda: array("q"))
    end_ns: array[int] = field(default_factory=lambda: array("q"))

    def column(self, name: str) -> Ints:
        """One of the columns as int64[n]."""
        return np.asarray(getattr(self, name), np.int64)

    def add(self, number: int, line: Line, context: Header) -> None:
        """Take the record of ``line``; ``context`` is its communicator."""
        caller = CommunicatorRank(context.id, context.rank)
        if line.coll_perf is not None:
            self._add_collective(caller, line.coll_perf)
        elif line.p2p_perf is not None:
            self._add_message(caller, line.p2p_perf)
        self.line.append(number)

    def seat(self, header: Header, place: str) -> None:
        """Note whose rank of which communicator a record states; refuse one that contradicts an earlier record."""
        key = (header.id, header.rank, header.n_ranks, header.comm_name)
        if key in self.headers:
            return
        seats = self.seats.get(header.id, {})
        known = seats.get(header.rank)
        if known is None:
            known = next(iter(seats.values()), Seat(header.rank, header.n_ranks))
            if header.rank >= header.n_ranks:
                found = f"is rank {header.rank} of {header.n_ranks} in communicator {header.id}"
                raise InputRefusal(f"{place}.header", found, "ranks count from 0; record the job again")
        if known.ranks != header.n_ranks:
            found = (
                f"is of {header.n_ranks} ranks in communicator {header.id}, which has {known.ranks} in an earlier line"
            )
            raise InputRefusal(f"{place}.header", found, "record the job again")
        self.seats.setdefault(header.id, {}).setdefault(header.rank, Seat(header.rank, header.n_ranks))
        if header.comm_name and header.comm_name != "unknown":
            self.names[header.id] = header.comm_name
        self.headers.add(key)

    def count(self, caller: CommunicatorRank, said: DumpStats) -> None:
        """Add what one dump of a communicator says."""
        before = self.stats.get(caller, DumpStats())
        self.stats[caller] = DumpStats(
            coll_records=before.coll_records + said.coll_records,
            coll_dropped_total=max(before.coll_dropped_total, said.coll_dropped_total),
            p2p_records=before.p2p_records + said.p2p_records,
            p2p_dropped_total=max(before.p2p_dropped_total, said.p2p_dropped_total),
        )

    def _add_collective(self, caller: CommunicatorRank, said: Collective) -> None:
        times = said.event_trace_ts
        start, kernels = (0, []) if times is None else (times.coll_start_ts, times.kernel_events)
        kind = Kind(caller, said.coll, said.coll_msg_size_bytes, None)
        self._append(kind, said.coll_sn, said.coll_exec_time_us, said.coll_timing_source, start, kernels)

    def _add_message(self, caller: CommunicatorRank, said: Message) -> None:
        times = said.event_trace_ts
        start, kernels = (0, []) if times is None else (times.p2p_start_ts, times.kernel_events)
        kind = Kind(caller, said.p2p, said.p2p_msg_size_bytes, said.p2p_peer)
        self._append(kind, said.p2p_sn, said.p2p_exec_time_us, said.p2p_timing_source, start, kernels)

    def _append(
        self, kind: Kind, number: int, duration_us: int, source: str, start_us: int, kernels: list[Kernel]
    ) -> None:
        self.kind.append(self.kinds.setdefault(kind, len(self.kinds)))
        self.number.append(number)
        self.duration_us.append(duration_us)
        self.sources[source or "unstated"] += 1
        ends = [kernel.kernel_stop_ts for kernel in kernels]
        self.start_ns.append(start_us * NS_PER_US if start_us else UNKNOWN)
        self.end_ns.append(max(ends) * NS_PER_US if ends and all(ends) else UNKNOWN)
