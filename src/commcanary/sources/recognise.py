"""Which source a file is of, by how it begins: names say little, and formats change their suffixes."""

from __future__ import annotations

import io
import re
import tarfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from commcanary.sources.flight_recorder.plain_pickle import PROTOCOL

if TYPE_CHECKING:
    from pathlib import Path

_BEGINNING = 16_384
_DUMP = re.compile(rb'"(?:collective_seq_id|comm_lib_version|nccl_version)"\s*:')
_NODES = re.compile(rb'"(?:nodes|workload_graph)"\s*:\s*\[')
_RECORDS = re.compile(rb'"(?:inspector_output_format_version|coll_perf|p2p_perf)"\s*:')
_LOG = re.compile(rb"^[^\n{]{0,300} NCCL INFO ", re.MULTILINE)
_EVENTS = re.compile(rb'"(?:traceEvents|schemaVersion|deviceProperties|distributedInfo)"\s*:')


def source_of(path: Path) -> str:
    """The name of the source in ``SOURCES`` that reads the file at ``path``.

    What is like none of them is said to be a Kineto profile, whose reader then says what it misses. Raises
    ``OSError`` where there is no file.
    """
    with path.open("rb") as stream:
        data = stream.read(_BEGINNING)
    if data.startswith(b"SQLite format 3\x00"):
        return "nsys"
    if data[:1] == PROTOCOL:
        return "flight-recorder"
    if data[:2] == b"\x1f\x8b":
        data = _unzipped(data)
    data, suffix = _first_member(data, path.suffix)
    if _LOG.search(data):
        return "nccl-log"
    if data.lstrip()[:1] not in (b"{", b"["):
        return "chakra" if suffix == ".et" else "kineto"
    if _EVENTS.search(data):
        return "kineto"
    if _RECORDS.search(data):
        return "nccl-inspector"
    if _NODES.search(data):
        return "chakra"
    return "flight-recorder" if _DUMP.search(data) else "kineto"


def _unzipped(data: bytes) -> bytes:
    """What the beginning of a gzip file holds; nothing where it is damaged."""
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, _BEGINNING)
    except zlib.error:
        return b""


def _first_member(data: bytes, suffix: str) -> tuple[bytes, str]:
    """The beginning of an archive's first file and its suffix; both as given where ``data`` is no archive."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                if member.isfile():
                    return data[member.offset_data :], PurePosixPath(member.name).suffix
    except (tarfile.TarError, ValueError, OverflowError):
        pass  # no archive, or none whose first file begins here
    return data, suffix
