"""How the calls that a source saw are accounted for: rows of the coverage account, and what was left out in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.trace import Coverage
from commcanary.sources.calls.call import Fate

if TYPE_CHECKING:
    from collections.abc import Mapping


def coverage_row(
    rank: int, rule: str, fate: Fate, reason: str, count: int, time_share: float | None = None
) -> Coverage:
    """``count`` calls of one rank that had one fate for one reason; what is not taken or refused was skipped."""
    stated = fate in (Fate.TAKEN, Fate.REFUSED)
    return Coverage(
        rank,
        rule,
        count,
        count if fate is Fate.TAKEN else 0,
        skipped=0 if stated else count,
        refused=count if fate is Fate.REFUSED else 0,
        reason=reason if stated else f"{fate}: {reason}",
        time_share=time_share,
    )


def but_seen(fates: Mapping[Fate, int]) -> str:
    """`` but 2 control, 1 empty``, behind what was not found; nothing where nothing was seen."""
    seen = ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()) if count)
    return f" but {seen}" if seen else ""
