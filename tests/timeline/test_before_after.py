"""Before and after: step time decides, programs must be the same."""

from __future__ import annotations

from typing import Any

import pytest

from commcanary.artifacts.stored import Stored
from commcanary.errors import InputRefusal
from commcanary.timeline.before_after import against
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.overlap import Overlap
from commcanary.timeline.windows import WindowSettings

from .timelines import K, calls, ranges, timeline


def measured(*lengths: int, size: int = 1024, parts: int = 1, **more: Any) -> Overlap:
    """Steps of these lengths, each with one compute kernel and ``parts`` all-reduces of ``size`` in all."""
    rows, said, steps, start = [], [], [], 0
    for number, length in enumerate(lengths):
        rows.append(K(start, start + length // 2))
        for part in range(parts):
            rows.append(K(start + length // 2 + part, start + length, "all_reduce", call=len(said)))
            said.append(("all_reduce", size // parts, start + part, number))
        steps.append((f"ProfilerStep#{number}", start, start + length))
        start += length
    window = more.pop("windows", WindowSettings())
    one = timeline(rows, steps=ranges(*steps), calls=calls(said), **more)
    return measure([one], Meetings(unknown="one rank"), OverlapSettings(windows=window))


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((100, 104), (90, 98), "faster"),
        ((90, 98), (100, 104, 102), "slower"),
        ((100, 104), (98, 102), "not separated"),
        ((100, 104), (100, 104), "not separated"),
    ],
)
def test_complete_steps_decide(before: tuple[int, ...], after: tuple[int, ...], verdict: str) -> None:
    found = against(measured(*before), measured(*after), "b" * 64)
    assert found.verdict == verdict
    assert (found.base, found.program) == ("b" * 64, "equal")
    assert [step.longest_ns for step in found.before_steps] == list(before)


def test_each_part_changes_beside_it() -> None:
    changes = {c.what: (c.before, c.after, c.change) for c in against(measured(100, 100), measured(80), "b").changes}
    assert changes["median step time"] == (100, 80, -20)
    assert changes["compute only"] == (50, 40, -10)  # per step
    assert changes["communication only"] == (50, 40, -10)


def test_the_same_bytes_in_other_calls_are_the_same_program() -> None:
    assert against(measured(100, 100), measured(100, parts=2), "b").program == "regrouped"


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (measured(100, size=2048), "all_reduce of float32 on 4 ranks has 1024 bytes per step before and 2048 after"),
        (measured(100, rank=1, world=1), "the ranks differ: [0] of 1 before, [1] of 1 after"),
        (measured(100, world=8), "the ranks differ: [0] of 1 before, [0] of 8 after"),
        (measured(100, windows=WindowSettings(edges="inside")), "is 'clip' before and 'inside' after"),
    ],
)
def test_other_programs_and_other_definitions_are_refused(after: Overlap, found: str) -> None:
    with pytest.raises(InputRefusal, match="--against") as refused:
        against(measured(100), after, "b")
    assert found in refused.value.found


def test_without_steps_the_verdict_is_unknown() -> None:
    one = timeline([K(0, 100), K(50, 120, "all_reduce")])
    overlap = measure([one], Meetings(unknown="one rank"), OverlapSettings())
    found = against(overlap, overlap, Stored(overlap).content_id)
    assert found.verdict == "unknown"
    assert "no complete profiler step before" in found.why
    assert found.program == "equal numbers of communication kernels; no calls were read"
