"""The events of one rank's profile that an import needs, as columns of int64 ns.

What repeats (a record's fields, an operator's shapes, a kernel's name) is kept once and numbered.
"""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from commcanary.sources.kineto.document import Args
from commcanary.sources.kineto.operations import annotated_operation, operator_operation
from commcanary.sources.kineto.spans import Numbered, Spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.kineto.document import Event, Head

_KINDS = {
    "cpu_op": "host",
    "operator": "host",
    "user_annotation": "annotation",
    "kernel": "kernel",
    "gpu_memcpy": "memory",
    "gpu_memset": "memory",
    "cuda_runtime": "launch",
    "cuda_driver": "launch",
    "hip_runtime": "launch",
    "runtime": "launch",
    "privateuse1_runtime": "launch",
}
"""Event categories, in small letters: old exporters capitalised them."""


_PARTS = ("record", "operator", "host", "mark", "block", "kernel", "memory", "launch")

NO_ID = -1
"""Where an event carries no identifier."""


class RecordShape(NamedTuple):
    """All of a ``record_param_comms`` that repeats from call to call, as it stands in the file.

    ``on_kernel``: the fields stood on a kernel, and the profile has no record for it.
    """

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
    on_kernel: bool


_NAME = attrgetter("name")
_RANKS_AT = RecordShape._fields.index("group_ranks")


class HostShape(NamedTuple):
    """Name, tensor shapes, types and scalars of a ``c10d::`` operator or a communication annotation."""

    name: str
    dims: str | None
    types: str | None
    concrete: str | None


class RankProfile:
    """Columns of one profile. ``name`` says where it came from.

    Per record: ``record_ids`` (External id) and ``record_sequences`` (Seq), ``NO_ID`` where there is none.
    ``kernel_shapes`` are the record shapes of kernels that carry a record's fields, ``NO_ID`` for others.
    ``memory`` are copies and memsets. ``launches`` are the host's launches; their code is the correlation.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.head: Head
        self.repaired_quotes = 0
        self.threads = Numbered()
        self.records = Spans()
        self.record_shapes = Numbered()
        self.record_ids = array("q")
        self.record_sequences = array("q")
        self.operators = Spans()
        self.annotations = Spans()
        self.host_shapes = Numbered()
        self.blocks = Spans()
        self.block_names = Numbered()
        self.host = Spans()
        self.host_names = Numbered()
        self.kernels = Spans()
        self.kernel_names = Numbered()
        self.kernel_ids = array("q")
        self.kernel_correlations = array("q")
        self.kernel_devices = array("q")
        self.kernel_shapes = array("q")
        self.kernel_sequences = array("q")
        self.memory = Spans()
        self.memory_devices = array("q")
        self.memory_correlations = array("q")
        self.launches = Spans()

    def add(self, events: list[Any], before: int) -> None:
        """Append what matters of ``events``, the first of which is entry ``before`` of the file."""
        found: dict[str, tuple[list[Any], list[int]]] = {kind: ([], []) for kind in _PARTS}
        known: dict[tuple[str, str], tuple[list[Any], list[int]] | None] = {}
        for number, event in enumerate(events, before):
            if event.ph == "X":
                key = (event.cat, event.name)
                if key not in known:
                    kind = _part_of(event.cat, event.name)
                    known[key] = None if kind is None else found[kind]
                bucket = known[key]
                if bucket is not None:
                    bucket[0].append(event)
                    bucket[1].append(number)
        self._add_records(*found["record"])
        for kind, spans in (("operator", self.operators), ("mark", self.annotations)):
            self._extend(spans, *found[kind], [self._host_shape(event) for event in found[kind][0]])
        self._extend(self.host, *found["host"], self.host_names.of(map(_NAME, found["host"][0])))
        self._extend(self.blocks, *found["block"], self.block_names.of(map(_NAME, found["block"][0])))
        self._add_kernels(*found["kernel"])
        self._add_memory(*found["memory"])
        launches = found["launch"][0]
        self._extend(self.launches, *found["launch"], _ids([(e.args or _NO_ARGS).correlation for e in launches]))

    def _add_records(self, events: list[Any], numbers: list[int]) -> None:
        args = [event.args or _NO_ARGS for event in events]
        self._extend(self.records, events, numbers, [self._record(a) for a in args])
        self.record_ids.extend(_ids([a.external_id for a in args]))
        self.record_sequences.extend(_ids([a.sequence for a in args]))

    def _add_kernels(self, events: list[Any], numbers: list[int]) -> None:
        self._extend(self.kernels, events, numbers, self.kernel_names.of(map(_NAME, events)))
        args = [event.args or _NO_ARGS for event in events]
        self.kernel_ids.extend(_ids([a.external_id for a in args]))
        self.kernel_correlations.extend(_ids([a.correlation for a in args]))
        self.kernel_shapes.extend(NO_ID if a.collective is None else self._record(a, on_kernel=True) for a in args)
        self.kernel_sequences.extend(_ids([a.sequence for a in args]))
        self.kernel_devices.extend(self._devices(events))

    def _add_memory(self, events: list[Any], numbers: list[int]) -> None:
        self._extend(self.memory, events, numbers, self.kernel_names.of(map(_NAME, events)))
        self.memory_correlations.extend(_ids([(e.args or _NO_ARGS).correlation for e in events]))
        self.memory_devices.extend(self._devices(events))

    def _devices(self, events: list[Any]) -> list[int]:
        """Number of the device that each event ran on, in the table of threads."""
        devices = [e.pid if e.args is None or e.args.device is None else e.args.device for e in events]
        return self.threads.of([("device", str(device)) for device in devices])

    def _extend(self, spans: Spans, events: list[Any], numbers: list[int], codes: Sequence[int]) -> None:
        if not events:
            return
        known: dict[Any, int] = {}
        threads = []
        for event in events:
            key = (event.pid, event.tid)
            try:
                thread = known.get(key)
                if thread is None:
                    thread = known[key] = self.threads.number((str(key[0]), str(key[1])))
            except TypeError:  # a list or object where a number should be
                thread = self.threads.number((str(key[0]), str(key[1])))
            threads.append(thread)
        spans.extend(events, numbers, threads, codes)

    def _record(self, a: Args, on_kernel: bool = False) -> int:
        unnamed = a.collective is None
        shape = (
            a.collective,
            a.dtype,
            a.in_elements if a.in_elements is not None else a.in_elements_2023,
            a.out_elements if a.out_elements is not None else a.out_elements_2023,
            a.group_size,
            a.group_name if a.group_name is not None else a.group_id_2024,
            a.group_description,
            a.group_ranks,
            a.first_rank,
            a.rank_stride,
            a.rank_in_group,
            a.source_rank,
            a.destination_rank,
            _text(a.dims) if unnamed else None,
            _text(a.types) if unnamed else None,
            on_kernel,
        )
        try:
            return self.record_shapes.number(shape)
        except TypeError:  # lists, which have no hash: only that of the ranks may be one
            text = [("list", _compact(v)) if isinstance(v, (list, dict)) else v for v in shape]
            text[_RANKS_AT] = _compact(a.group_ranks) if isinstance(a.group_ranks, list) else text[_RANKS_AT]
            return self.record_shapes.number(tuple(text))

    def _host_shape(self, event: Event) -> int:
        args = event.args or _NO_ARGS
        return self.host_shapes.number(HostShape(event.name, _text(args.dims), _text(args.types), _text(args.concrete)))

    def adopt_kernels(self) -> None:
        """Make records of kernels that carry a record's fields while the profile has no such record.

        That is what a profile of device activity alone looks like. Kernels of one External id are one call,
        issued, as far as can be told, when its first kernel starts.
        """
        if all(code == NO_ID for code in self.kernel_shapes):
            return
        recorded = set(self.record_ids)
        calls: dict[int, list[int]] = {}
        for kernel, code in enumerate(self.kernel_shapes):
            identity = self.kernel_ids[kernel]
            if code != NO_ID and (identity == NO_ID or identity not in recorded):
                calls.setdefault(identity if identity != NO_ID else -2 - kernel, []).append(kernel)
        columns = [self.kernels.column(name).tolist() for name in ("start", "end", "thread", "event")]
        for identity, kernels in calls.items():
            first = min(kernels, key=lambda kernel: columns[0][kernel])
            end = max(columns[1][kernel] for kernel in kernels)
            self.records.append(columns[0][first], end, columns[2][first], columns[3][first], self.kernel_shapes[first])
            self.record_ids.append(identity)
            self.record_sequences.append(self.kernel_sequences[first])
            for kernel in kernels:
                self.kernel_ids[kernel], self.kernel_correlations[kernel] = identity, NO_ID

    def record_shape(self, code: int) -> RecordShape:
        """The fields behind a record's code."""
        return RecordShape(*self.record_shapes.values[code])


_NO_ARGS = Args()


def _part_of(category: str, name: str) -> str | None:
    """Which of ``_PARTS`` the events of a category and name belong to; None for those that do not matter."""
    kind = _KINDS.get(category.lower())
    if kind == "host":
        if name == "record_param_comms":
            return "record"
        return "operator" if name.startswith("c10d::") and operator_operation(name) is not None else "host"
    if kind == "annotation":
        return "block" if annotated_operation(name) is None else "mark"
    return kind


def _ids(values: list[Any]) -> array[int]:
    """Identifiers as int64, also where they are text; ``NO_ID`` for none. Only their equality matters."""
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        return array("q", map(_id, values))


def _id(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 21:
        value = int(value)
    if not isinstance(value, int) or not 0 <= value < 2**64:
        return NO_ID
    return value if value < 2**63 else value - 2**64  # unsigned 64-bit ids keep their bits


def _text(value: msgspec.Raw) -> str | None:
    """Lists of shapes and types as compact text, so that equal ones are equal keys; None where absent.

    What cannot be decoded (a number too large) stays as it stands: whoever needs it finds no shape in it.
    """
    if not memoryview(value).nbytes:
        return None
    try:
        found = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return bytes(value).decode()
    return found if found is None or isinstance(found, str) else _compact(found)


def _compact(value: Any) -> str:
    return msgspec.json.encode(value).decode()
