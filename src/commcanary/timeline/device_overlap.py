"""One device's kernels -> its rows of the overlap document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.covered import Covered
from commcanary.timeline.dependency import dependency_of
from commcanary.timeline.device_rows import (
    COMPUTE,
    Band,
    Ceiling,
    Cell,
    Contributor,
    DeviceOverlap,
    Exposure,
    Matrix,
    RuleShare,
    Share,
    Strip,
    WindowParts,
)
from commcanary.timeline.exposed import BANDS_NS, band_of, pieces_of
from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane
from commcanary.timeline.owners import Owned, owned, summed
from commcanary.timeline.parts import Parts, Unions
from commcanary.timeline.windows import Selection, Window, WindowSettings, further_windows, main_window
from commcanary.units import percent, r3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.timeline.rank_timeline import DeviceTimeline, RankTimeline

    Ints = NDArray[np.int64]

NO_PHASE = "unknown"
NO_GROUP = "unknown"
NO_SITE = "unknown"
CONTRIBUTORS = 8
"""Rows of a band; the rest is summed up."""
STRIP_BINS = 400


def device_overlap(
    timeline: RankTimeline,
    device: DeviceTimeline,
    kernels: Kernels,
    phases: str,
    settings: WindowSettings,
    last_arrival: Ints | None = None,
) -> DeviceOverlap:
    """The rows of ``device`` out of its ``kernels``, as a convention and the phase rules left them.

    ``last_arrival`` is as in ``dependency_of``.
    """
    selection = Selection(kernels, settings.edges)
    main = main_window(kernels, timeline, settings)
    inside = selection.inside(main)
    unions = Unions(inside)
    parts = unions.parts(main)
    communication, compute = inside.on(Lane.COMMUNICATION), inside.on(Lane.COMPUTE)
    shares = owned(communication, unions.compute)
    further = further_windows(main, timeline, settings)
    return DeviceOverlap(
        rank=timeline.rank,
        device=device.device,
        main=_parts(main, parts, timeline),
        windows=tuple(_parts(w, Unions(selection.inside(w)).parts(w), timeline) for w in further),
        kinds=_shares(communication, communication.kind, timeline.kinds, "unknown", shares),
        groups=_shares(communication, communication.group, timeline.groups, NO_GROUP, shares),
        matrix=_matrix(communication, unions, timeline.kinds),
        phases=phases,
        cells=(
            *_cells(compute, None, timeline, owned(compute, unions.communication)),
            *_cells(communication, communication.kind, timeline, shares),
        ),
        exposure=_exposure(communication, unions.exposed(), shares, timeline),
        ceiling=_ceiling(parts),
        rules=_rules(inside, timeline.rules),
        strip=_strip(selection, next((w for w in further if w.kind == "step"), main), timeline),
        dependency=dependency_of(timeline, selection.uncut(main), main.start, main.end, last_arrival),
    )


def _parts(window: Window, parts: Parts, timeline: RankTimeline) -> WindowParts:
    return WindowParts(
        kind=window.kind,
        name=window.name,
        start_ns=window.start - timeline.session_start,
        span_ns=window.span,
        compute_only_ns=parts.compute_only,
        communication_only_ns=parts.communication_only,
        both_ns=parts.both,
        neither_ns=parts.neither,
        copies_in_neither_ns=parts.copies,
        overlap_pct=percent(parts.both, parts.communication),
        communication_only_pct=percent(parts.communication_only, window.span),
    )


def _shares(kernels: Kernels, key: Ints, names: Sequence[str], unknown: str, shares: Owned) -> tuple[Share, ...]:
    words = (*names, unknown)
    key = np.where(key == UNKNOWN, len(names), key)
    count = np.bincount(key, minlength=len(words)).tolist()
    time = summed(key, kernels.durations, len(words))
    whole, alone = (summed(key[shares.kernel], v, len(words)) for v in (shares.lengths, shares.alone))
    rows = [
        Share(name=word, kernels=count[i], kernel_time_ns=time[i], communication_ns=whole[i], exposed_ns=alone[i])
        for i, word in enumerate(words)
        if count[i]
    ]
    return tuple(sorted(rows, key=lambda row: (-row.exposed_ns, row.name)))


def _matrix(communication: Kernels, unions: Unions, kinds: Sequence[str]) -> Matrix:
    used = np.unique(communication.kind).tolist()
    rows = [unions.compute]
    for kind in used:
        mine = communication.kind == kind
        rows.append(Covered(communication.start[mine], communication.end[mine]))
    names = (COMPUTE, *(kinds[kind] for kind in used))
    return Matrix(names=names, ns=tuple(tuple(a.both(b) for b in rows) for a in rows))


def _cells(kernels: Kernels, kind: Ints | None, timeline: RankTimeline, shares: Owned) -> list[Cell]:
    kinds = (COMPUTE,) if kind is None else timeline.kinds
    phases = (*timeline.phases, NO_PHASE)
    phase = np.where(kernels.phase == UNKNOWN, len(timeline.phases), kernels.phase)
    key = phase * len(kinds) + (np.zeros_like(phase) if kind is None else kind)
    size = len(phases) * len(kinds)
    count = np.bincount(key, minlength=size).tolist()
    whole, alone = (summed(key[shares.kernel], v, size) for v in (shares.lengths, shares.alone))
    return [
        Cell(phase=p, kind=k, kernels=count[i], ns=whole[i], alone_ns=alone[i])
        for i, (p, k) in enumerate((p, k) for p in phases for k in kinds)
        if count[i]
    ]


def _exposure(communication: Kernels, exposed: Covered, shares: Owned, timeline: RankTimeline) -> Exposure:
    lengths = exposed.lengths
    pieces = pieces_of(exposed, shares)
    bands = band_of(lengths)
    piece_bands = bands[pieces.segment]
    rows = []
    for number, (low, high) in enumerate(zip((0, *BANDS_NS), (*BANDS_NS, None), strict=True)):
        total = int(lengths[bands == number].sum())
        mine = piece_bands == number
        ranked = _contributors(communication, pieces.kernel[mine], pieces.segment[mine], pieces.length[mine], timeline)
        rows.append(
            Band(
                from_ns=low,
                below_ns=high,
                count=int((bands == number).sum()),
                sum_ns=total,
                share_pct=percent(total, exposed.total) or 0.0,
                contributors=tuple(ranked[:CONTRIBUTORS]),
                others_ns=sum(row.ns for row in ranked[CONTRIBUTORS:]),
            )
        )
    return Exposure(
        count=len(exposed),
        sum_ns=exposed.total,
        median_ns=float(np.median(lengths)) if len(lengths) else None,
        longest_ns=int(lengths.max()) if len(lengths) else None,
        bands=tuple(rows),
    )


def _contributors(
    kernels: Kernels, owner: Ints, segment: Ints, length: Ints, timeline: RankTimeline
) -> list[Contributor]:
    site = np.where(kernels.site[owner] == UNKNOWN, len(timeline.sites), kernels.site[owner])
    sites = (*timeline.sites, NO_SITE)
    key = kernels.kind[owner] * len(sites) + site
    found = []
    for number in np.unique(key).tolist():
        mine = key == number
        kind, where = divmod(number, len(sites))
        found.append(
            Contributor(
                kind=timeline.kinds[kind],
                site=sites[where],
                segments=len(np.unique(segment[mine])),
                ns=int(length[mine].sum()),
            )
        )
    return sorted(found, key=lambda row: (-row.ns, row.kind, row.site))


def _ceiling(parts: Parts) -> Ceiling:
    left = parts.span - parts.communication_only
    return Ceiling(bound_ns=parts.communication_only, span_ratio=r3(parts.span / left) if left else None)


def _rules(kernels: Kernels, rules: Sequence[str]) -> tuple[RuleShare, ...]:
    key = kernels.rule * len(Lane) + kernels.lane
    size = len(rules) * len(Lane)
    count = np.bincount(key, minlength=size).tolist()
    time = summed(key, kernels.durations, size)
    whole = sum(time)
    rows = [
        RuleShare(
            rule=rules[i // len(Lane)],
            lane=Lane(i % len(Lane)).name.lower(),
            kernels=count[i],
            kernel_time_ns=time[i],
            share_pct=percent(time[i], whole),
        )
        for i in range(size)
        if count[i]
    ]
    return tuple(sorted(rows, key=lambda row: (-row.kernel_time_ns, row.rule)))


def _strip(selection: Selection, window: Window, timeline: RankTimeline) -> Strip:
    kernels = selection.inside(window)
    width = max(1, -(-window.span // STRIP_BINS))
    edges = np.minimum(np.arange(window.start, window.end + width, width, dtype=np.int64), window.end)
    edges = np.unique(edges)
    rows = [(COMPUTE, kernels.lane == Lane.COMPUTE)]
    communicating = kernels.lane == Lane.COMMUNICATION
    for kind in np.unique(kernels.kind[communicating]).tolist():
        rows.append((timeline.kinds[kind], communicating & (kernels.kind == kind)))
    return Strip(
        name=window.name,
        start_ns=window.start - timeline.session_start,
        span_ns=window.span,
        bin_ns=width,
        rows=tuple(name for name, _ in rows),
        ns=tuple(
            tuple(Covered(kernels.start[mine], kernels.end[mine]).within(edges[:-1], edges[1:]).tolist())
            for _, mine in rows
        ),
    )
