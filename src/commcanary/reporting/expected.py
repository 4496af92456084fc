"""What a campaign declared of its representations and gates before it ran, and what came out otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.reporting.tables import NullCalibrationRow, RepresentationRow


@dataclass(frozen=True)
class Expected:
    """How many outcomes were declared, and the ones that came out otherwise, in words."""

    declared: int
    unmet: tuple[str, ...]


def expected(representations: Sequence[RepresentationRow], gates: Sequence[NullCalibrationRow]) -> Expected:
    """Counted over both tables; where a campaign says nothing of what it expects, nothing is declared."""
    statuses = [row for row in representations if row.expected_status]
    outcomes = [row for row in gates if row.expected_outcome]
    return Expected(
        declared=len(statuses) + len(outcomes),
        unmet=(
            *(f"{row.workload} as {row.representation}" for row in statuses if row.is_unexpected),
            *(f"gate of {row.workload} as {row.representation}" for row in outcomes if row.is_unexpected),
        ),
    )
