"""The calls of one profile, with their times and the account of all that was seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace import Coverage
from commcanary.sources.calls.account import coverage_row
from commcanary.sources.calls.call import Call, Fate
from commcanary.sources.calls.rank_calls import RankCalls
from commcanary.sources.kineto.phases import phases_of_calls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import ProcessGroup, Signature
    from commcanary.sources.kineto.call_reader import CallReader

    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class KinetoCalls(RankCalls):
    """The calls of one profile.

    ``record`` is the index of a call's record, -1 for an operator that stands alone, ``mark`` of the annotation
    paired with that operator, -1 for none; ``thread`` issued the call.
    """

    record: Ints
    mark: Ints
    thread: Ints
    recorded: bool
    repaired_quotes: int


def rank_calls(reader: CallReader) -> KinetoCalls:
    """Read every call of the reader's profile.

    Raises ``InputRefusal`` at the first call that cannot be read for certain, unless ``on_error`` is skip.
    """
    profile, job, settings = reader.profile, reader.job, reader.settings
    distinct, code = reader.calls()
    taken = np.asarray([c.fate is Fate.TAKEN for c in distinct], np.bool_)[code]
    spans = ((profile.records, reader.records), (profile.operators, reader.host.operator))
    column = {n: np.concatenate([s.column(n)[i] for s, i in spans]) for n in ("start", "end", "thread", "event")}
    order = np.flatnonzero(taken)
    order = order[np.lexsort((column["event"][order], column["start"][order]))]
    times = _call_times(reader)
    start, end, thread = column["start"][order], column["end"][order], column["thread"][order]
    if settings.phase is None:
        phase, phases = phases_of_calls(profile, start, end, thread, settings.phase_annotations)
    else:
        phase, phases = np.zeros(len(order), np.int64), (settings.phase,)
    keys: dict[tuple[ProcessGroup, Signature], int] = {}
    key_of_distinct = np.asarray(
        [
            UNKNOWN if c.group is None or c.signature is None else keys.setdefault((c.group, c.signature), len(keys))
            for c in distinct
        ],
        np.int64,
    )
    sequence = np.full(len(code), UNKNOWN, np.int64)
    if len(reader.records):
        sequence[: len(reader.records)] = np.frombuffer(profile.record_sequences, np.int64)[reader.records]
    receives = np.asarray([c.receives for c in distinct], np.bool_)
    return KinetoCalls(
        job=job,
        name=profile.name,
        keys=tuple(keys),
        key=key_of_distinct[code[order]],
        receives=receives[code[order]],
        phase=phase,
        phases=phases,
        issue=start,
        kernel_start=times.kernel_start[order],
        end=times.end[order],
        compute_before=times.compute_before[order],
        overlap=times.overlap[order],
        exposed=times.exposed[order],
        sequence=sequence[order],
        event=column["event"][order],
        record=np.concatenate([reader.records, np.full(len(reader.host), UNKNOWN)])[order],
        mark=np.concatenate([np.full(len(reader.records), UNKNOWN), reader.host.annotation])[order],
        thread=thread,
        coverage=tuple(_account(job.rank, distinct, code, times.communication, reader)),
        fates=_fates(distinct, code, reader),
        recorded=bool(len(reader.records)),
        repaired_quotes=profile.repaired_quotes,
    )


@dataclass(frozen=True)
class _CallTimes:
    """Per record, then per stand-alone operator; -1 unknown. ``communication`` is the time behind a call."""

    kernel_start: Ints
    end: Ints
    compute_before: Ints
    overlap: Ints
    exposed: Ints
    communication: Ints


def _call_times(reader: CallReader) -> _CallTimes:
    lane, host = reader.lane, reader.host
    total = len(reader.profile.records)
    linked = lane.record >= 0
    record = lane.record[linked]
    first = np.full(total, np.iinfo(np.int64).max, np.int64)
    np.minimum.at(first, record, lane.start[linked])
    last, before = np.full(total, UNKNOWN, np.int64), np.full(total, UNKNOWN, np.int64)
    np.maximum.at(last, record, lane.end[linked])
    overlap, length = np.zeros(total, np.int64), np.zeros(total, np.int64)
    np.add.at(overlap, record, lane.overlap[linked])
    np.add.at(length, record, lane.durations[linked])
    before[record[::-1]] = lane.compute_before[linked][::-1]  # that of the call's first kernel
    known = last != UNKNOWN
    unknown = np.full(len(host), UNKNOWN, np.int64)

    def joined(of_record: Ints, of_operator: Ints) -> Ints:
        return np.concatenate([np.where(known, of_record, UNKNOWN)[reader.records], of_operator])

    return _CallTimes(
        joined(first, unknown),
        joined(last, host.end),
        joined(before, host.compute_before()),
        joined(overlap, unknown),
        joined(length - overlap, unknown),
        np.maximum(joined(length, host.annotated), 0),
    )


def _fates(distinct: list[Call], code: Ints, reader: CallReader) -> Counter[Fate]:
    fates = Counter({Fate.REFUSED: sum(nesting.refused for nesting in reader.nested.values())})
    for call, count in zip(distinct, np.bincount(code, minlength=len(distinct)).tolist(), strict=True):
        fates[call.fate] += count
    return fates


def _account(rank: int, distinct: list[Call], code: Ints, communication: Ints, reader: CallReader) -> list[Coverage]:
    """Rows of the coverage account: what was read by each rule, what was left and why, and its time."""
    lane = reader.lane
    unlinked = lane.record < 0
    whole = int(communication.sum()) + int(lane.durations[unlinked].sum())
    counted: dict[tuple[str, Fate, str], list[int]] = defaultdict(lambda: [0, 0])
    seen = np.bincount(code, minlength=len(distinct)).tolist()
    time = np.bincount(code, weights=communication, minlength=len(distinct)).tolist()
    for call, count, ns in zip(distinct, seen, time, strict=True):
        row = counted[call.rule, call.fate, call.reason]
        row[0] += count
        row[1] += int(ns)

    def share(ns: int) -> float | None:
        return round(ns / whole, 6) if whole else None

    rows = [
        coverage_row(rank, rule, fate, reason, count, share(ns))
        for (rule, fate, reason), (count, ns) in sorted(counted.items())
    ]
    rows += [
        Coverage(
            rank,
            rule,
            nesting.parts + nesting.refused,
            0,
            skipped=nesting.parts,
            refused=nesting.refused,
            reason="nested: inside another call",
        )
        for rule, nesting in reader.nested.items()
        if nesting.parts or nesting.refused
    ]
    families: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for family, ns in zip(
        [lane.family[i] for i in np.flatnonzero(unlinked)], lane.durations[unlinked].tolist(), strict=True
    ):
        families[family][0] += 1
        families[family][1] += ns
    rows += [
        Coverage(
            rank,
            f"communication kernel: {family}",
            count,
            0,
            unknown=count,
            reason="no record or operator that launched it",
            time_share=share(ns),
        )
        for family, (count, ns) in sorted(families.items())
    ]
    stray = reader.stray_annotations
    if stray:
        rows.append(
            Coverage(
                rank,
                "communication annotation",
                stray,
                0,
                unknown=stray,
                reason="no operator or record that issued it",
            )
        )
    return rows
