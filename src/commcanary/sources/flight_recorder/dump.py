"""A dump of the Flight Recorder, typed as far as an import needs it. JSON and pickle hold the same fields."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.jsontext import convert, decode
from commcanary.errors import InputRefusal
from commcanary.sources.flight_recorder.plain_pickle import PROTOCOL, plain_pickle
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

LATEST_NS = 4 * 10**15 * NS_PER_US

MOST_GAPS = 100_000
"""Numbers further apart than this are not counted through: they are damaged, not missing."""

_NUMBERED = re.compile(r"(\d{1,9})(?:\.[A-Za-z]+)*\Z")


class Entry(msgspec.Struct):
    """A recorded call. Sizes are lists of tensors' shapes; ``time_created_ns`` is when the host issued the call."""

    profiling_name: str
    process_group: list[str]
    time_created_ns: int
    record_id: int = -1
    collective_seq_id: int = -1
    p2p_seq_id: int = -1
    op_id: int = -1
    is_p2p: bool = False
    input_sizes: list[Any] = []
    output_sizes: list[Any] = []
    input_dtypes: list[str] = []
    output_dtypes: list[str] = []
    state: str = ""


class Group(msgspec.Struct):
    """A process group of ``pg_config``; ``ranks`` is a text such as ``[0, 1]``."""

    name: str = ""
    desc: str = ""
    ranks: Any = None


class Dump(msgspec.Struct):
    """One rank's dump: the last calls that its ring still held."""

    version: str
    entries: list[Entry] = []
    pg_config: dict[str, Group] = {}


def read_dump(data: bytes) -> Dump:
    """The dump in ``data``; raises ``InputRefusal`` naming what is none, with ``entries[i]`` in order of record."""
    dump = convert(plain_pickle(data), Dump) if data[:1] == PROTOCOL else decode(data, Dump)
    for number, entry in enumerate(dump.entries):
        if not 0 <= entry.time_created_ns <= LATEST_NS:
            raise InputRefusal(
                f"entries[{number}].time_created_ns",
                f"is {entry.time_created_ns}",
                "it is in ns since 1970; dump again",
            )
        if not entry.process_group:
            raise InputRefusal(f"entries[{number}].process_group", "is empty", "it is a name and a description")
    dump.entries.sort(key=lambda entry: entry.record_id)
    return dump


def rank_in_name(name: str) -> int | None:
    """The rank that a dump's name ends in: PyTorch appends it (``nccl_trace_rank_host_5``)."""
    match = _NUMBERED.search(name)
    return None if match is None else int(match[1])


def lost_calls(entries: Sequence[Entry]) -> int:
    """Calls that the ring had overwritten before the dump: records are numbered from 0."""
    return max(entries[0].record_id, 0) if entries else 0


def gaps_in_operations(entries: Sequence[Entry]) -> dict[str, list[int]]:
    """Numbers of operations before recorded ones that no entry has, by process group.

    Every operation of a group is numbered from 1, recorded or not: gloo records no send or receive. Where the ring
    has lost calls, only those between recorded ones are known to be missing.
    """
    numbers: dict[str, set[int]] = {}
    for entry in entries:
        if entry.op_id >= 0:
            numbers.setdefault(entry.process_group[0], set()).add(entry.op_id)
    found = {}
    for group, of in numbers.items():
        first = min(of) if lost_calls(entries) else 1
        if max(of) - first < MOST_GAPS + len(of):
            missing = [number for number in range(first, max(of)) if number not in of]
            if missing:
                found[group] = missing
    return found
