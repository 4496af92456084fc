"""Hold the counts of several sources of one job against each other: per operation, ranks and size."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from commcanary.errors import UsageError
from commcanary.judge.reconciliation import Account, CountRow, FirstDifference, Reconciliation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.artifacts.trace import Trace

Key = tuple[str, tuple[int, ...], int]
_ONE_END = frozenset({"send", "recv"})


def reconcile(traces: Mapping[str, Trace]) -> Reconciliation:
    """What the sources behind ``traces`` (by name) counted of one job.

    Group names differ from source to source, so events are told apart by their ranks. A message of which a source
    saw one end counts like one of which it saw both. Raises ``UsageError`` for fewer than two sources.
    """
    if len(traces) < 2:
        raise UsageError("a reconciliation holds sources against each other: give two traces or more")
    programs = {name: _program(trace) for name, trace in traces.items()}
    counted = {name: Counter(program) for name, program in programs.items()}
    seen = {name: _ranks_seen(trace) for name, trace in traces.items()}
    keys = sorted({key for counts in counted.values() for key in counts})
    rows = tuple(_row(key, counted, seen) for key in keys)
    return Reconciliation(
        closes=all(row.closes for row in rows),
        sources=tuple(
            Account(
                name=name,
                content_id=trace.content_id,
                events=len(trace),
                ranks=None if seen[name] is None else tuple(sorted(seen[name] or ())),
                left_out=_left_out(trace),
            )
            for name, trace in traces.items()
        ),
        rows=rows,
        first_differences=_first_differences(programs, seen),
    )


def _program(trace: Trace) -> list[Key]:
    """Operation, ranks and bytes of every event in order."""
    keys: list[Key] = []
    for signature in trace.events.signatures:
        op = "point_to_point" if signature.op in _ONE_END else signature.op
        keys.append((op, trace.events.group_of(signature).members, signature.bytes))
    return [keys[number] for number in trace.events.signature.tolist()]


def _ranks_seen(trace: Trace) -> frozenset[int] | None:
    """The ranks whose calls the source saw; None where its header does not say."""
    said = trace.header.system.get("profiled_ranks")
    if isinstance(said, list) and all(isinstance(rank, int) for rank in said):
        return frozenset(said)
    listed = {row.rank for row in trace.header.coverage if row.rank is not None}
    return frozenset(listed) or None


def _row(key: Key, counted: Mapping[str, Counter[Key]], seen: Mapping[str, frozenset[int] | None]) -> CountRow:
    op, ranks, size = key
    counts = tuple(
        None if (mine := seen[name]) is not None and not mine & set(ranks) else counts_of[key]
        for name, counts_of in counted.items()
    )
    there = [count for count in counts if count is not None]
    most = max(there)
    return CountRow(
        op=op,
        ranks=ranks,
        bytes=size,
        counts=counts,
        closes=len(set(there)) == 1,
        short=tuple(name for name, count in zip(counted, counts, strict=True) if count is not None and count < most),
    )


def _left_out(trace: Trace) -> tuple[str, ...]:
    """What the source's own account says that it did not take, but control calls and empty ones."""
    told = []
    for row in trace.header.coverage:
        outside = row.skipped if row.reason.startswith("outside") else 0
        count = row.unknown + row.refused + outside
        if count:
            told.append(f"rank {row.rank}: {count} x {row.rule}: {row.reason}")
    return tuple(told)


def _first_differences(
    programs: Mapping[str, list[Key]], seen: Mapping[str, frozenset[int] | None]
) -> tuple[FirstDifference, ...]:
    """For each set of ranks the first place at which the sources' sequences differ."""
    of_ranks: dict[tuple[int, ...], dict[str, list[Key]]] = defaultdict(dict)
    for ranks in sorted({key[1] for program in programs.values() for key in program}):
        for name, program in programs.items():
            mine = seen[name]
            if mine is None or mine & set(ranks):
                # messages run beside collectives, so their order among those is nobody's promise
                of_ranks[ranks][name] = [key for key in program if key[1] == ranks and key[0] != "point_to_point"]
    found = []
    for ranks, sequences in of_ranks.items():
        longest = max(len(sequence) for sequence in sequences.values())
        for index in range(longest):
            told = {name: sequence[index] if index < len(sequence) else None for name, sequence in sequences.items()}
            if len(set(told.values())) > 1:
                words = tuple(
                    f"{name}: {'nothing' if key is None else f'{key[0]} of {key[2]:,} bytes'}"
                    for name, key in told.items()
                )
                found.append(FirstDifference(ranks=ranks, index=index, told=words))
                break
    return tuple(found)
