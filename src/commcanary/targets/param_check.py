"""A dry acceptance check of a basic trace: the rules of the format, and what each consumer would replay.

No PARAM is needed. The rules are those of train/comms/pt's basic parser and of its tensors' shapes: what
they refuse ends a replay with an error, or worse, is skipped or cut without a word. They are stricter in
two points: every entry names its process group, and messages are not batched.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.targets.param_consumers import CONSUMERS, FATAL, Consumer, class_counts, faults_of
from commcanary.targets.param_format import (
    PARAM_DTYPES,
    RECEIVES,
    REPLAYED,
    SENDS,
    SIZED_COLLECTIVES,
    UNSIZED,
    Entry,
)
from commcanary.targets.param_progress import partners, standstill

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_COMPUTE = ("gemm", "emb_lookup")
_EVENLY_SPLIT = {"all_to_all": ("in_msg_size", "out_msg_size"), "all_to_all_single": ("in_msg_size",)}


class BrokenRule(msgspec.Struct, frozen=True):
    """An entry (its index; None for the whole array) that breaks a rule of the format."""

    entry: int | None
    found: str


class Breakage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A consumer's fault and the number of entries that it hits; the commits that brought and ended it."""

    entry_class: str
    entries: int
    effect: str
    since: str | None
    until: str | None
    what: str


class ConsumerVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the ``entries`` (init left out) one consumer would replay, and on what it breaks.

    ``replays`` is 0 where a fault ends the run: the warm-up goes through the whole trace, so nothing is
    measured.
    """

    consumer: str
    commit: str
    entries: int
    replays: int
    breaks_on: tuple[Breakage, ...]


def check_array(document: object) -> tuple[BrokenRule, ...]:
    """Every rule of the format that ``document`` (decoded JSON) breaks; empty where it breaks none."""
    if not isinstance(document, list):
        return (BrokenRule(None, "the top level is no list"),)
    groups: dict[Any, Entry] = {}
    broken: list[BrokenRule] = []
    for index, entry in enumerate(document):
        fault = _shapeless(entry) or (_init_fault(entry, groups) if entry.get("comms") == "init" else None)
        if fault:
            broken.append(BrokenRule(index, fault))
    if broken:
        return tuple(broken)
    reqs: dict[Any, int] = {}
    for index, entry in enumerate(document):
        if entry.get("comms") not in (None, "init"):
            broken.extend(BrokenRule(index, found) for found in _faults(entry, groups, reqs, index, document))
    if broken:
        return tuple(broken)
    broken.extend(_message_faults(document))
    if not broken:
        broken.extend(BrokenRule(index, "some rank stands still here for ever") for index in standstill(document))
    return tuple(broken)


def verdict(entries: Sequence[Entry], consumer: Consumer) -> ConsumerVerdict:
    """What ``consumer`` makes of ``entries``, an array that breaks no rule."""
    counts = class_counts(entries)
    total = counts["any"]
    hits = [(fault, counts[fault.entry_class]) for fault in faults_of(consumer) if counts[fault.entry_class]]
    lost = sum(count for fault, count in hits if fault.effect == "not replayed")
    fatal = any(fault.effect in FATAL for fault, _ in hits)
    return ConsumerVerdict(
        consumer.name,
        consumer.commit,
        total,
        0 if fatal else total - lost,
        tuple(Breakage(fault.entry_class, n, fault.effect, fault.since, fault.until, fault.what) for fault, n in hits),
    )


def verdicts(entries: Sequence[Entry]) -> tuple[ConsumerVerdict, ...]:
    """The verdicts of all ``CONSUMERS``."""
    return tuple(verdict(entries, consumer) for consumer in CONSUMERS)


def replayed_on(entries: Sequence[Entry], rank: int) -> dict[str, int]:
    """Entries per operation that ``rank`` itself executes, in a consumer that breaks on none of them.

    A rank outside an entry's group passes over it; of a message it executes its own end. This is what
    PARAM's ``replayedCommsPerf.rankN.json`` must show.
    """
    members = {e["pg_id"]: set(e["global_ranks"]) for e in entries if e.get("comms") == "init"}
    counts: Counter[str] = Counter()
    for entry in entries:
        comms = entry.get("comms", "compute")
        if comms == "init" or (comms != "compute" and rank not in members[entry["pg_id"]]):
            continue
        if (comms in SENDS and entry["src_rank"] != rank) or (comms in RECEIVES and entry["dst_rank"] != rank):
            continue
        counts[comms] += 1
    return dict(sorted(counts.items()))


def _shapeless(entry: object) -> str | None:
    if not isinstance(entry, dict):
        return "is no object"
    if "compute" in entry:
        return None if entry["compute"] in _COMPUTE else f"compute {entry['compute']!r} is unknown to PARAM"
    comms = entry.get("comms")
    if not isinstance(comms, str):
        return "has neither comms nor compute"
    if comms != "init" and comms not in REPLAYED:
        return f"comms {comms!r} is unknown to PARAM, which skips it without a word"
    return None


def _init_fault(entry: Entry, groups: dict[Any, Entry]) -> str | None:
    ranks = entry.get("global_ranks")
    if "pg_id" not in entry or not isinstance(ranks, list) or not ranks or len(set(ranks)) < len(ranks):
        return "init needs pg_id and global_ranks, each rank once"
    if entry.get("world_size") != len(ranks):
        return f"world_size is {entry.get('world_size')} for {len(ranks)} global_ranks"
    if entry["pg_id"] in groups:
        return f"pg_id {entry['pg_id']} has two init entries"
    groups[entry["pg_id"]] = entry
    return None


def _faults(
    entry: Entry, groups: Mapping[Any, Entry], reqs: dict[Any, int], index: int, document: Sequence[Entry]
) -> Iterator[str]:
    group = groups.get(entry.get("pg_id"))
    if group is None:
        yield f"pg_id {entry.get('pg_id')} has no init entry"
        return
    comms, req = entry["comms"], entry.get("req")
    if comms == "wait":
        if req not in reqs:
            yield f"waits for req {req}, which no earlier entry has"
        return
    if req in reqs and not _other_end(entry, document[reqs[req]]):
        yield f"req {req} is taken by entry {reqs[req]}"
    reqs[req] = index
    if comms in UNSIZED:
        return
    if entry.get("world_size") != group["world_size"]:
        yield f"world_size is {entry.get('world_size')} on a group of {group['world_size']}"
        return
    sizes = [entry.get("in_msg_size"), entry.get("out_msg_size")]
    if not all(isinstance(size, int) and size >= 0 for size in sizes):
        yield f"in_msg_size and out_msg_size are {sizes[0]} and {sizes[1]}"
        return
    if str(entry.get("dtype")).lower() not in PARAM_DTYPES:
        yield f"dtype {entry.get('dtype')!r} is not one of {', '.join(PARAM_DTYPES)}"
    if comms in SIZED_COLLECTIVES:
        yield from _size_faults(entry, group["world_size"])
    else:
        yield from _end_faults(entry, group["global_ranks"])


def _size_faults(entry: Entry, ranks: int) -> Iterator[str]:
    comms, into, out = entry["comms"], entry["in_msg_size"], entry["out_msg_size"]
    if comms in ("all_gather", "all_gather_base", "gather") and out != into * ranks:
        yield f"out_msg_size is {out}, not {ranks} times in_msg_size {into}"
    if comms in ("reduce_scatter", "reduce_scatter_base", "scatter") and into != out * ranks:
        yield f"in_msg_size is {into}, not {ranks} times out_msg_size {out}"
    for name in _EVENLY_SPLIT.get(comms, ()):
        if entry[name] % ranks:
            yield f"{name} {entry[name]} is not divisible by {ranks}: PARAM drops the remainder"
    if comms == "all_to_allv":
        for name in ("in_split", "out_split"):
            if not isinstance(entry.get(name), list):
                yield f"{name} is missing"
    if entry.get("root") is not None and not isinstance(entry["root"], int):
        yield f"root is {entry['root']!r}"


def _end_faults(entry: Entry, ranks: Sequence[int]) -> Iterator[str]:
    ends = [entry.get("src_rank"), entry.get("dst_rank")]
    if not all(end in ranks for end in ends) or ends[0] == ends[1]:
        yield f"src_rank {ends[0]} and dst_rank {ends[1]} are no two ranks of the group"
    if entry.get("use_batch") is not False:
        yield f"use_batch is {entry.get('use_batch')}: batched messages are not read here"


def _other_end(entry: Entry, earlier: Entry) -> bool:
    ends = {entry["comms"], earlier["comms"]}
    return ends in ({"send", "recv"}, {"isend", "irecv"})


def _message_faults(entries: Sequence[Entry]) -> Iterator[BrokenRule]:
    met = partners(entries)
    for index, entry in enumerate(entries):
        if entry.get("comms") not in SENDS | RECEIVES:
            continue
        if index not in met:
            yield BrokenRule(index, f"{entry['comms']} without its other end")
            continue
        other = entries[met[index]]
        if (entry["in_msg_size"], entry["dtype"]) != (other["in_msg_size"], other["dtype"]):
            yield BrokenRule(index, f"its other end, entry {met[index]}, has another size or dtype")
