"""A reconciliation in lines: what closes, what does not, and what each source says that it left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.judge.reconciliation import Reconciliation


def reconciliation_lines(found: Reconciliation) -> Iterator[str]:
    """One line a row, then what differs first, then what was left out."""
    closed = sum(row.closes for row in found.rows)
    verdict = "closes" if found.closes else "does not close"
    yield f"reconciliation {verdict}: {closed} of {len(found.rows)} counts are equal in all sources"
    for row in found.rows:
        counts = ", ".join(
            f"{source.name} {'-' if count is None else count}"
            for source, count in zip(found.sources, row.counts, strict=True)
        )
        state = "closes" if row.closes else f"short: {', '.join(row.short)}"
        yield f"- {row.op} of {row.bytes:,} bytes on {_ranks(row.ranks)}: {counts}; {state}"
    for difference in found.first_differences:
        told = "; ".join(difference.told)
        yield f"first difference on {_ranks(difference.ranks)} at event {difference.index}: {told}"
    for source in found.sources:
        for line in source.left_out:
            yield f"{source.name} left out: {line}"


def _ranks(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    return f"ranks {shown}"
