"""The rows of one device against a twin that looks at every nanosecond, and by hand."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.timeline.device_rows import COMPUTE, DeviceOverlap
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.windows import Edges, WindowSettings

from .timelines import PHASES, SITES, K, timeline

SECOND = 10**9
ALONE = Meetings(unknown="one profile was given")

kernel = st.builds(
    lambda start, length, kind, phase, site: K(start, start + length, kind, phase, site),
    st.integers(0, 40),
    st.integers(-3, 15),  # zero and negative lengths cover nothing
    st.sampled_from([None, "all_reduce", "all_gather", "copy"]),
    st.integers(-1, 1),
    st.integers(-1, 1),
)
rows = st.lists(kernel, max_size=14)


def measured(kernels: list[K], windows: WindowSettings | None = None) -> DeviceOverlap:
    overlap = measure([timeline(kernels)], ALONE, OverlapSettings(windows=windows or WindowSettings()))
    (device,) = overlap.devices
    return device


def running(kernels: list[K], time: int) -> list[K]:
    """Kernels that run in [time, time + 1), in order of start, ties in the given order."""
    return sorted((k for k in kernels if k.start <= time < k.end), key=lambda k: k.start)


@given(rows)
@settings(max_examples=150)
def test_every_nanosecond_is_in_one_part_and_one_cell(kernels: list[K]) -> None:
    device = measured(kernels)
    main = device.main
    parts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    exposed_kinds: Counter[str] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    busy = [k for k in kernels if k.kind != "copy" and k.end > k.start]
    times = range(min((k.start for k in busy), default=0), max((k.end for k in busy), default=0))
    stretches, before = 0, False
    for time in times:
        now = running(kernels, time)
        compute = [k for k in now if k.kind is None]
        communication = [k for k in now if k.kind not in (None, "copy")]
        copies = [k for k in now if k.kind == "copy"]
        name = {(1, 1): "both", (1, 0): "compute_only", (0, 1): "communication_only", (0, 0): "neither"}[
            bool(compute), bool(communication)
        ]
        parts[name] += 1
        parts["copies_in_neither"] += bool(name == "neither" and copies)
        if communication:
            kinds[str(communication[0].kind)] += 1
            exposed_kinds[str(communication[0].kind)] += not compute
            cells[(*PHASES, "unknown")[communication[0].phase], str(communication[0].kind)] += 1
        if compute:
            cells[(*PHASES, "unknown")[compute[0].phase], COMPUTE] += 1
        stretches += name == "communication_only" and not before
        before = name == "communication_only"
    assert main.span_ns == len(times)
    assert main.compute_only_ns + main.communication_only_ns + main.both_ns + main.neither_ns == main.span_ns
    for part in ("compute_only", "communication_only", "both", "neither", "copies_in_neither"):
        assert getattr(main, f"{part}_ns") == parts[part], part
    assert {row.name: row.communication_ns for row in device.kinds if row.communication_ns} == +kinds
    assert {row.name: row.exposed_ns for row in device.kinds if row.exposed_ns} == +exposed_kinds
    assert {(c.phase, c.kind): c.ns for c in device.cells if c.ns} == +cells
    alone = {kind: sum(c.alone_ns for c in device.cells if (c.kind == COMPUTE) == kind) for kind in (True, False)}
    assert alone == {True: main.compute_only_ns, False: main.communication_only_ns}
    assert device.exposure.count == stretches
    assert device.exposure.sum_ns == main.communication_only_ns
    assert sum(band.sum_ns for band in device.exposure.bands) == main.communication_only_ns
    for band in device.exposure.bands:
        assert sum(c.ns for c in band.contributors) + band.others_ns == band.sum_ns
    assert sum(device.strip.ns[0]) == main.compute_only_ns + main.both_ns
    names = device.matrix.names
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            wanted = {None if name == COMPUTE else name for name in (one, other)}
            together = sum(wanted <= {k.kind for k in running(kernels, t)} for t in range(60))
            assert device.matrix.ns[i][j] == together


@given(rows, st.integers(0, 30), st.integers(1, 30), st.sampled_from(["clip", "inside"]))
@settings(max_examples=100)
def test_a_window_is_what_is_left_when_the_rest_is_cut_away(
    kernels: list[K], start: int, length: int, edges: Edges
) -> None:
    stretched = [k._replace(start=k.start * SECOND, end=k.end * SECOND) for k in kernels]
    window = WindowSettings((start, start + length), edges)
    whole = timeline(stretched, session_end=100 * SECOND)
    main = measure([whole], ALONE, OverlapSettings(windows=window)).devices[0].main
    inside = kernels
    if edges == "inside":
        inside = [k for k in kernels if start <= k.start and k.end <= start + length]
    both = compute = 0
    for time in range(start, start + length):
        kinds = {k.kind for k in running(inside, time)}
        compute += None in kinds
        both += None in kinds and bool(kinds & {"all_reduce", "all_gather"})
    assert main.span_ns == length * SECOND
    assert main.both_ns == both * SECOND
    assert main.both_ns + main.compute_only_ns == compute * SECOND
    assert main.both_ns + main.compute_only_ns + main.communication_only_ns + main.neither_ns == main.span_ns


def test_by_hand() -> None:
    device = measured(
        [
            K(0, 100_000),
            K(50_000, 250_000, "all_reduce", 1, 0),
            K(200_000, 300_000, "all_gather", 1, 1),
            K(310_000, 330_000, "copy"),
            K(400_000, 500_000),
        ]
    )
    main = device.main
    assert (main.span_ns, main.compute_only_ns, main.both_ns) == (500_000, 150_000, 50_000)
    assert (main.communication_only_ns, main.neither_ns, main.copies_in_neither_ns) == (200_000, 100_000, 20_000)
    assert main.overlap_pct == 20.0  # 50 us beside compute of 250 us of communication
    assert main.communication_only_pct == 40.0
    assert {row.name: (row.kernel_time_ns, row.communication_ns, row.exposed_ns) for row in device.kinds} == {
        "all_reduce": (200_000, 200_000, 150_000),
        "all_gather": (100_000, 50_000, 50_000),  # the all-reduce started first and has the time of both
    }
    (band,) = [band for band in device.exposure.bands if band.count]
    assert (band.from_ns, band.below_ns, band.count, band.sum_ns) == (100_000, 1_000_000, 1, 200_000)
    assert [(c.kind, c.site, c.ns) for c in band.contributors] == [
        ("all_reduce", SITES[0], 150_000),
        ("all_gather", SITES[1], 50_000),
    ]
    assert device.ceiling.bound_ns == 200_000
    assert device.ceiling.span_ratio == 1.667
    assert device.ceiling.meaning == "an upper bound, not a prediction"
    assert {row.rule: row.share_pct for row in device.rules} == {
        "no rule: compute": 38.461538462,
        "nccl": 57.692307692,
        "copy or memset": 3.846153846,
    }


def test_no_communication_has_no_ratio() -> None:
    main = measured([K(0, 10)]).main
    assert main.overlap_pct is None
    assert main.communication_only_pct == 0.0
