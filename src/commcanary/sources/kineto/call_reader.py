"""Every call of one rank's profile, read once per distinct shape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.events import REDUCING
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Call, Fate
from commcanary.sources.kineto.device import communication_lane
from commcanary.sources.kineto.host import HostCalls
from commcanary.sources.kineto.intervals import Disjoint
from commcanary.sources.kineto.nesting import nested_operators, nested_records
from commcanary.sources.kineto.operators import HostCall, annotation_call, operator_call, record_tensors
from commcanary.sources.kineto.records import RULE, call_of_record
from commcanary.sources.kineto.spans import Numbered, Spans
from commcanary.sources.kineto.unnamed import DERIVED_RULE, OPERATOR_RULE, GroupRule, call_of_host

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from commcanary.sources.calls.job import Job
    from commcanary.sources.kineto.rank_profile import HostShape, RankProfile, RecordShape
    from commcanary.sources.kineto.settings import KinetoSettings
    from commcanary.timeline.communication_kernels import CommunicationKernels


class CallReader:
    """The calls of ``profile``: first its outermost records, then the operators that hold no record.

    ``records`` and ``host.operator`` are their indices; ``lane`` holds the communication kernels.
    """

    def __init__(self, profile: RankProfile, job: Job, settings: KinetoSettings, table: CommunicationKernels) -> None:
        self.profile, self.job, self.settings = profile, job, settings
        skip = settings.on_error == "skip"
        self.nested = {
            RULE: nested_records(profile, skip),
            OPERATOR_RULE: nested_operators(profile, skip),
        }
        outer, operators = (self.nested[rule].outer for rule in (RULE, OPERATOR_RULE))
        self.records = np.flatnonzero(outer)
        self.lane = communication_lane(profile, table, outer)
        self._groups = GroupRule(
            settings.process_group, settings.assume_default_group, len(np.unique(self.lane.stream))
        )
        self._holder = Disjoint(profile.operators, operators).containing(
            profile.records.column("thread"), profile.records.column("start")
        )
        alone = operators.copy()
        alone[self._holder[self._holder >= 0]] = False
        record_of_mark = Disjoint(profile.records, outer).containing(
            profile.annotations.column("thread"), profile.annotations.column("start")
        )
        held, first = np.unique(self._holder[self.records], return_index=True)
        self._first_in_operator = dict(zip(held.tolist(), self.records[first].tolist(), strict=True))
        inside = np.flatnonzero(record_of_mark >= 0)[::-1]
        self._mark_of_record = np.full(len(profile.records), -1, np.int64)
        self._mark_of_record[record_of_mark[inside]] = inside  # the first annotation in each record
        self.host = HostCalls(profile, np.flatnonzero(alone), np.flatnonzero(record_of_mark < 0))
        self.stray_annotations = int((record_of_mark < 0).sum() - (self.host.annotation >= 0).sum())
        self._read: dict[Hashable, Call] = {}

    def calls(self) -> tuple[list[Call], NDArray[np.int64]]:
        """Distinct calls, and for each record and operator in the order of the class's text its number.

        Raises ``InputRefusal`` at the first that cannot be read for certain, unless ``on_error`` is skip.
        """
        distinct, code = self._record_calls()
        operators = [self._operator(i) for i in range(len(self.host))]
        numbers: dict[int, int] = {}
        for call in operators:
            if id(call) not in numbers:
                numbers[id(call)] = len(distinct)
                distinct.append(call)
        of_operators = np.asarray([numbers[id(call)] for call in operators], np.int64)
        return distinct, np.concatenate([code, of_operators])

    def _record_calls(self) -> tuple[list[Call], NDArray[np.int64]]:
        """Records that agree in their fields and in what stands around and under them are read once."""
        profile, lane, records = self.profile, self.lane, self.records
        if not len(records):
            return [], np.zeros(0, np.int64)
        kernel = np.full(len(profile.records), -1, np.int64)
        linked = np.flatnonzero(lane.record >= 0)[::-1]
        kernel[lane.record[linked]] = linked  # the first kernel of each record
        words = Numbered()
        pairs = zip(lane.operation, lane.reduction, strict=True)
        word = np.asarray([*(words.number(pair) for pair in pairs), -1], np.int64)
        keys = (
            profile.records.column("code")[records],
            word[kernel][records],
            _code_behind(profile.operators, self._holder)[records],
            _code_behind(profile.annotations, self._mark_of_record)[records],
        )
        mixed = np.zeros(len(records), np.int64)
        for key in keys:
            mixed = mixed * (int(key.max()) + 2) + key + 1
        _, first, code = np.unique(mixed, return_index=True, return_inverse=True)
        distinct: list[Call | None] = [None] * len(first)
        for number in np.argsort(first).tolist():
            record = int(records[first[number]])
            at = int(kernel[record])
            distinct[number] = self._record(
                record, (None, None, False) if at < 0 else (lane.operation[at], lane.reduction[at], True)
            )
        return [call for call in distinct if call is not None], code.reshape(-1).astype(np.int64)

    def _record(self, index: int, kernel: tuple[str | None, str | None, bool]) -> Call:
        """The call of a record; ``kernel`` is the operation and reduction its kernel's name states, if any."""
        kernel_op, reduction, has_kernel = kernel
        shape = self.profile.record_shape(int(self.profile.records.column("code")[index]))
        holder, mark = int(self._holder[index]), int(self._mark_of_record[index])
        place = f"traceEvents[{self.profile.records.column('event')[index]}]"
        host = None if holder < 0 else operator_call(self._shape(self.profile.operators, holder))
        if mark < 0 and not has_kernel and self._first_in_operator.get(holder) != index:
            host = None  # the operator speaks of its first record; a later, bare one is its wait
        marked = None if mark < 0 else annotation_call(self._shape(self.profile.annotations, mark))
        if shape.collective is None:
            read = self._guarded(DERIVED_RULE, lambda: self._unnamed(shape, host, marked, has_kernel, kernel_op, place))
        else:
            read = self._guarded(RULE, lambda: call_of_record(shape, self.job, self.settings.process_group, place))
        return _completed(read, reduction, host)

    def _shape(self, spans: Spans, index: int) -> HostShape:
        shape: HostShape = self.profile.host_shapes.values[int(spans.column("code")[index])]
        return shape

    def _unnamed(
        self,
        shape: RecordShape,
        host: HostCall | None,
        marked: HostCall | None,
        has_kernel: bool,
        kernel_op: str | None,
        place: str,
    ) -> Call:
        """An unnamed record: named by the operator around it, the annotation inside it, or its kernel."""
        if any(value is not None for value in (shape.dtype, shape.in_elements, shape.out_elements, shape.group_size)):
            raise InputRefusal(
                f"{place}.args.Collective name",
                "is missing while the record's other fields are there",
                "export the profile again",
            )
        count, dtype = record_tensors(shape.dims, shape.types)
        if host is None and marked is None and not has_kernel:
            if count is None:
                return Call(Fate.CONTROL, DERIVED_RULE, "unnamed record without tensors or kernel (a wait)")
            raise InputRefusal(place, "a record that nothing names", "leave the call out with --on-error skip")
        op = next((c.op for c in (host, marked) if c is not None), kernel_op)
        if op is None:
            raise InputRefusal(
                place,
                "a record whose operation neither an operator, an annotation nor its kernel's name says",
                "leave the call out with --on-error skip",
            )
        said = HostCall(op) if host is None else host
        if said.in_elements is None and said.out_elements is None:
            given = count if marked is None or marked.in_elements is None else marked.in_elements
            got = given if op not in ("all_gather", "reduce_scatter") else None
            said = replace(said, in_elements=given, out_elements=got)
        spelled = next(
            (t for t in (said.dtype, None if marked is None else marked.dtype, dtype) if t is not None), None
        )
        return call_of_host(said, spelled, self.job, self._groups, DERIVED_RULE, place)

    def _operator(self, position: int) -> Call:
        index = int(self.host.operator[position])
        code = int(self.profile.operators.column("code")[index])
        dtype = self.host.dtype[position]
        key = ("operator", code, dtype)
        known = self._read.get(key)
        if known is None:
            place = f"traceEvents[{self.profile.operators.column('event')[index]}]"
            said = self.host.calls[position]
            known = self._read[key] = self._guarded(
                OPERATOR_RULE,
                lambda: call_of_host(said, dtype, self.job, self._groups, OPERATOR_RULE, place),
            )
        return known

    def _guarded(self, rule: str, read: Callable[[], Call]) -> Call:
        try:
            return read()
        except InputRefusal as refusal:
            if self.settings.on_error == "stop":
                raise
            return Call(Fate.REFUSED, rule, refusal.found)


def _code_behind(spans: Spans, index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Code of the span at each index, -1 where the index is -1."""
    return np.append(spans.column("code"), -1)[index]


def _completed(call: Call, reduction: str | None, host: HostCall | None) -> Call:
    """``call`` with what its kernel's name and the operator around it add."""
    if call.fate is not Fate.TAKEN or call.signature is None or call.group is None:
        return call
    changes: dict[str, object] = {}
    if reduction is not None and call.signature.op in REDUCING:
        changes["reduction_op"] = reduction
    root = None if host is None or host.op != call.signature.op else host.root
    if root is not None and root < call.group.size:
        changes["root_rank"] = call.group.members[root]
    if not changes:
        return call
    return replace(call, signature=msgspec.structs.replace(call.signature, **changes))
