"""Windows of a timeline: the whole, a trim of session time, profiler steps, user ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from commcanary.errors import InputRefusal, UsageError
from commcanary.timeline.kernels import Kernels, Lane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.timeline.rank_timeline import RankTimeline

    Ints = NDArray[np.int64]

Edges = Literal["inside", "clip"]
NS_PER_S = 10**9
MAX_TRIM_S = 1e9


@dataclass(frozen=True)
class WindowSettings:
    """``trim`` is [start, end) in seconds of session time; ``ranges`` are patterns of annotation names.

    ``edges``: kernels that a window's edge cuts are cut there (clip) or left out (inside).
    Raises ``UsageError`` for a trim that ends before it starts, and for what is no pattern.
    """

    trim: tuple[float, float] | None = None
    edges: Edges = "clip"
    ranges: tuple[str, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.trim is not None and not 0 <= self.trim[0] < self.trim[1] < MAX_TRIM_S:
            raise UsageError(
                f"--trim {self.trim[0]:g} {self.trim[1]:g}: give START and END in seconds, 0 or more and START first"
            )
        for pattern in self.ranges:
            compiled("--range", pattern)


@dataclass(frozen=True)
class Window:
    """[start, end) in ns of the profile's clock. ``kind`` is whole, trim, step or range."""

    kind: str
    name: str
    start: int
    end: int

    @property
    def span(self) -> int:
        """Length in ns."""
        return self.end - self.start


def main_window(kernels: Kernels, timeline: RankTimeline, settings: WindowSettings) -> Window:
    """The trim, or the whole: from the first start to the last end of compute and communication.

    Session time counts from the first event of the profile. Raises ``InputRefusal`` for a trim outside it.
    """
    if settings.trim is None:
        busy = (kernels.lane != Lane.MEMORY) & (kernels.end > kernels.start)
        if not busy.any():
            return Window("whole", "whole", timeline.session_start, timeline.session_start)
        return Window("whole", "whole", int(kernels.start[busy].min()), int(kernels.end[busy].max()))
    low, high = settings.trim
    length = (timeline.session_end - timeline.session_start) / NS_PER_S
    if low >= length:
        raise InputRefusal(
            "--trim",
            f"{low:g} {high:g} is no window of a session of {length:.6f} s",
            "give START END in seconds from the profile's first event",
        )
    start = timeline.session_start + round(low * NS_PER_S)
    return Window("trim", f"{low:g} s to {high:g} s", start, timeline.session_start + round(high * NS_PER_S))


def further_windows(main: Window, timeline: RankTimeline, settings: WindowSettings) -> list[Window]:
    """Profiler steps and ranges whose names match, by the host's time; with a trim, those inside it.

    Raises ``InputRefusal`` for a pattern that no annotation matches.
    """
    steps, ranges = timeline.steps, timeline.ranges
    found = [
        Window("step", name, start, end)
        for name, start, end in zip(steps.name, steps.start.tolist(), steps.end.tolist(), strict=True)
    ]
    for text in settings.ranges:
        pattern = compiled("--range", text)
        mine = [i for i, name in enumerate(ranges.name) if pattern.search(name)]
        if not mine:
            raise InputRefusal("--range", f"{text!r} matches no annotation", "give a pattern of an annotation's name")
        found += [Window("range", ranges.name[i], int(ranges.start[i]), int(ranges.end[i])) for i in mine]
    if main.kind == "trim":
        found = [window for window in found if main.start <= window.start and window.end <= main.end]
    return found


def compiled(option: str, text: str) -> re.Pattern[str]:
    """The pattern ``text``; raises ``UsageError`` naming the option where it is none."""
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{option} {text!r}: no regular expression ({error})") from error


class Selection:
    """Kernels searchable by window; they are in order of their starts."""

    def __init__(self, kernels: Kernels, edges: Edges) -> None:
        order = np.argsort(kernels.start, kind="stable")
        self._kernels = kernels.where(order)
        self._reached = np.maximum.accumulate(self._kernels.end)
        self._edges = edges

    def inside(self, window: Window) -> Kernels:
        """The kernels of a window; those that its edges cut are cut or left out, as the settings say."""
        near = self.uncut(window)
        if self._edges == "inside":
            return near
        start, end = np.maximum(near.start, window.start), np.minimum(near.end, window.end)
        return replace(near, start=start, end=end)

    def uncut(self, window: Window) -> Kernels:
        """The kernels of a window at full length; those that its edges cut are left out where the settings say so."""
        low = int(np.searchsorted(self._reached, window.start, side="right"))
        high = int(np.searchsorted(self._kernels.start, window.end, side="left"))
        near = self._kernels.where(np.arange(low, max(low, high)))
        if self._edges == "inside":
            return near.where((near.start >= window.start) & (near.end <= window.end))
        return near.where(near.end > window.start)
