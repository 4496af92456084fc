"""Which versions of PARAM break on which entries of a basic trace.

Commits are those of facebookresearch/param. A consumer is a version of a replayer; it has a fault when it
contains the commit that brought it and not the one that ended it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from commcanary.targets.param_format import PARAM_DTYPES, RECEIVES, REPLAYED, SENDS, UNSIZED, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Effect = Literal["ends the run", "stands still", "not replayed", "replayed differently"]
Mode = Literal["blocking", "non-blocking"]
Tool = Literal["train", "et_replay"]
FATAL: frozenset[Effect] = frozenset({"ends the run", "stands still"})

P2P = "4ce22b7"
BROADCAST_FIX = "8b87afd"
TRITON = "3369d5e"
WAITS_SKIPPED = "f3b1968"
DEVICE_TIME = "fb81f66"
NO_BASIC = "c85f1b5"


@dataclass(frozen=True, slots=True)
class ConsumerFault:
    """One fault: the entries it hits, what happens, and the commits that brought and ended it (None: always
    there, never ended). ``mode`` is the mode of replay that it needs, ``mended_by_launcher`` says that our
    launcher, which sets class attributes that PARAM reads but never sets, takes it away.
    """

    entry_class: str
    effect: Effect
    since: str | None
    until: str | None
    what: str
    mode: Mode | None = None
    mended_by_launcher: bool = False
    tool: Tool = "train"


CONSUMER_FAULTS = (
    ConsumerFault("any", "ends the run", NO_BASIC, None, "et_replay reads execution traces only", tool="et_replay"),
    ConsumerFault(
        "any",
        "ends the run",
        DEVICE_TIME,
        None,
        "AttributeError at start-up: args.use_device_time is never defined",
        mended_by_launcher=True,
    ),
    ConsumerFault(
        "broadcast",
        "ends the run",
        BROADCAST_FIX,
        None,
        "AttributeError: srcOrDst is never set from a basic entry's root",
        mended_by_launcher=True,
    ),
    ConsumerFault(
        "broadcast of unknown root on a group without rank 0",
        "ends the run",
        BROADCAST_FIX,
        None,
        "the launcher lets rank 0 stand in for an unknown root, which is no member here",
    ),
    ConsumerFault(
        "broadcast from another root than rank 0",
        "replayed differently",
        None,
        BROADCAST_FIX,
        "always broadcast from global rank 0",
    ),
    ConsumerFault(
        "broadcast on a group without rank 0",
        "ends the run",
        None,
        BROADCAST_FIX,
        "always broadcast from global rank 0, which is no member here",
    ),
    ConsumerFault("point-to-point", "ends the run", None, P2P, "TypeError: no send and recv in a trace yet"),
    ConsumerFault(
        "point-to-point on a group of more than two ranks",
        "stands still",
        P2P,
        None,
        "a barrier of the whole group stands round a message of two ranks",
        mode="blocking",
    ),
    ConsumerFault(
        "isend and irecv",
        "stands still",
        P2P,
        None,
        "with gloo: a message that was waited for is waited for again at the end of the pass, for ever",
        mode="non-blocking",
    ),
    ConsumerFault(
        "wait",
        "not replayed",
        WAITS_SKIPPED,
        None,
        "blocking mode skips waits, so that every operation counts as needed at once; --z is ignored without "
        "the launcher and the mode is always blocking",
        mode="blocking",
    ),
    ConsumerFault(
        "gemm",
        "ends the run",
        TRITON,
        None,
        "AttributeError: use_triton is never set",
        mended_by_launcher=True,
    ),
    ConsumerFault(
        "dtype without a PARAM name", "ends the run", None, None, "KeyError (int64, uint64, 8-bit floats, ...)"
    ),
    ConsumerFault("unknown operation", "not replayed", None, None, "skipped without a word, exit code 0"),
)
"""Each row was seen in a run with gloo on one to three ranks."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """A version of a replayer: the commits of ``CONSUMER_FAULTS`` that it contains, and how it is started."""

    name: str
    commit: str
    contains: frozenset[str]
    mode: Mode
    launcher: bool = False
    tool: Tool = "train"


_BEFORE_DEVICE_TIME = frozenset({P2P, BROADCAST_FIX, TRITON, WAITS_SKIPPED})
_HEAD = _BEFORE_DEVICE_TIME | {DEVICE_TIME}

CONSUMERS = (
    Consumer("train/comms/pt", "1e115ff", _HEAD, "blocking"),
    Consumer("train/comms/pt with launcher", "1e115ff", _HEAD, "non-blocking", launcher=True),
    Consumer("train/comms/pt with launcher, --z 1", "1e115ff", _HEAD, "blocking", launcher=True),
    Consumer("train/comms/pt before fb81f66", "5ffdb3d", _BEFORE_DEVICE_TIME, "blocking"),
    Consumer("train/comms/pt before 8b87afd", "83f5cff", frozenset({P2P}), "non-blocking"),
    Consumer("train/comms/pt before 4ce22b7", "74646e6", frozenset(), "non-blocking"),
    Consumer("et_replay comm_replay", "1e115ff", frozenset({NO_BASIC}), "non-blocking", tool="et_replay"),
)
"""The versions that an export's account speaks of, run with gloo."""


def faults_of(consumer: Consumer) -> tuple[ConsumerFault, ...]:
    """The faults that ``consumer`` has."""
    return tuple(
        fault
        for fault in CONSUMER_FAULTS
        if fault.tool == consumer.tool
        and (fault.since is None or fault.since in consumer.contains)
        and (fault.until is None or fault.until not in consumer.contains)
        and not (fault.mended_by_launcher and consumer.launcher)
        and fault.mode in (None, consumer.mode)
    )


def classes_of(entry: Entry, members: Mapping[Any, Sequence[int]]) -> Iterator[str]:
    """The entry classes of ``CONSUMER_FAULTS`` that an entry falls into; ``members`` are the groups' ranks."""
    yield "any"
    if "compute" in entry:
        yield str(entry["compute"])
        return
    comms = entry["comms"]
    ranks = members.get(entry.get("pg_id"), ())
    if comms not in REPLAYED:
        yield "unknown operation"
    elif comms not in UNSIZED and str(entry["dtype"]).lower() not in PARAM_DTYPES:
        yield "dtype without a PARAM name"
    if comms == "wait":
        yield "wait"
    elif comms in SENDS or comms in RECEIVES:
        yield "point-to-point"
        if comms in ("isend", "irecv"):
            yield "isend and irecv"
        if len(ranks) > 2:
            yield "point-to-point on a group of more than two ranks"
    elif comms == "broadcast":
        yield "broadcast"
        if entry.get("root", 0) != 0:
            yield "broadcast from another root than rank 0"
        if ranks and 0 not in ranks:
            yield "broadcast on a group without rank 0"
            if "root" not in entry:
                yield "broadcast of unknown root on a group without rank 0"


def class_counts(entries: Sequence[Entry]) -> Counter[str]:
    """Entries (init left out) per class."""
    members = {e["pg_id"]: e["global_ranks"] for e in entries if e.get("comms") == "init"}
    return Counter(name for entry in entries if entry.get("comms") != "init" for name in classes_of(entry, members))
