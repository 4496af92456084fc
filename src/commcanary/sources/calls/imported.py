"""What an import gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_checks import check_trace
from commcanary.sources.calls.call import Fate

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from commcanary.artifacts.trace import TraceHeader
    from commcanary.sources.calls.merging import Merged


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

    @classmethod
    def of(
        cls,
        header: TraceHeader,
        merged: Merged,
        fates: Counter[Fate],
        counts: Sequence[str] = (),
        metadata: tuple[str | None, ...] | None = None,
    ) -> Imported:
        """The checked trace of ``merged`` events; raises ``InputRefusal`` for one that no reader would take."""
        trace = Trace.of(header, merged.events, merged.start_ns, metadata=metadata)
        check_trace(trace.events, trace.start_ns)
        return cls(trace, fates[Fate.CONTROL], fates[Fate.EMPTY], fates[Fate.REFUSED], tuple(counts))

    @property
    def summary(self) -> str:
        """The line that a command prints."""
        refused = f", {self.refused} refused" if self.refused else ""
        return (
            f"imported {len(self.trace)} collective events "
            f"(skipped {self.control} control, {self.empty} empty{refused})"
        )
