"""A file's lines -> the columns of its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_inspector.file_records import CommunicatorRank, FileRecords
from commcanary.sources.nccl_inspector.records import lines_of

if TYPE_CHECKING:
    from commcanary.sources.containers import Member
    from commcanary.sources.nccl_inspector.records import Header, Line

_REMEDY = "give a file that the Inspector wrote as JSON lines; leave lines out with --on-error skip"


def read_records(member: Member, on_error: Literal["stop", "skip"]) -> FileRecords:
    """The records in ``member``.

    Raises ``InputRefusal`` for the first line that is none (unless ``on_error`` is skip: then it is counted), and for
    a file of two processes.
    """
    found = FileRecords(member.shown, member.base)
    context: Header | None = None
    for number, line, fault in lines_of(member.stream):
        place = f"line {number}"
        try:
            if fault is not None:
                raise fault
            assert line is not None  # one of the two is given
            if line.metadata is not None:
                _check_process(found, line, place)
            if line.dump_stats is not None:
                context = line.header  # from format v4.3 on it stands here alone
            header = line.header or context
            if header is None:
                raise InputRefusal(f"{place}.header", "is missing, and no dump_stats line before states it", _REMEDY)
            found.seat(header, place)
            if line.dump_stats is not None:
                found.count(CommunicatorRank(header.id, header.rank), line.dump_stats)
            if line.coll_perf is not None or line.p2p_perf is not None:
                found.add(number, line, header)
            elif bytes(line.proxy_trace):
                found.proxy_records += 1
            elif line.dump_stats is None:
                raise InputRefusal(place, "has neither coll_perf nor p2p_perf", _REMEDY)
        except InputRefusal as refusal:
            if on_error == "stop":
                raise
            found.left[refusal.found] += 1
    return found


def _check_process(found: FileRecords, line: Line, place: str) -> None:
    assert line.metadata is not None
    process = (line.metadata.hostname, line.metadata.pid)
    found.versions.add(line.metadata.inspector_output_format_version or "unstated")
    if found.process is None:
        found.process = process
    elif found.process != process:
        host, pid = found.process
        raise InputRefusal(
            f"{place}.metadata",
            f"is of process {process[1]} on {process[0] or 'an unnamed host'}, the file before it of process {pid} on "
            f"{host or 'an unnamed host'}",
            "give each process' file by itself, as the plugin writes them (HOST-pidPID.log)",
        )
