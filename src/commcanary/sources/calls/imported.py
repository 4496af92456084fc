"""What an import gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace


@dataclass(frozen=True)
class Imported:
    """A trace and the counts of its import: calls per rank that were control (wait, barrier) or empty.

    ``counts`` are further lines for the user, each with two views of one thing side by side.
    """

    trace: Trace
    control: int
    empty: int
    refused: int
    counts: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The line that a command prints."""
        refused = f", {self.refused} refused" if self.refused else ""
        return (
            f"imported {len(self.trace)} collective events "
            f"(skipped {self.control} control, {self.empty} empty{refused})"
        )
