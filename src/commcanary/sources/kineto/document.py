"""The parts of a profile that an import reads, typed for msgspec; all else is skipped unread.

Duplicate keys: the last one wins, as in every JSON reader that the profiler's users have.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
from msgspec import field


class Args(msgspec.Struct, gc=False):
    """``args`` of an event. Names and types changed over the years, so values stay as they are in the file.

    Every operator has shapes, few operators' shapes matter: they stay undecoded, empty where absent.
    """

    external_id: Any = field(default=None, name="External id")
    correlation: Any = None
    stream: Any = None
    device: Any = None
    collective: Any = field(default=None, name="Collective name")
    dtype: Any = None
    in_elements: Any = field(default=None, name="In msg nelems")
    out_elements: Any = field(default=None, name="Out msg nelems")
    in_elements_2023: Any = field(default=None, name="In msg size")
    out_elements_2023: Any = field(default=None, name="Out msg size")
    group_size: Any = field(default=None, name="Group size")
    group_name: Any = field(default=None, name="Process Group Name")
    group_description: Any = field(default=None, name="Process Group Description")
    group_id_2024: Any = field(default=None, name="Process Group ID")
    group_ranks: Any = field(default=None, name="Process Group Ranks")
    first_rank: Any = field(default=None, name="Global rank start")
    rank_stride: Any = field(default=None, name="Global rank stride")
    rank_in_group: Any = field(default=None, name="Rank")
    source_rank: Any = field(default=None, name="Src Rank")
    destination_rank: Any = field(default=None, name="Dst Rank")
    sequence: Any = field(default=None, name="Seq")
    comms_id: Any = field(default=None, name="Comms Id")
    dims: msgspec.Raw = field(default=msgspec.Raw(), name="Input Dims")
    types: msgspec.Raw = field(default=msgspec.Raw(), name="Input type")
    concrete: msgspec.Raw = field(default=msgspec.Raw(), name="Concrete Inputs")


class Event(msgspec.Struct, gc=False):
    """One entry of ``traceEvents``; ``ts`` and ``dur`` in microseconds, whatever ``displayTimeUnit`` says."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Any = None
    tid: Any = None
    ts: int | float | None = None
    dur: int | float | None = None
    args: Args | None = None


class ExactEvent(msgspec.Struct, gc=False):
    """The same with decimal times, for time stamps that a float64 cannot hold to the nanosecond."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Any = None
    tid: Any = None
    ts: Decimal | None = None
    dur: Decimal | None = None
    args: Args | None = None


class Head(msgspec.Struct):
    """What stands beside ``traceEvents``. ``nodes`` and ``schema`` give an execution trace away."""

    distributedInfo: Any = None  # noqa: N815 - the file's own key
    baseTimeNanoseconds: Any = None  # noqa: N815
    nodes: msgspec.Raw = msgspec.Raw()
    schema: Any = None

    def updated(self, later: Head) -> Head:
        """This head with what ``later`` (from further down the file) says instead."""
        given = {n: v for n in Head.__struct_fields__ if (v := getattr(later, n)) is not None}
        return msgspec.structs.replace(self, **given)


class Ending(Head):
    """The last events and the keys after them."""

    traceEvents: list[Event] = []  # noqa: N815


class ExactEnding(Head):
    """The same with decimal times."""

    traceEvents: list[ExactEvent] = []  # noqa: N815
