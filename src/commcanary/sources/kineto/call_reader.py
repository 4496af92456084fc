"""Every call of one rank's profile, read once per distinct shape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.call import Call, Fate
from commcanary.sources.kineto.device import communication_lane
from commcanary.sources.kineto.host import HostCalls
from commcanary.sources.kineto.intervals import Disjoint, outermost
from commcanary.sources.kineto.operations import REDUCING
from commcanary.sources.kineto.operators import HostCall, annotation_call, operator_call, record_tensors
from commcanary.sources.kineto.records import RULE, call_of_record
from commcanary.sources.kineto.unnamed import DERIVED_RULE, OPERATOR_RULE, GroupRule, call_of_host

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from commcanary.sources.kineto.job import Job
    from commcanary.sources.kineto.rank_profile import RankProfile, RecordShape
    from commcanary.sources.kineto.settings import KinetoSettings
    from commcanary.timeline.communication_kernels import CommunicationKernels


class CallReader:
    """The calls of ``profile``: first its outermost records, then the operators that hold no record.

    ``records`` and ``host.operator`` are their indices; ``lane`` holds the communication kernels.
    """

    def __init__(self, profile: RankProfile, job: Job, settings: KinetoSettings, table: CommunicationKernels) -> None:
        self.profile, self.job, self.settings = profile, job, settings
        outer = outermost(profile.records)
        self.records = np.flatnonzero(outer)
        self.nested_records = int(len(outer) - len(self.records))
        self.lane = communication_lane(profile, table, outer)
        self._groups = GroupRule(
            settings.process_group, settings.assume_default_group, len(np.unique(self.lane.stream))
        )
        operators = outermost(profile.operators)
        self._holder = Disjoint(profile.operators, operators).containing(
            profile.records.column("thread"), profile.records.column("start")
        )
        alone = operators.copy()
        alone[self._holder[self._holder >= 0]] = False
        record_of_mark = Disjoint(profile.records, outer).containing(
            profile.annotations.column("thread"), profile.annotations.column("start")
        )
        inside = np.flatnonzero(record_of_mark >= 0)
        self._mark_of_record = dict(zip(record_of_mark[inside[::-1]].tolist(), inside[::-1].tolist(), strict=True))
        self.host = HostCalls(profile, np.flatnonzero(alone), np.flatnonzero(record_of_mark < 0))
        self.stray_annotations = int((record_of_mark < 0).sum() - (self.host.annotation >= 0).sum())
        self._kernels_of_record = self._first_kernels()
        self._read: dict[Hashable, Call] = {}

    def calls(self) -> list[Call]:
        """One ``Call`` per record and operator, in the order of the class's text.

        Raises ``InputRefusal`` at the first that cannot be read for certain, unless ``on_error`` is skip.
        """
        read = [self._record(i) for i in self.records.tolist()]
        return read + [self._operator(i) for i in range(len(self.host))]

    def _first_kernels(self) -> dict[int, int]:
        kernels = np.flatnonzero(self.lane.record >= 0)[::-1]
        return dict(zip(self.lane.record[kernels].tolist(), kernels.tolist(), strict=True))

    def _record(self, index: int) -> Call:
        code = self.profile.records.code[index]
        kernel = self._kernels_of_record.get(index)
        reduction = None if kernel is None else self.lane.reduction[kernel]
        holder = self._holder[index]
        operator = -1 if holder < 0 else self.profile.operators.code[holder]
        mark = self._mark_of_record.get(index, -1)
        kernel_op = None if kernel is None else self.lane.operation[kernel]
        shape = self.profile.record_shapes.values[code]
        key: tuple[Hashable, ...] = (code, reduction, operator)
        if shape.collective is None:
            marked = -1 if mark < 0 else self.profile.annotations.code[mark]
            key = (*key, marked, kernel_op, kernel is None)
        known = self._read.get(key)
        if known is not None:
            return known
        place = f"traceEvents[{self.profile.records.event[index]}]"
        host = None if operator < 0 else operator_call(self.profile.host_shapes.values[operator])
        if shape.collective is None:
            read = self._guarded(
                DERIVED_RULE, lambda: self._unnamed(shape, host, mark, kernel is not None, kernel_op, place)
            )
        else:
            read = self._guarded(RULE, lambda: call_of_record(shape, self.job, self.settings.process_group, place))
        self._read[key] = completed = _completed(read, reduction, host)
        return completed

    def _unnamed(
        self,
        shape: RecordShape,
        host: HostCall | None,
        mark: int,
        has_kernel: bool,
        kernel_op: str | None,
        place: str,
    ) -> Call:
        """An unnamed record: named by the operator around it, the annotation inside it, or its kernel."""
        marked = (
            None if mark < 0 else annotation_call(self.profile.host_shapes.values[self.profile.annotations.code[mark]])
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
        code = self.profile.operators.code[index]
        dtype = self.host.dtype[position]
        key = ("operator", code, dtype)
        known = self._read.get(key)
        if known is None:
            place = f"traceEvents[{self.profile.operators.event[index]}]"
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
