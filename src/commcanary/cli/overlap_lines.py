"""What ``commcanary overlap`` prints: the ratios with their denominators in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.timeline.measure import device_label
from commcanary.units import show_us, us_from_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.timeline.dependency import Dependency
    from commcanary.timeline.device_rows import DeviceOverlap
    from commcanary.timeline.overlap import Against, Overlap
    from commcanary.timeline.transfer_baseline import TransferBaseline

_MOST_RANKS = 16


def overlap_lines(overlap: Overlap) -> Iterator[str]:
    """One line a device and window, then what holds for all of them and what is unknown."""
    settings = overlap.settings
    if settings.convention != "exact" or settings.last_step != "keep" or settings.rounding != "ns":
        yield f"convention {settings.convention}: last step {settings.last_step}, rounded to {settings.rounding}"
    for device in overlap.devices:
        yield from _device(device)
    if len(overlap.devices) > 1:
        pattern = overlap.pattern
        holds = "all devices" if pattern.holds else f"all but {len(pattern.differs)} devices"
        yield f"{holds}: most time is {pattern.largest_part}; most exposed: {pattern.most_exposed or 'nothing'}"
        for line in pattern.differs:
            yield f"- {line}"
    missing = overlap.missing
    if missing.ranks:
        shown = ", ".join(map(str, missing.ranks[:_MOST_RANKS])) + (", ..." if missing.count > _MOST_RANKS else "")
        yield f"no profile of {missing.count} of {missing.world} ranks: {shown}"
    for row in overlap.payload:
        if row.open_because:
            yield (
                f"{row.kind} on {row.group}: {row.calls} calls, {row.kernels + row.unlinked_kernels} kernels; "
                f"no rate, for counts do not close: {'; '.join(row.open_because)}"
            )
    if overlap.transfer_baseline is not None:
        yield from _transfers(overlap.transfer_baseline)
    for name, reason in overlap.unknown.items():
        yield f"unknown {name}: {reason}"
    if overlap.against is not None:
        yield from _against(overlap.against)


def _device(device: DeviceOverlap) -> Iterator[str]:
    main = device.main
    communication = main.both_ns + main.communication_only_ns
    both, only, all_of, span = (
        show_us(us_from_ns(ns)) for ns in (main.both_ns, main.communication_only_ns, communication, main.span_ns)
    )
    ratio = (
        "no communication"
        if main.overlap_pct is None
        else f"overlap {main.overlap_pct:.2f} % (both {both} / all communication {all_of})"
    )
    fraction = (
        "" if main.communication_only_pct is None else f", {main.communication_only_pct:.2f} % of the span {span}"
    )
    yield f"{device_label(device)}: {ratio}; communication only {only}{fraction}"
    if device.dependency is not None:
        yield from _dependency(device.dependency)


def _dependency(found: Dependency) -> Iterator[str]:
    if found.evidence:
        counts = "; ".join(
            f"{row.collectives} {row.evidence.partition(':')[0]}"
            + ("" if row.direct_exposure_ns is not None else f" ({row.evidence.partition(': ')[2]})")
            for row in found.evidence
        )
        yield f"  direct exposure {show_us(us_from_ns(found.direct_exposure_ns))} of collectives: {counts}"
    classes = ", ".join(f"{share.name} {share.share_pct:.1f} %" for share in found.idle if share.ns)
    yield f"  without compute {show_us(us_from_ns(found.without_compute_ns))}: {classes or 'nothing'}"


def _transfers(found: TransferBaseline) -> Iterator[str]:
    for law in found.laws:
        yield (
            f"{law.table}: {law.operation} on {law.ranks} ranks takes {law.law.startup_us:.3f} us + bytes / "
            f"{law.law.bandwidth_gb_s:.6g} GB/s alone (largest residual {law.largest_residual_pct:.1f} %)"
        )
    for row in found.rows:
        measured, expected, excess = (
            show_us(us_from_ns(ns)) for ns in (row.measured_ns, row.expected_ns, row.excess_ns)
        )
        parts = (
            f"late ranks {show_us(us_from_ns(row.late_ns))} + slower transfers {show_us(us_from_ns(row.slower_ns))}"
            if row.late_ns is not None and row.slower_ns is not None
            else "late ranks or slower transfers"
        )
        yield (
            f"  rank {'?' if row.rank is None else row.rank}, {row.calls} {row.kind}: {measured} = expected {expected} "
            f"+ {excess} ({parts})"
        )
    for name, reason in found.unknown.items():
        yield f"unknown {name}: {reason}"


def _against(against: Against) -> Iterator[str]:
    yield f"against {against.base[:12]}: {against.verdict}: {against.why}; program {against.program}"
    for change in against.changes:
        before, after, moved = (show_us(ns / 1000) for ns in (change.before, change.after, change.change))
        yield f"- {change.what}: {before} -> {after} ({'+' if change.change > 0 else ''}{moved})"
