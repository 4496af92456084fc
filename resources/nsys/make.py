"""Write exports of Nsight Systems by hand, with sqlite3: the example of this folder, and what the tests need.

    python resources/nsys/make.py            writes two_ranks.sqlite beside this file

Nobody ran this job: every number below was chosen. Tables, columns and payloads are as Nsight Systems and NCCL
write them, in NCCL's layouts before 2.25 (no communicator in a payload) and since.
"""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from typing import Any

US = 1_000
PROCESS = 1 << 24
VM = 1 << 48
"""A global id is machine, process and thread: 24 bits each for the last two."""

STATIC = 1 << 24
INT, UINT64, SIZE = 5, 18, 22
NCCL_DOMAIN = 1

_TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, text TEXT, "
    "globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, binaryData TEXT",
    "NVTX_PAYLOAD_SCHEMAS": "domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER, "
    "numEntries INTEGER, payloadSize INTEGER, alignTo INTEGER",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": "domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, "
    "flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "streamId INTEGER NOT NULL, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
}

_COMMUNICATOR = ("NCCL communicator ID", UINT64)
_BYTES = ("Message size [bytes]", SIZE)
_ROOT, _PEER = ("Root", INT), ("Peer rank", INT)


def layouts(version: str) -> dict[str, tuple[int, list[tuple[str, int]]]]:
    """(schema id, fields) of each NCCL function: ``2.21`` before communicators were named, ``2.27`` since."""
    if version == "2.21":
        redop = ("Reduction operation", STATIC + 11)
        small = ("Bytes", SIZE)  # some functions called it so
        seat = [("Rank", INT), ("No. of ranks", INT), ("CUDA device", INT)]
        head: list[tuple[str, int]] = []
    else:
        redop = ("Reduction operation", STATIC + 16)
        small = _BYTES
        seat = [_COMMUNICATOR, ("No. of ranks", INT), ("Rank", INT), ("CUDA device", INT)]
        head = [_COMMUNICATOR]
    found = {
        "ncclCommInitRank": (0, seat),
        "ncclCommDestroy": (2, seat),
        "ncclAllGather": (4, [*head, _BYTES]),
        "ncclAllReduce": (5, [*head, _BYTES, redop]),
        "ncclBroadcast": (6, [*head, small, _ROOT]),
        "ncclReduceScatter": (7, [*head, _BYTES, redop]),
        "ncclReduce": (8, [*head, _BYTES, _ROOT, redop]),
        "ncclSend": (9, [*head, small, _PEER]),
        "ncclRecv": (10, [*head, small, _PEER]),
    }
    if version != "2.21":
        found["ncclAlltoAll"] = (17, [*head, _BYTES])  # 16 is the reduction operator's number in 2.27
    return {name: (STATIC + sid, fields) for name, (sid, fields) in found.items()}


class ExportWriter:
    """An export in the making. Times are us of the session, threads are numbers within their process."""

    def __init__(
        self, path: Path, version: str = "2.27", blobs: bool = True, registered: bool = True, suffix: str = ""
    ) -> None:
        path.unlink(missing_ok=True)
        self.path, self.version, self.blobs, self.registered, self.suffix = path, version, blobs, registered, suffix
        self.connection = sqlite3.connect(path)
        for name, columns in _TABLES.items():
            self.connection.execute(f'CREATE TABLE "{self.table(name)}" ({columns})')
        self._strings: dict[str, int] = {}
        self._processes: set[int] = set()
        self._correlation = 1000
        self._layouts = layouts(version)
        for key, value in (("EXPORT_SCHEMA_VERSION", "3.25.0"), ("EXPORT_PARAM_INCLUDE_BLOBS", str(blobs).lower())):
            self.insert("META_DATA_EXPORT", name=key, value=value)
        self.insert("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_790_000_000_000_000_000)

    def table(self, name: str) -> str:
        """The table's name in this export: newer exports put suffixes on activity and NVTX tables."""
        return name + self.suffix if name.startswith(("CUPTI", "NVTX")) else name

    def insert(self, table: str, **values: Any) -> None:
        """Add one row."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.connection.execute(f'INSERT INTO "{self.table(table)}" ({names}) VALUES ({marks})', list(values.values()))

    def string(self, value: str) -> int:
        """The number of a text in StringIds."""
        if value not in self._strings:
            self._strings[value] = len(self._strings) + 1
            self.insert("StringIds", id=self._strings[value], value=value)
        return self._strings[value]

    def thread(self, pid: int, thread: int) -> int:
        """The global id of a thread."""
        return VM + pid * PROCESS + pid + thread

    def range(
        self, pid: int, text: str, start: float, end: float, thread: int = 0, domain: int = 0, **more: Any
    ) -> None:
        """A push-pop range. NCCL registers its strings; others write their text into the event."""
        named = {"textId": self.string(text)} if domain and self.registered else {"text": text}
        self.insert(
            "NVTX_EVENTS",
            start=round(start * US),
            end=round(end * US),
            eventType=59,
            globalTid=self.thread(pid, thread),
            domainId=domain,
            **named,
            **more,
        )

    def nccl(self, pid: int, name: str, start: float, end: float, thread: int = 0, **fields: int) -> None:
        """A range of NCCL with its payload: ``comm``, ``bytes``, ``redop``, ``root``, ``peer``, ``rank``, ..."""
        self._describe(pid)
        payload = {}
        if self.blobs and name in self._layouts:
            payload = {"binaryData": self.blob(name, **fields)}
        self.range(pid, name, start, end, thread, NCCL_DOMAIN, **payload)

    def blob(self, name: str, **fields: int) -> bytes:
        """A payload with its header, as NCCL's struct lies in memory."""
        number, entries = self._layouts[name]
        values = {
            "NCCL communicator ID": fields.get("comm", 0),
            "Message size [bytes]": fields.get("bytes", 0),
            "Bytes": fields.get("bytes", 0),
            "Reduction operation": fields.get("redop", 0),
            "Root": fields.get("root", 0),
            "Peer rank": fields.get("peer", 0),
            "No. of ranks": fields.get("ranks", 0),
            "Rank": fields.get("rank", 0),
            "CUDA device": fields.get("device", 0),
        }
        data = b""
        for label, kind in entries:
            wide = kind in (UINT64, SIZE)
            data += b"\0" * (-len(data) % (8 if wide else 4)) + struct.pack("<Q" if wide else "<i", values[label])
        if any(kind in (UINT64, SIZE) for _, kind in entries):
            data += b"\0" * (-len(data) % 8)
        return struct.pack("<QQQQ", NCCL_DOMAIN, number, len(data), 32) + data

    def kernel(
        self,
        pid: int,
        name: str,
        start: float,
        end: float,
        device: int = 0,
        stream: int = 7,
        launched: float | None = None,
        thread: int = 0,
        **more: Any,
    ) -> None:
        """A kernel, and the runtime call that launched it where ``launched`` says when."""
        self._correlation += 1
        text = self.string(name)
        self.insert(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            start=round(start * US),
            end=round(end * US),
            deviceId=device,
            contextId=1,
            streamId=stream,
            correlationId=self._correlation,
            globalPid=VM + pid * PROCESS,
            demangledName=text,
            shortName=text,
            **more,
        )
        if launched is not None:
            self.insert(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                start=round(launched * US),
                end=round((launched + 2) * US),
                eventClass=0,
                globalTid=self.thread(pid, thread),
                correlationId=self._correlation,
                nameId=self.string("cudaLaunchKernelExC_v11060"),
                returnValue=0,
            )

    def _describe(self, pid: int) -> None:
        """Every process registers NCCL's layouts again; the first entry of each has no offset."""
        if pid in self._processes:
            return
        self._processes.add(pid)
        for number, entries in dict(self._layouts.values()).items():
            at = 0
            for index, (label, kind) in enumerate(entries):
                width = 8 if kind in (UINT64, SIZE) else 4
                at += -at % width
                self.insert(
                    "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                    domainId=NCCL_DOMAIN,
                    schemaId=number,
                    idx=index,
                    type=kind,
                    name=label,
                    offset=at or None,
                )
                at += width
            self.insert(
                "NVTX_PAYLOAD_SCHEMAS",
                domainId=NCCL_DOMAIN,
                schemaId=number,
                type=1,
                numEntries=len(entries),
                payloadSize=at,
            )

    def done(self) -> Path:
        """Write the file."""
        self.connection.commit()
        self.connection.close()
        return self.path


REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
MESSAGES = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)"
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"
WORLD = 0x5EED_0000_CAFE_0001


def two_ranks(path: Path, version: str = "2.27", **how: Any) -> Path:
    """Two ranks on two devices, three steps: an all-gather forward, an all-reduce backward, an exchange of messages.

    In each step rank 1 arrives 10 us late. The all-reduce runs 40 us beside a matrix product that covers 30 us of
    rank 0's and 20 us of rank 1's; nothing else overlaps.
    """
    out = ExportWriter(path, version, **how)
    for rank, pid in enumerate((111, 112)):
        out.nccl(pid, "ncclCommInitRank", 0, 90, comm=WORLD, ranks=2, rank=rank, device=rank)
        late = 10.0 * rank
        for step in range(3):
            at = 1_000.0 * (step + 1) + late
            on = {"pid": pid, "comm": WORLD}
            gpu = {"pid": pid, "device": rank}
            out.range(pid, "forward", at, at + 200)
            out.range(pid, f"aten::mm, seq = {step}, op_id = {10 * step}", at + 1, at + 9)
            out.kernel(name=GEMM, start=at + 20, end=at + 80, launched=at + 4, **gpu)
            out.nccl(name="ncclAllGather", start=at + 100, end=at + 110, bytes=4096, **on)
            out.kernel(name=GATHER, start=at + 120, end=at + 140, stream=13, launched=at + 105, **gpu)
            out.range(pid, "backward", at + 300, at + 500)
            out.nccl(name="ncclAllReduce", start=at + 310, end=at + 320, bytes=1 << 20, redop=0, **on)
            out.kernel(name=GEMM, start=at + 330, end=at + 360 - late, launched=at + 325, **gpu)
            out.kernel(name=REDUCE, start=at + 330, end=at + 370, stream=13, launched=at + 315, **gpu)
            out.nccl(name="ncclGroupStart", start=at + 600, end=at + 601, pid=pid)
            for peer in (0, 1):
                out.nccl(
                    name="ncclSend", start=at + 602 + 4 * peer, end=at + 603 + 4 * peer, bytes=2048, peer=peer, **on
                )
                out.nccl(
                    name="ncclRecv", start=at + 604 + 4 * peer, end=at + 605 + 4 * peer, bytes=2048, peer=peer, **on
                )
            out.nccl(name="ncclGroupEnd", start=at + 612, end=at + 630, pid=pid)
            out.kernel(name=MESSAGES, start=at + 640, end=at + 660, stream=13, launched=at + 620, **gpu)
    return out.done()


if __name__ == "__main__":
    print(two_ranks(Path(__file__).with_name("two_ranks.sqlite")))
