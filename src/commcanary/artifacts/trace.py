"""The trace: what a real job communicated, one row per logical collective occurrence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Signature
from commcanary.artifacts.stored import Lineage, SourceFile, Stored
from commcanary.artifacts.trace_ids import given_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRACE_FORMAT = "commcanary.trace.v1"


class Coverage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an importer saw and what became of it, for one rank and one rule.

    ``seen = taken + skipped + refused + unknown`` in records; ``time_share`` is the share of the rank's
    communication time behind the rule, null where the profile has no times for it.
    """

    rank: int | None
    rule: str
    seen: int
    taken: int
    skipped: int = 0
    refused: int = 0
    unknown: int = 0
    reason: str = ""
    time_share: float | None = None


class TraceHeader(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=TRACE_FORMAT,
):
    """What a trace says beside its rows.

    ``unknown`` gives the reason for every field that some rows do not know; ``assumptions`` the values
    that the user declared in place of unknown ones. ``notes`` and ``source_files`` lie outside the
    content id.
    """

    workload: dict[str, Any] = {}
    system: dict[str, Any] = {}
    groups: tuple[ProcessGroup, ...] = ()
    lineage: Lineage | None = None
    unknown: dict[str, str] = {}
    assumptions: dict[str, float] = {}
    coverage: tuple[Coverage, ...] = ()
    notes: dict[str, Any] = {}
    source_files: tuple[SourceFile, ...] = ()


@dataclass(frozen=True)
class Trace:
    """Header and rows of a trace. ``start_ns`` is int64[n], -1 where a row has no start.

    ``ids`` and ``metadata`` (canonical JSON text) are None where no row has any.
    Groups and signatures are numbered by first use, so that equal rows give equal content.
    """

    header: TraceHeader
    events: Events
    start_ns: NDArray[np.int64]
    ids: tuple[str | None, ...] | None = None
    metadata: tuple[str | None, ...] | None = None

    @classmethod
    def of(
        cls,
        header: TraceHeader,
        events: Events,
        start_ns: NDArray[np.int64] | None = None,
        ids: tuple[str | None, ...] | None = None,
        metadata: tuple[str | None, ...] | None = None,
    ) -> Trace:
        """A trace whose groups and signatures are numbered by first use; the header lists the same groups."""
        numbered = replace(numbered_by_first_use(events), gaps_known="gap_us" not in header.unknown)
        starts = np.full(len(events), UNKNOWN, np.int64) if start_ns is None else start_ns
        return cls(
            msgspec.structs.replace(header, groups=numbered.groups),
            numbered,
            starts,
            given_ids(ids),
            None if metadata is None or all(x is None for x in metadata) else metadata,
        )

    def __len__(self) -> int:
        return len(self.events)

    @cached_property
    def stored(self) -> Stored[TraceHeader]:
        """Header and table; those that the trace was read from, where it was."""
        from commcanary.artifacts.trace_table import to_stored

        return to_stored(self)

    @property
    def content_id(self) -> str:
        """Hex content id, the same in both containers."""
        return self.stored.content_id

    @property
    def workload_name(self) -> str:
        """The workload's name, or ``unnamed``."""
        return str(self.header.workload.get("name", "unnamed"))

    def derived(self, index: NDArray[np.int64], method: str, **workload: Any) -> Trace:
        """The rows at ``index`` as a trace whose lineage names this one (or the original it came from).

        Absolute starts are dropped: the rows keep their own gaps, which no longer follow from starts.
        """
        lineage = self.header.lineage or Lineage(self.content_id, method, len(self))
        if lineage.method != method:
            lineage = msgspec.structs.replace(lineage, method=f"{lineage.method}+{method}")
        header = msgspec.structs.replace(
            self.header,
            lineage=lineage,
            workload={**self.header.workload, **workload},
            coverage=(),
            source_files=(),
            notes={},
        )
        return Trace.of(
            header,
            self.events.take(index),
            ids=None,
            metadata=None if self.metadata is None else tuple(self.metadata[int(i)] for i in index),
        )


def numbered_by_first_use(events: Events) -> Events:
    """The same events with unused signatures and groups dropped, equal ones merged, numbered by first use."""
    signature_number = np.zeros(len(events.signatures), np.int32)
    group_number: dict[ProcessGroup, int] = {}
    number_of: dict[Signature, int] = {}
    for position in _first_uses(events.signature):
        signature = events.signatures[position]
        group = group_number.setdefault(events.groups[signature.group], len(group_number))
        own = signature if group == signature.group else msgspec.structs.replace(signature, group=group)
        signature_number[position] = number_of.setdefault(own, len(number_of))
    return replace(
        events,
        groups=tuple(group_number),
        signatures=tuple(number_of),
        signature=signature_number[events.signature],
    )


def _first_uses(codes: NDArray[np.int32]) -> list[int]:
    values, first = np.unique(codes, return_index=True)
    return [int(values[i]) for i in np.argsort(first, kind="stable")]
