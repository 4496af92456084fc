"""Write what NCCL's Inspector and NCCL's debug log say of one job: four ranks on two nodes, three steps.

    python resources/nccl_job/make.py

No GPU ran: the lines have the layout that NCCL 2.30 gives them (plugins/profiler/inspector/inspector_json.cc, format
v4.0; src/enqueue.cc, src/init.cc and src/debug.cc). The Inspector leaves out what is smaller than 8,192 bytes, and rank
3 lost two records in its ring.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

WORLD = "0x9f3c27a5d1e06b42"
PAIRS = ("0x41d0a8b7c2f35e90", "0x6be21f9034c7d8a5")
STEPS = 3
SMALLEST_RECORDED = 8192
LOST = {3: {("AllReduce", 2), ("AllReduce", 4)}}
"""Records that a rank's ring overwrote: operation and NCCL's number."""

START = datetime(2026, 11, 2, 9, 0, 0, tzinfo=UTC)
SIZES = {2: 4, 7: 4, 9: 2}
"""Bytes of NCCL's element types by number."""


@dataclass
class Process:
    """One rank: what it has written so far, and its clock in us since the start."""

    rank: int
    now_us: int = 0
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        """The node that it runs on: two ranks each."""
        return f"node-{self.rank // 2}"

    @property
    def pid(self) -> int:
        """Its number."""
        return 4000 + self.rank

    @property
    def pair(self) -> str:
        """The communicator of its node."""
        return PAIRS[self.rank // 2]

    def pointer(self, communicator: str) -> str:
        """Where a communicator lies in its memory."""
        return f"0x55d0c0{self.rank}{'e' if communicator == WORLD else 'f'}1000"

    def seat(self, communicator: str) -> tuple[int, int]:
        """Rank in the communicator, and its ranks."""
        return (self.rank, 4) if communicator == WORLD else (self.rank % 2, 2)

    def say(self, text: str) -> None:
        """A line of the debug log, with NCCL_DEBUG_TIMESTAMP_FORMAT='[%F %T.%6f] '."""
        at = START + timedelta(microseconds=self.now_us)
        stamp = at.strftime("%Y-%m-%d %H:%M:%S.%f")
        self.lines.append(f"[{stamp}] {self.host}:{self.pid}:{self.pid} [{self.rank % 2}] NCCL INFO {text}")

    def begin(self) -> None:
        """The lines of the communicators' creation: all ranks, then a split into the pairs of each node."""
        common = f"cudaDev {self.rank % 2} nvmlDev {self.rank % 2} busId {self.rank % 2 + 1}000"
        parent = self.pointer(WORLD)
        self.say(f"ncclCommInitRank comm {parent} rank {self.rank} nranks 4 {common} commId {WORLD} - Init COMPLETE")
        self.now_us += 800
        rank, ranks = self.seat(self.pair)
        self.say(
            f"ncclCommSplit comm {self.pointer(self.pair)} rank {rank} nranks {ranks} {common} parent {parent} "
            f"childCount 1 color {self.rank // 2} key {self.rank} - Init COMPLETE"
        )
        self.now_us += 800

    def end(self) -> None:
        """The lines of the communicators' end."""
        for communicator in (self.pair, WORLD):
            rank, ranks = self.seat(communicator)
            device = self.rank % 2
            self.say(
                f"comm {self.pointer(communicator)} rank {rank} nranks {ranks} cudaDev {device} "
                f"busId {device + 1}000 - Destroy COMPLETE"
            )

    def call(self, name: str, communicator: str, count: int, datatype: int, us: int, root: int = 0) -> None:
        """One call: its line in the log and, where it is large enough and not lost, its record."""
        _, ranks = self.seat(communicator)
        self.say(
            f"{name}: opCount 0 sendbuff 0x7f{self.rank}200000000 recvbuff 0x7f{self.rank}300000000 count {count} "
            f"datatype {datatype} op 0 root {root} comm {self.pointer(communicator)} [nranks={ranks}] "
            f"stream 0x55d0c0{self.rank}a0000"
        )
        size = count * SIZES[datatype]
        message = name in ("Send", "Recv")
        number = self.numbers.get((communicator, "p2p" if message else name), 1 if message else 0)
        recorded = size >= SMALLEST_RECORDED
        if recorded or not message:  # NCCL numbers every collective, the plugin the messages that it records
            self.numbers[communicator, "p2p" if message else name] = number + 1
        if recorded and (name, number) not in LOST.get(self.rank, ()):
            self._record(name, communicator, number, size, us, root, message)
        self.now_us += us + 40

    def _record(self, name: str, communicator: str, number: int, size: int, us: int, root: int, message: bool) -> None:
        rank, ranks = self.seat(communicator)
        launched = int(START.timestamp() * 1e6) + self.now_us + 6
        block, what = ("p2p_perf", "p2p") if message else ("coll_perf", "coll")
        shares = ranks if name in ("AllGather", "ReduceScatter") else 1
        speed = round(size * shares / us / 1e3, 6)
        begun = launched + 18
        kernel = {
            "channel_id": 0,
            "kernel_start_ts": begun,
            "kernel_stop_ts": begun + us,
            "kernel_record_ts": begun + us,
        }
        self.records.append(
            json.dumps(
                {
                    "header": {
                        "id": communicator,
                        "comm_name": "world" if communicator == WORLD else "tp",
                        "rank": rank,
                        "n_ranks": ranks,
                        "nnodes": 2 if communicator == WORLD else 1,
                    },
                    "metadata": {
                        "inspector_output_format_version": "v4.0",
                        "git_rev": "",
                        "rec_mechanism": "nccl_profiler_interface",
                        "dump_timestamp_us": begun + us + 500,
                        "hostname": self.host,
                        "pid": self.pid,
                    },
                    block: {
                        what: name,
                        f"{what}_sn": number,
                        **({"p2p_peer": root} if message else {}),
                        f"{what}_msg_size_bytes": size,
                        f"{what}_exec_time_us": us,
                        f"{what}_timing_source": "kernel_gpu",
                        f"{what}_algobw_gbs": speed,
                        f"{what}_busbw_gbs": round(speed * (1.5 if name == "AllReduce" else 1.0), 6),
                        "event_trace_sn": {
                            f"{what}_start_sn": 1,
                            f"{what}_stop_sn": 2,
                            "kernel_events": [
                                {"channel_id": 0, "kernel_start_sn": 3, "kernel_stop_sn": 5, "kernel_record_sn": 4}
                            ],
                        },
                        "event_trace_ts": {
                            f"{what}_start_ts": launched,
                            f"{what}_stop_ts": launched + 5,
                            "kernel_events": [kernel],
                        },
                    },
                },
                separators=(",", ":"),
            )
        )


def run(rank: int) -> Process:
    """All that one rank does."""
    process = Process(rank)
    process.begin()
    process.call("Broadcast", WORLD, 262_144, 7, 90)
    for step in range(STEPS):
        process.now_us += 400 + 35 * rank
        process.call("AllGather", process.pair, 131_072, 9, 60)
        process.call("ReduceScatter", process.pair, 131_072, 9, 70 + rank)
        if rank in (1, 2):
            process.call("Send" if rank == 1 else "Recv", WORLD, 65_536, 9, 55, root=3 - rank)
        process.call("AllReduce", WORLD, 1_048_576 * (step + 1), 9, 210 + 90 * step - 20 * rank)
        process.call("AllReduce", WORLD, 1, 7, 30)
        process.now_us = max(process.now_us, 4_000 * (step + 1))
    process.end()
    return process


if __name__ == "__main__":
    folder = Path(__file__).parent
    for number in range(4):
        done = run(number)
        (folder / f"inspector-{done.host}-pid{done.pid}.log").write_text("\n".join(done.records) + "\n")
        (folder / f"nccl-{done.host}-{done.pid}.log").write_text("\n".join(done.lines) + "\n")
