"""Dependency windows and idle classes on timelines drawn by hand; times in us, as ns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.timeline.dependency import Dependency, dependency_of
from commcanary.timeline.dependency_windows import Evidence, Windows, dependency_windows
from commcanary.timeline.kernels import Kernels, Lane
from commcanary.timeline.rank_timeline import DeviceTimeline, Ranges, RankTimeline

KINDS = ("all_reduce", "point_to_point")
COMPUTE, NETWORK = 7, 20
US = 1000


class K(NamedTuple):
    """A kernel in us: compute on its stream unless ``kind`` says which collective it is. ``launch`` -1: unknown."""

    start: float
    end: float
    launch: float
    kind: str | None = None
    call: int = -1
    stream: int | None = None


def kernels(*rows: K) -> Kernels:
    ordered = sorted(rows, key=lambda row: row.start)
    nothing = np.full(len(rows), -1, np.int64)

    def times(field: str) -> Any:
        return np.asarray([-1 if getattr(r, field) == -1 else round(getattr(r, field) * US) for r in ordered], np.int64)

    return Kernels(
        start=times("start"),
        end=times("end"),
        lane=np.asarray([Lane.COMPUTE if r.kind is None else Lane.COMMUNICATION for r in ordered], np.int64),
        name=np.zeros(len(rows), np.int64),
        stream=np.asarray(
            [r.stream if r.stream is not None else COMPUTE if r.kind is None else NETWORK for r in ordered], np.int64
        ),
        rule=nothing,
        kind=np.asarray([KINDS.index(r.kind) if r.kind else -1 for r in ordered], np.int64),
        group=nothing,
        site=nothing,
        phase=nothing,
        call=np.asarray([r.call for r in ordered], np.int64),
        launch=times("launch"),
        step=nothing,
    )


def timeline(device: Kernels, steps: tuple[float, ...] = (), lanes: Any = "device") -> RankTimeline:
    begins = np.asarray([round(step * US) for step in steps], np.int64)
    return RankTimeline(
        name="p.json",
        rank=0,
        world=2,
        lanes=lanes,
        base_ns=None,
        session_start=0,
        session_end=int(device.end.max()),
        devices=(DeviceTimeline("0", device),),
        steps=Ranges(tuple(f"ProfilerStep#{i}" for i in range(len(steps))), begins, begins),
        ranges=Ranges((), begins[:0], begins[:0]),
        calls=None,
        no_calls="",
        refused_calls=0,
        names=("gemm",),
        rules=(),
        kinds=KINDS,
        groups=(),
        sites=(),
        phases=(),
    )


def windows(*rows: K) -> Windows:
    return dependency_windows(kernels(*rows))


def us(values: Any) -> list[float]:
    return [value if value == -1 else value / US for value in values.tolist()]


BACKWARD = (K(0, 100, 0), K(100, 210, 10))


def test_exposed_bucket_behind_the_backward() -> None:
    """Launched at 20, it waits for the backward (r = 210); the optimizer is queued and starts when it is done."""
    found = windows(*BACKWARD, K(210, 217, 20, "all_reduce"), K(218, 230, 30))
    assert us(found.ready) == [210]
    assert us(found.completion) == [217]
    assert us(found.consumer_time) == [210]
    assert us(found.exposure) == [7]
    assert found.evidence.tolist() == [Evidence.WAITED_FOR]


def test_bucket_that_is_there_before_its_consumer() -> None:
    """c = 26 and u = 30: no direct exposure."""
    found = windows(K(0, 30, 0), K(0, 26, 1, "all_reduce"), K(30, 40, 2))
    assert us(found.exposure) == [0]
    assert found.evidence.tolist() == [Evidence.NOT_WAITED_FOR]
    assert us(found.consumer_time) == [30]


def test_compute_that_runs_beside_it_is_no_consumer() -> None:
    found = windows(K(0, 10, 0), K(10, 50, 5, "all_reduce"), K(12, 20, 6), K(20, 30, 7), K(51, 60, 8))
    assert us(found.consumer_time) == [30]
    assert us(found.exposure) == [20]


def test_consumer_that_the_host_launches_late() -> None:
    found = windows(*BACKWARD, K(210, 217, 20, "all_reduce"), K(235, 250, 230))
    assert us(found.consumer_time) == [230]
    assert us(found.exposure) == [0]


def test_consumer_held_by_something_else_is_unknown() -> None:
    found = windows(*BACKWARD, K(210, 217, 20, "all_reduce"), K(300, 330, 30))
    assert us(found.exposure) == [-1]
    assert found.evidence.tolist() == [Evidence.HELD_OTHERWISE]


def test_two_collectives_of_one_consumer_share_its_wait() -> None:
    """u = 210; complete at 240 and 300: 30 and 60 of the 90 that the consumer waits."""
    found = windows(*BACKWARD, K(210, 240, 20, "all_reduce"), K(240, 300, 21, "all_reduce"), K(302, 330, 30))
    assert us(found.exposure) == [30, 60]


def test_collective_on_the_stream_of_the_compute_is_waited_for() -> None:
    """As custom all-reduces are: the next kernel of the stream could have started when the last one ended."""
    found = windows(K(0, 50, 0), K(50, 70, 1, "all_reduce", stream=COMPUTE), K(72, 90, 2))
    assert us(found.consumer_time) == [50]
    assert us(found.exposure) == [20]


def test_collective_without_a_launch_or_a_consumer() -> None:
    found = windows(*BACKWARD, K(110, 130, -1, "all_reduce"), K(210, 217, 20, "all_reduce"))
    assert found.evidence.tolist() == [Evidence.NO_LAUNCH, Evidence.NO_CONSUMER]
    assert us(found.exposure) == [-1, -1]
    assert us(found.ready) == [-1, 210]


def test_readiness_ignores_compute_that_still_runs_when_it_starts() -> None:
    found = windows(K(0, 50, 0), K(50, 200, 1), K(60, 90, 10, "all_reduce"), K(200, 220, 11))
    assert us(found.ready) == [50]


def dependency(*rows: K, steps: tuple[float, ...] = (), arrivals: tuple[float, ...] | None = None) -> Dependency:
    device = kernels(*rows)
    last = None if arrivals is None else np.asarray([-1 if a == -1 else round(a * US) for a in arrivals], np.int64)
    found = dependency_of(timeline(device, steps), device, int(device.start.min()), int(device.end.max()), last)
    assert found is not None
    return found


def idle(found: Dependency) -> dict[str, float]:
    return {share.name: share.ns / US for share in found.idle if share.ns}


def test_wait_for_a_collective_and_the_start_behind_it() -> None:
    found = dependency(*BACKWARD, K(210, 217, 20, "all_reduce"), K(218, 230, 30))
    assert idle(found) == {"dependency wait": 8}
    assert (found.direct_exposure_ns, found.slowdown_ns) == (7 * US, None)
    assert found.slowdown_unknown


def test_late_rank_is_imbalance_and_the_rest_a_dependency() -> None:
    found = dependency(*BACKWARD, K(210, 260, 20, "all_reduce", 0), K(261, 270, 30), arrivals=(240,))
    assert idle(found) == {"imbalance": 30, "dependency wait": 21}
    assert "imbalance" in dependency(*BACKWARD, K(210, 260, 20, "all_reduce", 0)).unknown


def test_host_that_launches_late() -> None:
    """Idle from 210; launched at 400, started at 410: all of it is the host's. Then 100 us after a launch: not."""
    assert idle(dependency(*BACKWARD, K(410, 420, 400))) == {"host gap": 200}
    assert idle(dependency(*BACKWARD, K(410, 420, 310))) == {"host gap": 100, "unclassified": 100}
    assert idle(dependency(*BACKWARD, K(410, 420, 20))) == {"unclassified": 200}
    assert idle(dependency(*BACKWARD, K(410, 420, -1))) == {"unclassified": 200}


def test_communication_under_a_late_host_is_not_the_hosts() -> None:
    found = dependency(*BACKWARD, K(210, 300, 20, "all_reduce"), K(410, 420, 400))
    assert idle(found) == {"host gap": 110, "unclassified": 90}


def test_pipeline_stage_fills_and_drains() -> None:
    """Receives from 0 to 100, computes to 200, waits to 230 for a message, computes to 300, sends to 360."""
    found = dependency(
        K(0, 100, 0, "point_to_point"),
        K(100, 200, 1),
        K(200, 230, 2, "point_to_point"),
        K(231, 300, 3),
        K(300, 360, 4, "point_to_point"),
    )
    assert idle(found) == {"fill": 100, "dependency wait": 31, "drain": 60}


def test_fill_and_drain_at_the_border_of_two_steps() -> None:
    """Step two begins at 250: a message from 200 to 300 drains the first step for 50 and fills the second."""
    found = dependency(
        K(0, 200, 0), K(200, 300, 1, "point_to_point"), K(300, 400, 2), steps=(0, 250)
    )  # fmt: skip
    assert idle(found) == {"fill": 50, "drain": 50}


def test_all_reduce_at_the_end_is_no_drain() -> None:
    assert idle(dependency(*BACKWARD, K(210, 260, 20, "all_reduce"))) == {"unclassified": 50}


def test_host_lanes_have_no_windows() -> None:
    device = kernels(*BACKWARD, K(210, 217, 20, "all_reduce"))
    assert dependency_of(timeline(device, lanes="host"), device, 0, 217) is None


times = st.integers(0, 2000)
rows = st.lists(
    st.tuples(times, st.integers(0, 300), st.integers(-1, 2000), st.sampled_from([None, *KINDS]), st.integers(0, 2)),
    min_size=1,
    max_size=25,
)


@given(rows, st.lists(times, max_size=3), times, st.integers(1, 1500))
def test_classes_are_exactly_the_time_without_compute(
    drawn: list[tuple[int, int, int, str | None, int]], steps: list[int], start: int, length: int
) -> None:
    device = kernels(*(K(s, s + d, launch, kind, 0, stream) for s, d, launch, kind, stream in drawn))
    arrival = np.asarray([700 * US], np.int64)
    found = dependency_of(timeline(device, tuple(sorted(steps))), device, start * US, (start + length) * US, arrival)
    assert found is not None
    free = set(range(start, start + length))
    for s, d, _, kind, _ in drawn:
        if kind is None:
            free -= set(range(s, s + d))
    assert found.without_compute_ns == len(free) * US
    assert sum(share.ns for share in found.idle) == found.without_compute_ns
    assert all(window.direct_exposure_ns is None or window.direct_exposure_ns >= 0 for window in found.windows)
    assert found.direct_exposure_ns == sum(e.direct_exposure_ns or 0 for e in found.evidence)


@given(rows)
def test_no_consumer_waits_twice(drawn: list[tuple[int, int, int, str | None, int]]) -> None:
    """The exposures of one consumer are its whole wait: from when it could have started to its last collective."""
    device = kernels(*(K(s, s + d, launch, kind, 0, stream) for s, d, launch, kind, stream in drawn))
    found = dependency_windows(device)
    waited = found.evidence == Evidence.WAITED_FOR
    for consumer in set(found.consumer[waited].tolist()):
        mine = waited & (found.consumer == consumer)
        wait = found.completion[mine].max() - found.consumer_time[mine].max()
        assert found.exposure[mine].sum() == wait
        assert device.start[consumer] >= found.completion[mine].max()


@pytest.mark.parametrize("name", ["nccl_data.json.gz", "sampled_rank-0.json.gz"])
def test_real_profiles(shared_traces: Any, name: str) -> None:
    from commcanary.sources.kineto.timelines import read_timelines
    from commcanary.timeline.covered import Covered

    read = read_timelines([shared_traces / "kineto" / name]).reads[0].timeline
    (device,) = read.devices
    busy = device.kernels.lane != Lane.MEMORY
    start, end = int(device.kernels.start[busy].min()), int(device.kernels.end[busy].max())
    found = dependency_of(read, device.kernels, start, end)
    assert found is not None
    compute = device.kernels.on(Lane.COMPUTE)
    assert found.without_compute_ns == end - start - Covered(compute.start, compute.end).total
    assert sum(row.collectives for row in found.evidence) == len(device.kernels.on(Lane.COMMUNICATION))
    waits = next(share for share in found.idle if share.name == "dependency wait")
    assert waits.ns >= found.direct_exposure_ns > 0
