"""Trims, steps and ranges; what is no window is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.overlap import Overlap
from commcanary.timeline.windows import WindowSettings

from .timelines import K, ranges, timeline

ALONE = Meetings(unknown="one profile was given")
SECOND = 10**9


def measured(settings: WindowSettings) -> Overlap:
    one = timeline(
        [K(0, SECOND), K(SECOND, 3 * SECOND, "all_reduce"), K(4 * SECOND, 5 * SECOND)],
        steps=ranges(("ProfilerStep#1", 0, 2 * SECOND), ("ProfilerStep#2", 2 * SECOND, 5 * SECOND)),
        ranges=ranges(("embed", 0, SECOND), ("attention", SECOND, 4 * SECOND), ("embed", 4 * SECOND, 5 * SECOND)),
    )
    return measure([one], ALONE, OverlapSettings(windows=settings))


def test_steps_are_windows_and_have_times() -> None:
    overlap = measured(WindowSettings())
    found = [(w.kind, w.name, w.span_ns, w.communication_only_ns) for w in overlap.devices[0].windows]
    assert found == [
        ("step", "ProfilerStep#1", 2 * SECOND, SECOND),
        ("step", "ProfilerStep#2", 3 * SECOND, SECOND),
    ]
    assert [(s.name, s.longest_ns) for s in overlap.steps] == [
        ("ProfilerStep#1", 2 * SECOND),
        ("ProfilerStep#2", 3 * SECOND),
    ]


def test_every_occurrence_of_a_range_is_a_window() -> None:
    windows = measured(WindowSettings(ranges=("^emb",))).devices[0].windows
    assert [(w.name, w.start_ns) for w in windows if w.kind == "range"] == [("embed", 0), ("embed", 4 * SECOND)]


def test_a_trim_keeps_the_steps_inside_it() -> None:
    overlap = measured(WindowSettings(trim=(2.0, 5.5)))
    assert overlap.devices[0].main.span_ns == 3.5 * SECOND
    assert [w.name for w in overlap.devices[0].windows] == ["ProfilerStep#2"]
    assert [s.name for s in overlap.steps] == ["ProfilerStep#2"]


@pytest.mark.parametrize(
    ("settings", "place", "found"),
    [
        (WindowSettings(trim=(5.0, 6.0)), "--trim", "5 6 is no window of a session of 5.000000 s"),
        (WindowSettings(ranges=("decode",)), "--range", "'decode' matches no annotation"),
    ],
)
def test_what_is_no_window_is_refused(settings: WindowSettings, place: str, found: str) -> None:
    with pytest.raises(InputRefusal) as refused:
        measured(settings)
    assert refused.value.place == place
    assert found in refused.value.found


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"trim": (3.0, 2.0)}, "--trim 3 2"),
        ({"trim": (-1.0, 2.0)}, "--trim -1 2"),
        ({"trim": (float("nan"), 2.0)}, "--trim nan 2"),
        ({"ranges": ("(",)}, r"--range '\(': no regular expression"),
    ],
)
def test_what_no_session_could_have_is_wrong_usage(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        WindowSettings(**wrong)
