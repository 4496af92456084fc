"""Which representations can be trusted, as rows for the page, and the campaign's verdicts counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.judge.behavior import VERIFIED
from commcanary.reporting.tables import CANARIES, CANARY
from commcanary.reporting.words import Tone, tone_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commcanary.reporting.tables import CellRow, RepresentationRow

_ORDER = (Tone.BAD, Tone.CAUTION, Tone.NEUTRAL, Tone.GOOD)


@dataclass(frozen=True)
class TrustedRow:
    """One representation's facts, and a remark where a control does better than it was made to."""

    facts: RepresentationRow
    remark: str | None

    @property
    def kind(self) -> str:
        """``canary`` or ``control``."""
        return "canary" if self.facts.method in CANARIES else "control"

    @property
    def short_remark(self) -> str | None:
        """For the page's first table: that a control passes, or that a status is not the expected one."""
        told = []
        if self.remark is not None:
            passed = "everything" if self.facts.status == VERIFIED else "behaviour and ranking"
            told.append(f"this control passes {passed}")
        if self.facts.is_unexpected:
            told.append("not as expected")
        return ", ".join(told) or None


@dataclass(frozen=True)
class Headline:
    """The campaign in counts: canary verdicts and behaviour statuses."""

    verdicts: tuple[tuple[str, int], ...]
    statuses: tuple[tuple[str, int], ...]


def trusted_workloads(rows: Sequence[RepresentationRow]) -> tuple[tuple[str, tuple[TrustedRow, ...]], ...]:
    """(workload, its representations), in the order of the table."""
    names = dict.fromkeys(row.workload for row in rows)
    return tuple((name, tuple(TrustedRow(r, remark(r)) for r in rows if r.workload == name)) for name in names)


def remark(row: RepresentationRow) -> str | None:
    """What must be said of a control that passes, wholly or in behaviour and ranking."""
    if row.method in CANARIES:
        return None
    if row.status == VERIFIED:
        return "This control passes: it is verified like a canary."
    if row.behaves_alike:
        return (
            "This control passes the behaviour and ranking checks: on this workload it behaves like its source, "
            "though it is not the source."
        )
    return None


def headline(cells: Iterable[CellRow], representations: Sequence[RepresentationRow]) -> Headline:
    """Counts over the whole campaign, worst first."""
    verdicts = Counter(cell.verdict for cell in cells if cell.method == CANARY and cell.verdict)
    statuses = Counter(row.status for row in representations if row.status)
    return Headline(
        verdicts=_worst_first(verdicts),
        statuses=_worst_first(statuses),
    )


def _worst_first(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (_ORDER.index(tone_of(item[0])), item[0])))
