"""Workloads that a campaign replays under two models, side by side: rankings, controls, repeated windows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.canonical import canonical_json
from commcanary.judge.ranking import RANKING_METRICS, relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commcanary.campaign.plan import Plan
    from commcanary.reporting.tables import CellRow, RepresentationRow

MAKESPAN = "makespan_us"


@dataclass(frozen=True)
class RankingRow:
    """How far two models agree about pairs of configurations, by one metric each.

    ``disagreements`` are pairs (left, right, the faster one under each model; null where they tie).
    """

    metrics: str
    agreed: int
    pairs: int
    disagreements: tuple[tuple[str, str, str | None, str | None], ...]


@dataclass(frozen=True)
class ControlRow:
    """One representation under both models: behaviour and ranking, and whether either differs."""

    representation: str
    behavior: tuple[str | None, str | None]
    ranking: tuple[str | None, str | None]

    @property
    def changes(self) -> bool:
        """Whether the models come to different conclusions."""
        return self.behavior[0] != self.behavior[1] or self.ranking[0] != self.ranking[1]


@dataclass(frozen=True)
class PairedWorkload:
    """One trace under two models, in the order of the configuration."""

    names: tuple[str, str]
    models: tuple[str, str]
    rankings: tuple[RankingRow, ...]
    controls: tuple[ControlRow, ...]


@dataclass(frozen=True)
class WindowRow:
    """One configuration and model: median exposed latency of the window repeated, and the makespan per window."""

    model: str
    configuration: str
    medians_us: tuple[float, ...]
    makespans_us: tuple[float | None, ...]


@dataclass(frozen=True)
class ModelsCompared:
    """``windows`` maps nothing where no source is repeated; ``repeats`` are its columns."""

    pairs: tuple[PairedWorkload, ...]
    repeats: tuple[int, ...]
    windows: tuple[WindowRow, ...]


def models_compared(
    plan: Plan, cells: Sequence[CellRow], representations: Sequence[RepresentationRow]
) -> ModelsCompared | None:
    """All workloads of one source under two models; None where a campaign has no such pair."""
    by_source: dict[bytes, dict[str, str]] = {}
    for name in plan.workloads:
        by_source.setdefault(canonical_json(_source(plan, name)), {}).setdefault(plan.model(name), name)
    paired = [found for found in by_source.values() if len(found) == 2]
    if not paired:
        return None
    whole = [found for found in paired if _repeat(plan, found) is None]
    repeats, windows = _windows(plan, cells, [found for found in paired if _repeat(plan, found) is not None])
    return ModelsCompared(tuple(_pair(found, cells, representations) for found in whole), repeats, windows)


def _source(plan: Plan, workload: str) -> dict[str, Any]:
    source: dict[str, Any] = msgspec.to_builtins(plan.workload(workload).source)
    return source


def _repeat(plan: Plan, found: dict[str, str]) -> int | None:
    """How often the source is repeated, where the campaign repeats it at all: then its single copy counts too."""
    source = _source(plan, next(iter(found.values())))
    bare = {**source, "repeat": 1}
    others = (_source(plan, name) for name in plan.workloads)
    if any(other.get("repeat", 1) > 1 and {**other, "repeat": 1} == bare for other in others):
        return int(source.get("repeat", 1))
    return None


def _pair(
    found: dict[str, str], cells: Sequence[CellRow], representations: Sequence[RepresentationRow]
) -> PairedWorkload:
    (one_model, one), (other_model, other) = found.items()
    left, right = _canary(cells, one), _canary(cells, other)
    metrics = [(metric, metric) for metric in RANKING_METRICS]
    if all(cell.makespan_us is not None for cell in right):
        metrics.append(("median_us", MAKESPAN))
    return PairedWorkload(
        names=(one, other),
        models=(one_model, other_model),
        rankings=tuple(_ranking(left, right, *pair) for pair in metrics),
        controls=tuple(_controls(representations, one, other)),
    )


def _canary(cells: Sequence[CellRow], workload: str) -> list[CellRow]:
    """The cells of the workload's first representation: the canary itself."""
    own = [cell for cell in cells if cell.workload == workload]
    return [cell for cell in own if cell.representation == own[0].representation]


def _ranking(left: Sequence[CellRow], right: Sequence[CellRow], one: str, other: str) -> RankingRow:
    ours = {cell.configuration: float(getattr(cell, one)) for cell in left}
    theirs = {cell.configuration: float(getattr(cell, other)) for cell in right}
    pairs = list(combinations([name for name in ours if name in theirs], 2))
    disagreements = []
    for a, b in pairs:
        faster = [_faster(side, a, b) for side in (ours, theirs)]
        if faster[0] != faster[1]:
            disagreements.append((a, b, faster[0], faster[1]))
    metrics = _words(one) if one == other else f"{_words(one)} against {_words(other)}"
    return RankingRow(metrics, len(pairs) - len(disagreements), len(pairs), tuple(disagreements))


def _words(metric: str) -> str:
    return metric.removesuffix("_us")


def _faster(values: dict[str, float], a: str, b: str) -> str | None:
    return {"left": a, "right": b}.get(relation(values[a], values[b], 0.001))


def _controls(rows: Sequence[RepresentationRow], one: str, other: str) -> Iterator[ControlRow]:
    theirs = {row.representation: row for row in rows if row.workload == other}
    for row in rows:
        if row.workload == one and row.representation in theirs:
            second = theirs[row.representation]
            yield ControlRow(
                row.representation,
                (row.behavior_status, second.behavior_status),
                (row.ranking_status, second.ranking_status),
            )


def _windows(
    plan: Plan, cells: Sequence[CellRow], found: Sequence[dict[str, str]]
) -> tuple[tuple[int, ...], tuple[WindowRow, ...]]:
    ordered = sorted(found, key=lambda pair: _repeat(plan, pair) or 1)
    repeats = tuple(_repeat(plan, pair) or 1 for pair in ordered)
    rows = []
    for model in dict.fromkeys(model for pair in ordered for model in pair):
        own = [_canary(cells, pair[model]) for pair in ordered]
        for position, cell in enumerate(own[0]):
            column = [other[position] for other in own]
            spans = [None if c.makespan_us is None else c.makespan_us for c in column]
            rows.append(
                WindowRow(
                    model,
                    cell.configuration,
                    tuple(c.median_us for c in column),
                    tuple(None if us is None else us / n for us, n in zip(spans, repeats, strict=True)),
                )
            )
    return repeats, tuple(rows)
