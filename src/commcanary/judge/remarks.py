"""What a reader of a behaviour verification should know of how it was asked: tests that nothing could fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.judge.ranking import NOT_APPLICABLE, TIE
from commcanary.judge.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.judge.behavior import ConfigurationBehavior, HeldOut
    from commcanary.judge.ranking import Ranking

_DEFAULTS = Tolerances()
_WHOLE = 100.0
_SILENT = "a canary without any would pass"


def remarks(
    tolerances: Tolerances,
    configurations: tuple[ConfigurationBehavior, ...],
    ranking: Ranking,
    held_out: HeldOut | None,
) -> Iterator[str]:
    """One line each: tolerances that are not the defaults, those that nothing can fail, rankings without an order."""
    stated = [
        f"{name} {getattr(tolerances, name):g} (default {getattr(_DEFAULTS, name):g})"
        for name in Tolerances.__struct_fields__
        if getattr(tolerances, name) != getattr(_DEFAULTS, name)
    ]
    if stated:
        yield f"tolerances are not the defaults: {', '.join(stated)}"
    yield from _toothless(tolerances, configurations)
    yield from _unranked("", ranking, len(configurations))
    if held_out is not None:
        yield from _unranked("held out: ", held_out.ranking, len(held_out.configurations))


def _toothless(tolerances: Tolerances, configurations: tuple[ConfigurationBehavior, ...]) -> Iterator[str]:
    if tolerances.relative_pct >= _WHOLE:
        yield f"relative_pct {tolerances.relative_pct:g} tests no latency: {_SILENT}"
    largest = max((_largest_us(configuration) for configuration in configurations), default=0.0)
    if 0 < largest <= tolerances.absolute_us:
        yield (
            f"absolute_us {tolerances.absolute_us:g} tests no latency: the largest of the source is {largest:g} us, "
            f"and {_SILENT}"
        )
    makespan = any(check.name == "makespan_us" for c in configurations for check in c.checks)
    if makespan and tolerances.makespan_pct >= _WHOLE:
        yield f"makespan_pct {tolerances.makespan_pct:g} tests no makespan: {_SILENT}"
    if tolerances.hidden_points >= _WHOLE:
        yield f"hidden_points {tolerances.hidden_points:g} tests no hidden share: it is at most 100"
    if tolerances.tail_recall == 0:
        yield "tail_recall 0 tests no tail: a canary with other slow events would pass"


def _largest_us(configuration: ConfigurationBehavior) -> float:
    return max((check.source or 0.0 for check in configuration.checks if check.name == "max_us"), default=0.0)


def _unranked(prefix: str, ranking: Ranking, count: int) -> Iterator[str]:
    if ranking.status == NOT_APPLICABLE:
        yield f"{prefix}ranking is {NOT_APPLICABLE}: {count} configuration has no order, give two or more"
    elif all(pair.source_relation == TIE for pair in ranking.pairwise):
        yield (
            f"{prefix}ranking tests no order: within {ranking.tie_tolerance_us:g} us every pair of configurations ties"
            " in the source"
        )
