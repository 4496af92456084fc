"""What tests ask of an imported trace: its events, and an account that closes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commcanary.artifacts.events import Signature
    from commcanary.artifacts.trace import Trace


def check_account(trace: Trace) -> None:
    """Each row closes, gives a reason for what was not taken, and no event comes from nowhere."""
    assert trace.header.coverage
    for row in trace.header.coverage:
        assert row.seen == row.taken + row.skipped + row.refused + row.unknown, row
        assert row.taken == row.seen or row.reason, row
    assert sum(row.taken for row in trace.header.coverage) >= len(trace)


def signatures(trace: Trace) -> list[Signature]:
    """The signature of every event in order."""
    return [trace.events.signatures[i] for i in trace.events.signature]


def rows(trace: Trace) -> list[tuple[str, int]]:
    """Operation and bytes of every event in order."""
    return [(s.op, s.bytes) for s in signatures(trace)]


def account(trace: Trace) -> dict[tuple[int | None, str], tuple[int, int, int, int, int]]:
    """seen, taken, skipped, refused and unknown by rank and rule."""
    found: dict[tuple[int | None, str], tuple[int, int, int, int, int]] = {}
    for row in trace.header.coverage:
        before = found.get((row.rank, row.rule), (0, 0, 0, 0, 0))
        mine = (row.seen, row.taken, row.skipped, row.refused, row.unknown)
        found[row.rank, row.rule] = tuple(a + b for a, b in zip(before, mine, strict=True))  # type: ignore[assignment]
    return found
