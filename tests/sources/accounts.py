"""What every account of an import keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace


def check_account(trace: Trace) -> None:
    """Each row closes, gives a reason for what was not taken, and no event comes from nowhere."""
    assert trace.header.coverage
    for row in trace.header.coverage:
        assert row.seen == row.taken + row.skipped + row.refused + row.unknown, row
        assert row.taken == row.seen or row.reason, row
    assert sum(row.taken for row in trace.header.coverage) >= len(trace)
