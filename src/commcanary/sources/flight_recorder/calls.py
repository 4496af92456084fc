"""Entries of a dump -> calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commcanary.artifacts.events import ProcessGroup
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Call, Fate, Sizes, taken_call
from commcanary.sources.calls.job import Job, listed_ranks
from commcanary.sources.kineto.operations import CONTROL, annotated_operation
from commcanary.sources.kineto.operators import elements

if TYPE_CHECKING:
    from commcanary.sources.flight_recorder.dump import Dump, Entry
    from commcanary.sources.flight_recorder.settings import FlightRecorderSettings

RULE = "flight recorder entry"
_MESSAGE = re.compile(r"^[a-z][a-z0-9_]*:(?P<op>send|recv) (?P<own>\d+)(?:->|<-)(?P<peer>\d+)\Z")
_UMBRELLAS = ("coalesced", "barrier")


@dataclass(frozen=True)
class Groups:
    """Process groups of a dump by name. ``renamed`` says that the only listed one stands for the only one called on."""

    ranks: dict[str, tuple[int, ...]]
    renamed: str | None


def groups_of(dump: Dump) -> Groups:
    """The groups that ``pg_config`` lists.

    gloo lists its only group under an empty name, while calls say ``0``. Where one group is listed, without a name,
    and all calls are on one group, they are the same.
    """
    found: dict[str, tuple[int, ...]] = {}
    for key, group in dump.pg_config.items():
        ranks = listed_ranks(group.ranks, f"pg_config[{key!r}].ranks")
        if ranks is not None:
            found[key] = ranks
    called = {entry.process_group[0] for entry in dump.entries}
    if set(dump.pg_config) == {""} and len(called) == 1 and "" in found and "" not in called:
        name = called.pop()
        return Groups({name: found[""]}, name)
    return Groups(found, None)


def call_of_entry(entry: Entry, groups: Groups, job: Job, settings: FlightRecorderSettings, place: str) -> Call:
    """The call behind ``entry``; raises ``InputRefusal`` where operation, size or group are not known for certain."""
    message = _MESSAGE.match(entry.profiling_name)
    if message is None and entry.profiling_name.rpartition(":")[2].endswith(_UMBRELLAS):
        return Call(Fate.CONTROL, RULE, entry.profiling_name.rpartition(":")[2])
    op = message["op"] if message is not None else _operation(entry, place)
    if op == CONTROL:
        return Call(Fate.CONTROL, RULE, entry.profiling_name)
    if settings.process_group is not None and settings.process_group not in entry.process_group:
        return Call(Fate.OTHER_GROUP, RULE, f"not on process group {settings.process_group}")
    name = entry.process_group[0]
    ranks = groups.ranks.get(name)
    if ranks is None:
        raise InputRefusal(
            f"{place}.process_group",
            f"is {name!r}, whose ranks pg_config does not list",
            "leave it out with --on-error skip",
        )
    group = ProcessGroup.of(name, ranks)
    peer = None if message is None else _peer(int(message["own"]), int(message["peer"]), group, job, place)
    given, got = (_elements(sizes, f"{place}.{what}") for sizes, what in _sizes(entry))
    either = given if given is not None else got
    if either is None:
        return Call(Fate.EMPTY, RULE, "no tensors")
    sizes = Sizes(either if given is None else given, either if got is None else got, _dtype(entry, place))
    return taken_call(op, sizes, group, job, RULE, place, peer=peer)


def _operation(entry: Entry, place: str) -> str:
    named = annotated_operation(entry.profiling_name)
    if named is None or named[1] in ("send", "recv"):
        raise InputRefusal(
            f"{place}.profiling_name", f"is {entry.profiling_name!r:.60}", "leave the call out with --on-error skip"
        )
    return named[1]


def _peer(own: int, peer: int, group: ProcessGroup, job: Job, place: str) -> int:
    if own >= group.size or peer >= group.size or group.members[own] != job.rank:
        raise InputRefusal(
            f"{place}.profiling_name",
            f"names ranks {own} and {peer} of a group of {group.size} in the dump of rank {job.rank}",
            "check the rank in the file's name, or state it with --rank",
        )
    return group.members[peer]


def _sizes(entry: Entry) -> tuple[tuple[list[Any], str], tuple[list[Any], str]]:
    return (entry.input_sizes, "input_sizes"), (entry.output_sizes, "output_sizes")


def _elements(sizes: list[Any], place: str) -> int | None:
    """Elements of all tensors together, None where there are none."""
    if not sizes:
        return None
    counts = [elements(shape) for shape in sizes]
    if any(count is None for count in counts):
        raise InputRefusal(place, f"are {sizes!r:.60}", "they are lists of whole numbers; dump again")
    return sum(count for count in counts if count is not None)


def _dtype(entry: Entry, place: str) -> str:
    kinds = set(entry.input_dtypes) | set(entry.output_dtypes)
    if len(kinds) != 1:
        found = " and ".join(sorted(kinds)) or "missing"
        raise InputRefusal(f"{place}.input_dtypes", f"are {found}", "leave the call out with --on-error skip")
    return kinds.pop()
