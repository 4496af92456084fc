"""Events: the columns that a trace and an expanded canary share, and that every model replays.

One entry per logical collective occurrence, in program order. What repeats (operation, bytes, group,
phase, ...) is a ``Signature``; what varies from occurrence to occurrence is a NumPy column. In the
integer columns -1 means *unknown* or *not given*; files write null there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

UNKNOWN = -1
"""In integer columns: not known, or not given."""

STANDARD_OPS = frozenset(
    {
        "all_reduce",
        "reduce_scatter",
        "all_gather",
        "all_to_all",
        "broadcast",
        "send",
        "recv",
        "point_to_point",
    }
)

REDUCING = frozenset({"all_reduce", "reduce_scatter", "reduce"})
"""Operations that have an operator."""

ROOTED = frozenset({"broadcast", "reduce", "gather", "scatter"})
"""Operations that have a root."""


class ProcessGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A named, ordered set of global ranks. ``ranks`` is a count when they are 0, 1, ..., count - 1."""

    name: str
    ranks: int | tuple[int, ...]

    @classmethod
    def of(cls, name: str, members: Sequence[int]) -> ProcessGroup:
        """The group of ``members`` in their order, with the shorter form of ``ranks`` where it applies."""
        ordered = tuple(members)
        return cls(name, len(ordered) if ordered == tuple(range(len(ordered))) else ordered)

    @property
    def members(self) -> tuple[int, ...]:
        """The global ranks, in the group's order."""
        return tuple(range(self.ranks)) if isinstance(self.ranks, int) else self.ranks

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self.ranks if isinstance(self.ranks, int) else len(self.ranks)


class Signature(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """All of an event but its timing. ``group`` is an index into the artifact's process groups.

    Written without what its defaults say: a signature without ``group`` runs on the first one.
    """

    # omit_defaults compares by identity: only None, booleans, small integers and "" may be defaults here
    op: str
    bytes: int
    group: int = 0
    phase: str = ""
    sender_rank: int | None = None
    receiver_rank: int | None = None
    tag: str | None = None
    channel: str | None = None
    concurrent_groups: int = 1
    custom_op: bool = False
    dtype: str | None = None
    root_rank: int | None = None
    reduction_op: str | None = None
    in_elements: int | None = None
    out_elements: int | None = None


@dataclass(frozen=True, slots=True)
class Ragged:
    """One list of integers per event: event i owns ``values[bounds[i]:bounds[i + 1]]``.

    ``bounds`` has n + 1 entries; ``known[i]`` is False where the list itself is unknown (then it is empty).
    """

    values: NDArray[np.int64]
    bounds: NDArray[np.int64]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, lists: Sequence[Sequence[int] | None]) -> Ragged:
        """Columns of plain Python lists, None where unknown."""
        lengths = np.fromiter((0 if x is None else len(x) for x in lists), np.int64, len(lists))
        flat = [value for x in lists if x is not None for value in x]
        return cls(
            np.asarray(flat, dtype=np.int64),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            np.fromiter((x is not None for x in lists), np.bool_, len(lists)),
        )

    @classmethod
    def unknown(cls, count: int) -> Ragged:
        """``count`` unknown lists."""
        return cls(np.zeros(0, np.int64), np.zeros(count + 1, np.int64), np.zeros(count, np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[Ragged]) -> Ragged:
        """The lists of all ``parts``, one part after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            np.concatenate([part.known for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.known)

    def part(self, start: int, stop: int) -> Ragged:
        """The lists from ``start`` to ``stop``, values shared."""
        bounds = self.bounds[start : stop + 1]
        return Ragged(self.values[bounds[0] : bounds[-1]], bounds - bounds[0], self.known[start:stop])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64[n]: entries per list."""
        return np.diff(self.bounds)

    def row(self, index: int) -> list[int] | None:
        """The list of one event, or None where unknown."""
        if not self.known[index]:
            return None
        return [int(v) for v in self.values[self.bounds[index] : self.bounds[index + 1]]]

    def largest(self) -> NDArray[np.int64]:
        """int64[n]: the largest entry per list; 0 for empty lists, ``UNKNOWN`` for unknown ones."""
        result = np.zeros(len(self), np.int64)
        filled = self.lengths > 0
        if filled.any():
            result[filled] = np.maximum.reduceat(self.values, self.bounds[:-1][filled])
        result[~self.known] = UNKNOWN
        return result

    def take(self, index: NDArray[np.int64]) -> Ragged:
        """The lists at ``index``, in that order (repeats allowed)."""
        lengths = self.lengths[index]
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        within = np.arange(bounds[-1], dtype=np.int64) - np.repeat(bounds[:-1], lengths)
        return Ragged(self.values[np.repeat(self.bounds[:-1][index], lengths) + within], bounds, self.known[index])


@dataclass(frozen=True, slots=True)
class Events:
    """Columns of n events in program order. Times are int64 ns; -1 is unknown or not given.

    ``gap_ns`` is the distance between the first arrivals of an event and its predecessor; where ``gaps_known``
    is false (a source without times), its zeros are placeholders and no replay may use them.
    ``offsets_ns`` are arrivals minus the earliest one, in the order of the group's ranks.
    ``consumer`` is the index of the later event that first needs this one's result, or -1 (at once).
    """

    groups: tuple[ProcessGroup, ...]
    signatures: tuple[Signature, ...]
    signature: NDArray[np.int32]
    gap_ns: NDArray[np.int64]
    offsets_ns: Ragged
    compute_before_ns: NDArray[np.int64]
    rank_compute_before_ns: Ragged
    compute_overlap_ns: NDArray[np.int64]
    compute_pressure: NDArray[np.float64]
    observed_exposed_ns: NDArray[np.int64]
    message_sequence: NDArray[np.int64]
    consumer: NDArray[np.int64]
    compute_uncertain: NDArray[np.bool_]
    gaps_known: bool = True

    def __len__(self) -> int:
        return len(self.signature)

    @property
    def skew_ns(self) -> NDArray[np.int64]:
        """int64[n]: latest minus earliest arrival; -1 where arrivals are unknown."""
        return self.offsets_ns.largest()

    def group_of(self, signature: Signature) -> ProcessGroup:
        """The process group that ``signature`` runs on."""
        return self.groups[signature.group]

    def take(self, index: NDArray[np.int64]) -> Events:
        """The events at ``index`` in that order, keeping their own gaps.

        A consumer that is not among the taken events, or no longer later, becomes "at once".
        """
        where = np.full(len(self), UNKNOWN, np.int64)
        where[index[::-1]] = np.arange(len(index), dtype=np.int64)[::-1]
        consumer = self.consumer[index]
        moved = np.where(consumer >= 0, where[consumer], UNKNOWN)
        moved[moved <= np.arange(len(index))] = UNKNOWN
        return replace(
            self,
            signature=self.signature[index],
            gap_ns=self.gap_ns[index],
            offsets_ns=self.offsets_ns.take(index),
            compute_before_ns=self.compute_before_ns[index],
            rank_compute_before_ns=self.rank_compute_before_ns.take(index),
            compute_overlap_ns=self.compute_overlap_ns[index],
            compute_pressure=self.compute_pressure[index],
            observed_exposed_ns=self.observed_exposed_ns[index],
            message_sequence=self.message_sequence[index],
            consumer=moved,
            compute_uncertain=self.compute_uncertain[index],
        )
