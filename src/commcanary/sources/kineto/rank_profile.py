"""The events of one rank's profile that an import needs, as columns of int64 ns.

What repeats (a record's fields, an operator's shapes, a kernel's name) is kept once and numbered.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.operations import annotated_operation, operator_operation
from commcanary.sources.kineto.text import ProfileText
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from decimal import Decimal
    from typing import BinaryIO

    from numpy.typing import NDArray

    from commcanary.sources.kineto.document import Args, Event, Head

_KINDS = {
    "cpu_op": "host",
    "operator": "host",
    "user_annotation": "annotation",
    "kernel": "kernel",
    "cuda_runtime": "launch",
    "cuda_driver": "launch",
    "hip_runtime": "launch",
    "runtime": "launch",
    "privateuse1_runtime": "launch",
}
"""Event categories, in small letters: old exporters capitalised them."""


class RecordShape(NamedTuple):
    """All of a ``record_param_comms`` that repeats from call to call, as it stands in the file."""

    collective: Any
    dtype: Any
    in_elements: Any
    out_elements: Any
    group_size: Any
    group_name: Any
    group_description: Any
    group_ranks: Any
    first_rank: Any
    rank_stride: Any
    rank_in_group: Any
    source_rank: Any
    destination_rank: Any
    dims: str | None
    types: str | None


class HostShape(NamedTuple):
    """Name, tensor shapes, types and scalars of a ``c10d::`` operator or a communication annotation."""

    name: str
    dims: str | None
    types: str | None
    concrete: str | None


@dataclass
class Spans:
    """Intervals in file order: [start, end) in ns, a thread's (or stream's) number, place in the file, a code."""

    start: array[int] = field(default_factory=lambda: array("q"))
    end: array[int] = field(default_factory=lambda: array("q"))
    thread: array[int] = field(default_factory=lambda: array("q"))
    event: array[int] = field(default_factory=lambda: array("q"))
    code: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.start)

    def column(self, name: str) -> NDArray[np.int64]:
        """int64[n]: one of the five columns."""
        return np.frombuffer(getattr(self, name), np.int64) if len(self) else np.zeros(0, np.int64)


class Numbered:
    """Values numbered in the order in which they first appeared."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        """The number of ``value``, a new one where it is new."""
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = len(self.values)
            self.values.append(value)
        return known


class RankProfile:
    """Columns of one profile. ``name`` says where it came from."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.head: Head
        self.threads = Numbered()
        self.records = Spans()
        self.record_shapes = Numbered()
        self.record_ids: list[Any] = []
        self.record_sequences: list[Any] = []
        self.record_comms_ids: list[Any] = []
        self.operators = Spans()
        self.annotations = Spans()
        self.host_shapes = Numbered()
        self.blocks = Spans()
        self.block_names = Numbered()
        self.host = Spans()
        self.kernels = Spans()
        self.kernel_names = Numbered()
        self.kernel_ids: list[tuple[Any, Any]] = []
        self.kernel_devices = array("q")
        self.kernel_collectives: list[bool] = []
        self.launches: dict[Any, tuple[int, int]] = {}

    def add(self, events: list[Event], before: int, ns: Callable[[Any], int]) -> None:
        """Append what matters of ``events``, the first of which is entry ``before`` of the file."""
        kinds = _KINDS
        for number, event in enumerate(events, before):
            if event.ph != "X":
                continue
            kind = kinds.get(event.cat)
            if kind is None:
                kind = kinds.get(event.cat.lower())
                if kind is None:
                    continue
            if event.ts is None or event.dur is None:
                missing = "ts" if event.ts is None else "dur"
                raise InputRefusal(f"traceEvents[{number}].{missing}", "is missing", "export the profile again")
            start = ns(event.ts)
            self._add(kind, event, number, start, start + ns(event.dur))

    def _add(self, kind: str, event: Event, number: int, start: int, end: int) -> None:
        name = event.name
        if kind == "kernel":
            self._add_kernel(event, number, start, end)
            return
        if kind == "launch":
            if event.args is not None and event.args.correlation is not None:
                self.launches[event.args.correlation] = (self._thread(event), start)
            return
        if kind == "host":
            if name == "record_param_comms":
                self._append(self.records, event, number, start, end, self._record(event.args))
            elif name.startswith("c10d::") and operator_operation(name) is not None:
                self._append(self.operators, event, number, start, end, self._host_shape(event))
            else:
                self._append(self.host, event, number, start, end, 0)
        elif annotated_operation(name) is not None:
            self._append(self.annotations, event, number, start, end, self._host_shape(event))
        else:
            self._append(self.blocks, event, number, start, end, self.block_names.number(name))

    def _append(self, spans: Spans, event: Event, number: int, start: int, end: int, code: int) -> None:
        if end < start:
            raise InputRefusal(f"traceEvents[{number}].dur", f"is {event.dur}", "a duration is 0 or more; export again")
        spans.start.append(start)
        spans.end.append(end)
        spans.thread.append(self._thread(event))
        spans.event.append(number)
        spans.code.append(code)

    def _thread(self, event: Event) -> int:
        return self.threads.number((str(event.pid), str(event.tid)))

    def _record(self, args: Args | None) -> int:
        if args is None:
            self.record_ids.append(None)
            self.record_sequences.append(None)
            self.record_comms_ids.append(None)
            return self.record_shapes.number(RecordShape(*[None] * len(RecordShape._fields)))
        self.record_ids.append(args.external_id)
        self.record_sequences.append(args.sequence)
        self.record_comms_ids.append(args.comms_id)
        unnamed = args.collective is None
        return self.record_shapes.number(
            RecordShape(
                args.collective,
                args.dtype,
                args.in_elements if args.in_elements is not None else args.in_elements_2023,
                args.out_elements if args.out_elements is not None else args.out_elements_2023,
                args.group_size,
                args.group_name if args.group_name is not None else args.group_id_2024,
                args.group_description,
                _hashable(args.group_ranks),
                args.first_rank,
                args.rank_stride,
                args.rank_in_group,
                args.source_rank,
                args.destination_rank,
                _text(args.dims) if unnamed else None,
                _text(args.types) if unnamed else None,
            )
        )

    def _host_shape(self, event: Event) -> int:
        args = event.args
        if args is None:
            return self.host_shapes.number(HostShape(event.name, None, None, None))
        return self.host_shapes.number(HostShape(event.name, _text(args.dims), _text(args.types), _text(args.concrete)))

    def _add_kernel(self, event: Event, number: int, start: int, end: int) -> None:
        self._append(self.kernels, event, number, start, end, self.kernel_names.number(event.name))
        args = event.args
        self.kernel_ids.append((None, None) if args is None else (args.external_id, args.correlation))
        self.kernel_collectives.append(args is not None and args.collective is not None)
        device = event.pid if args is None or args.device is None else args.device
        self.kernel_devices.append(self.threads.number(("device", str(device))))


def read_profile(name: str, stream: BinaryIO) -> RankProfile:
    """Columns of the profile in ``stream``; raises ``InputRefusal`` where it cannot be one."""
    profile = RankProfile(name)
    text = ProfileText(stream)
    before = 0
    for events in text.slices():
        try:
            profile.add(events, before, _exact_ns if text.exact else _ns)
        except OverflowError as error:
            raise InputRefusal(
                f"traceEvents[{before}...]", "holds a time stamp beyond 2^63 ns", "export the profile again"
            ) from error
        before += len(events)
    profile.head = text.head
    return profile


def _ns(us: float) -> int:
    return round(us * NS_PER_US)


def _exact_ns(us: Decimal) -> int:
    return round(us * NS_PER_US)


def _hashable(value: Any) -> Any:
    return _text(value) if isinstance(value, (list, dict)) else value


def _text(value: Any) -> str | None:
    """Lists of shapes and types as text, so that equal ones are equal keys."""
    if value is None or isinstance(value, str):
        return value
    import msgspec

    return msgspec.json.encode(value).decode()
