"""All that ran on a rank's devices, or - where it has none - on its host, in one table of rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.host_lanes import communicating_marks, computing_stretches
from commcanary.sources.kineto.launches import Launches
from commcanary.sources.kineto.operations import CONTROL, annotated_operation
from commcanary.sources.kineto.spans import Numbered
from commcanary.timeline.kernels import UNKNOWN, Lane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.device import CommunicationLane
    from commcanary.sources.kineto.rank_profile import RankProfile
    from commcanary.timeline.communication_kernels import CommunicationKernels

    Ints = NDArray[np.int64]

BY_RECORD = "named by its record"
ON_HOST = "operator on the host"
MARK = "annotation of the backend"
COPIES = "copy or memset"
NO_RULE = "no rule: compute"


@dataclass(frozen=True)
class Rows:
    """Columns int64[n] as in ``Kernels``. ``device`` numbers the profile's threads; ``thread`` and ``launch``
    are where and when the host launched the row, -1 unknown. ``record`` is the record behind a
    communication kernel. ``rule`` and ``name`` number ``rules`` and ``names``.
    """

    start: Ints
    end: Ints
    lane: Ints
    name: Ints
    stream: Ints
    rule: Ints
    device: Ints
    thread: Ints
    launch: Ints
    record: Ints


def device_rows(
    profile: RankProfile, table: CommunicationKernels, communication: CommunicationLane
) -> tuple[Rows, Numbered]:
    """Kernels, copies and memsets; the rules that claimed them."""
    kernels, memory = profile.kernels, profile.memory
    rules = Numbered()
    family = [table.family(name) for name in profile.kernel_names.values]
    rule_of_name = np.asarray([rules.number(NO_RULE if f is None else f) for f in family], np.int64)
    record = np.full(len(kernels), UNKNOWN, np.int64)
    record[communication.kernel] = communication.record
    lane = np.full(len(kernels), Lane.COMPUTE, np.int64)
    lane[communication.kernel] = Lane.COMMUNICATION
    rule = rule_of_name[kernels.column("code")] if len(kernels) else np.zeros(0, np.int64)
    no_rule = rules.number(NO_RULE)
    rule[(rule == no_rule) & (lane == Lane.COMMUNICATION)] = rules.number(BY_RECORD)
    correlations = (profile.kernel_correlations, profile.memory_correlations)
    launched = Launches(profile.launches).of(np.concatenate([np.frombuffer(c, np.int64) for c in correlations]))
    thread, launch = (np.full(len(launched.known), UNKNOWN, np.int64) for _ in range(2))
    thread[launched.known], launch[launched.known] = launched.thread, launched.time
    count = len(memory)
    joined = {n: np.concatenate([kernels.column(n), memory.column(n)]) for n in ("start", "end", "code", "thread")}
    rows = Rows(
        start=joined["start"],
        end=joined["end"],
        lane=np.concatenate([lane, np.full(count, Lane.MEMORY, np.int64)]),
        name=joined["code"],
        stream=joined["thread"],
        rule=np.concatenate([rule, np.full(count, rules.number(COPIES), np.int64)]),
        device=np.concatenate([np.frombuffer(d, np.int64) for d in (profile.kernel_devices, profile.memory_devices)]),
        thread=thread,
        launch=launch,
        record=np.concatenate([record, np.full(count, UNKNOWN, np.int64)]),
    )
    return _ordered(rows), rules


def host_rows(profile: RankProfile) -> tuple[Rows, Numbered, tuple[str, ...]]:
    """Operators and transfers on the host, the rules that claimed them, and all their names.

    ``record`` numbers the annotation behind a transfer. A transfer's launch is not known here.
    """
    start, end, thread, code = computing_stretches(profile)
    marks = communicating_marks(profile)
    spans = profile.annotations
    names = (*profile.host_names.values, *(shape.name for shape in profile.host_shapes.values))
    rules = Numbered()
    compute, communication = rules.number(ON_HOST), rules.number(MARK)
    one, other = np.ones(len(start), np.int64), np.ones(len(marks), np.int64)
    rows = Rows(
        start=np.concatenate([start, spans.column("start")[marks]]),
        end=np.concatenate([end, spans.column("end")[marks]]),
        lane=np.concatenate([one * Lane.COMPUTE, other * Lane.COMMUNICATION]),
        name=np.concatenate([code, spans.column("code")[marks] + len(profile.host_names.values)]),
        stream=np.concatenate([thread, spans.column("thread")[marks]]),
        rule=np.concatenate([one * compute, other * communication]),
        device=np.zeros(len(start) + len(marks), np.int64),
        thread=np.concatenate([thread, other * UNKNOWN]),
        launch=np.concatenate([start, other * UNKNOWN]),
        record=np.concatenate([one * UNKNOWN, marks]),
    )
    return _ordered(rows), rules, names


def kind_of_mark(name: str) -> str:
    """Operation of a backend's annotation; a barrier moves nothing but its ranks wait in it."""
    named = annotated_operation(name)
    assert named is not None  # only such annotations are transfers
    return "barrier" if named[1] == CONTROL else named[1]


def _ordered(rows: Rows) -> Rows:
    order = np.argsort(rows.start, kind="stable")
    return Rows(**{field.name: getattr(rows, field.name)[order] for field in fields(rows)})
