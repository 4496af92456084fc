"""The rows of the overlap document that are about one device, in whole nanoseconds.

Rows whose numbers contradict each other cannot be made or read: sums and ratios are held against their parts.
"""

from __future__ import annotations

import msgspec

from commcanary.timeline.dependency import Dependency
from commcanary.units import percent

COMPUTE = "compute"
"""The kind of cells and the row of the matrix that are no collective."""


class WindowParts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The four exclusive parts of a window; they sum to ``span_ns``.

    ``kind`` is whole, trim, step or range; ``start_ns`` counts from the profile's first event.
    ``overlap_pct`` is both / all communication (null without communication), ``communication_only_pct``
    communication only / span (null for an empty span). ``copies_in_neither_ns`` is the part of neither in
    which copies or memsets ran.
    """

    kind: str
    name: str
    start_ns: int
    span_ns: int
    compute_only_ns: int
    communication_only_ns: int
    both_ns: int
    neither_ns: int
    copies_in_neither_ns: int
    overlap_pct: float | None
    communication_only_pct: float | None

    def __post_init__(self) -> None:
        parts = (self.compute_only_ns, self.communication_only_ns, self.both_ns, self.neither_ns)
        _holds(min(*parts, self.copies_in_neither_ns) >= 0, "a part is negative")
        _holds(sum(parts) == self.span_ns, f"the four parts sum to {sum(parts)} ns where span_ns is {self.span_ns}")
        _holds(self.copies_in_neither_ns <= self.neither_ns, "copies_in_neither_ns is more than neither_ns")
        ratio = percent(self.both_ns, self.communication_ns)
        _holds(self.overlap_pct == ratio, f"overlap_pct is {self.overlap_pct} where its parts give {ratio}")
        fraction = percent(self.communication_only_ns, self.span_ns)
        _holds(
            self.communication_only_pct == fraction,
            f"communication_only_pct is {self.communication_only_pct} where its parts give {fraction}",
        )

    @property
    def communication_ns(self) -> int:
        """All communication: both and communication only."""
        return self.both_ns + self.communication_only_ns


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A collective kind or process group. ``kernel_time_ns`` is the plain sum of kernel durations.

    ``communication_ns`` and its part ``exposed_ns`` are shared out between kernels that ran at once (the
    first to start has the time), so that rows sum to the whole.
    """

    name: str
    kernels: int
    kernel_time_ns: int
    communication_ns: int
    exposed_ns: int


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One phase x kind; ``kind`` is compute or a collective. ``ns`` is shared out as in ``Share``.

    ``alone_ns`` is the part of it beside which the other lane did not run: the cells of collectives sum to all
    communication and their ``alone_ns`` to communication only; ``alone_ns`` of compute to compute only.
    """

    phase: str
    kind: str
    kernels: int
    ns: int
    alone_ns: int


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``ns[i][j]`` is how long ``names[i]`` and ``names[j]`` ran at the same time; the diagonal, how long each ran."""

    names: tuple[str, ...]
    ns: tuple[tuple[int, ...], ...]


class Contributor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A collective at a call site, and how much exposed time of a band is its."""

    kind: str
    site: str
    segments: int
    ns: int


class Band(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Exposed segments of ``from_ns`` up to, not including, ``below_ns`` (null: no upper end).

    ``contributors`` are the largest; ``others_ns`` is what the rest have.
    """

    from_ns: int
    below_ns: int | None
    count: int
    sum_ns: int
    share_pct: float
    contributors: tuple[Contributor, ...]
    others_ns: int

    def __post_init__(self) -> None:
        shared = sum(row.ns for row in self.contributors) + self.others_ns
        _holds(shared == self.sum_ns, f"contributors and others sum to {shared} ns where sum_ns is {self.sum_ns}")


class Exposure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All stretches with communication and no compute; ``sum_ns`` is communication only."""

    count: int
    sum_ns: int
    median_ns: float | None
    longest_ns: int | None
    bands: tuple[Band, ...]

    def __post_init__(self) -> None:
        _holds(sum(band.count for band in self.bands) == self.count, "the bands' counts do not sum to count")
        _holds(sum(band.sum_ns for band in self.bands) == self.sum_ns, "the bands' sums do not sum to sum_ns")


class RuleShare(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which kernels a rule of the classification claimed; ``share_pct`` is of all kernel time of the device."""

    rule: str
    lane: str
    kernels: int
    kernel_time_ns: int
    share_pct: float | None


class Strip(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One window cut into equal bins of ``bin_ns`` (the last one is shorter): how long each row ran in each bin."""

    name: str
    start_ns: int
    span_ns: int
    bin_ns: int
    rows: tuple[str, ...]
    ns: tuple[tuple[int, ...], ...]


class Ceiling(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bound, no prediction: what would be saved if every exposed nanosecond vanished and all else stayed.

    ``span_ratio`` is span / (span - bound), null where nothing would be left.
    """

    bound_ns: int
    span_ratio: float | None
    meaning: str = "an upper bound, not a prediction"


class DeviceOverlap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One device of one rank. ``phases`` says where phases come from: annotations, anchors (approximate), none.

    ``dependency`` is null for lanes of a host.
    """

    rank: int | None
    device: str
    main: WindowParts
    windows: tuple[WindowParts, ...]
    kinds: tuple[Share, ...]
    groups: tuple[Share, ...]
    matrix: Matrix
    phases: str
    cells: tuple[Cell, ...]
    exposure: Exposure
    ceiling: Ceiling
    rules: tuple[RuleShare, ...]
    strip: Strip
    dependency: Dependency | None = None

    def __post_init__(self) -> None:
        main = self.main
        communicating = [cell for cell in self.cells if cell.kind != COMPUTE]
        computing = [cell for cell in self.cells if cell.kind == COMPUTE]
        for what, found, whole in (
            ("kinds' communication", [row.communication_ns for row in self.kinds], main.communication_ns),
            ("kinds' exposed time", [row.exposed_ns for row in self.kinds], main.communication_only_ns),
            ("groups' communication", [row.communication_ns for row in self.groups], main.communication_ns),
            ("groups' exposed time", [row.exposed_ns for row in self.groups], main.communication_only_ns),
            ("collectives' cells", [cell.ns for cell in communicating], main.communication_ns),
            ("collectives' cells alone", [cell.alone_ns for cell in communicating], main.communication_only_ns),
            ("compute's cells", [cell.ns for cell in computing], main.both_ns + main.compute_only_ns),
            ("compute's cells alone", [cell.alone_ns for cell in computing], main.compute_only_ns),
            ("exposed segments", [self.exposure.sum_ns], main.communication_only_ns),
            ("the ceiling", [self.ceiling.bound_ns], main.communication_only_ns),
        ):
            _holds(sum(found) == whole, f"{what} sum to {sum(found)} ns where the parts give {whole}")


def _holds(true: bool, otherwise: str) -> None:
    """Raise ``ValueError``, which a reader turns into a refusal with the row's path, unless ``true``."""
    if not true:
        raise ValueError(otherwise)
