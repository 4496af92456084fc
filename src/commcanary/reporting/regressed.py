"""What regressed, as rows for the page: each canary's comparisons, and what the controls would have said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.reporting.tables import CANARY, CellGroup, change_pct, groups_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commcanary.reporting.tables import CellRow


@dataclass(frozen=True)
class ComparedRow:
    """One cell of a canary; the changes are null for the baseline itself, and where the baseline is 0."""

    cell: CellRow
    median_change_pct: float | None
    p95_change_pct: float | None
    p99_change_pct: float | None
    makespan_change_pct: float | None


@dataclass(frozen=True)
class ComparedGroup:
    """The rows of one canary."""

    title: str
    baseline: str
    rows: tuple[ComparedRow, ...]

    @property
    def has_makespans(self) -> bool:
        """Whether the group's model says how long a run takes."""
        return all(row.cell.makespan_us is not None for row in self.rows)


@dataclass(frozen=True)
class Said:
    """A representation's verdict on one configuration, and whether the canary's is another."""

    cell: CellRow
    differs: bool


@dataclass(frozen=True)
class RegressedWorkload:
    """One workload: its canaries' rows, and the verdict of every representation per configuration."""

    name: str
    groups: tuple[ComparedGroup, ...]
    representations: tuple[str, ...]
    verdicts: tuple[tuple[str, tuple[Said | None, ...]], ...]


def regressed_workloads(names: Iterable[str], cells: Sequence[CellRow]) -> tuple[RegressedWorkload, ...]:
    """One entry per workload of ``names``, in that order, whether or not it has a canary."""
    groups = groups_of(cells, CANARY)
    return tuple(
        _regressed(name, [g for g in groups if g.workload == name], [c for c in cells if c.workload == name])
        for name in names
    )


def _regressed(name: str, groups: Sequence[CellGroup], cells: Sequence[CellRow]) -> RegressedWorkload:
    representations = tuple(dict.fromkeys(cell.representation for cell in cells))
    compared = [cell for cell in cells if not cell.is_baseline]
    canary = {cell.configuration: cell.verdict for cell in reversed(compared) if cell.method == CANARY}
    found = {
        (c.configuration, c.representation): Said(c, canary.get(c.configuration, c.verdict) != c.verdict)
        for c in compared
    }
    configurations = dict.fromkeys(cell.configuration for cell in compared)
    return RegressedWorkload(
        name=name,
        groups=tuple(_compared(group) for group in groups),
        representations=representations,
        verdicts=tuple((c, tuple(found.get((c, r)) for r in representations)) for c in configurations),
    )


def _compared(group: CellGroup) -> ComparedGroup:
    baseline = group.baseline
    rows = []
    for cell in group.cells:
        p95, makespan = None, None
        if baseline is not None and not cell.is_baseline:
            p95 = change_pct(baseline.p95_us, cell.p95_us)
            if baseline.makespan_us is not None and cell.makespan_us is not None:
                makespan = change_pct(baseline.makespan_us, cell.makespan_us)
        rows.append(ComparedRow(cell, cell.median_delta_pct, p95, cell.p99_delta_pct, makespan))
    return ComparedGroup(group.title, group.cells[0].baseline, tuple(rows))
