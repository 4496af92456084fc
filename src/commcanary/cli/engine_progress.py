"""How far a campaign is, seen from what the workflow engine logs: a bar on a terminal, else a line each tenth."""

from __future__ import annotations

import re
import sys
from collections import deque
from typing import TYPE_CHECKING, Self

from commcanary.cli.say import complain
from commcanary.units import show_count

if TYPE_CHECKING:
    from rich.progress import Progress

_TOTAL = re.compile(r"total +(\d+)")
_DONE = re.compile(r"(\d+) of (\d+) steps ")
_FAILED = re.compile(r"Error in rule \w+")
_IDLE = "Nothing to be done"
_LINES_KEPT = 3
_PARTS = 10


class EngineProgress:
    """Give every line of the engine's log to ``watch``; ``last_lines`` are the last of them that say something.

    ``idle`` is whether it found nothing to run.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.idle = False
        self._total = self._done = self._failed = 0
        self._last: deque[str] = deque(maxlen=_LINES_KEPT)
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar = _bar(self._name)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def last_lines(self) -> tuple[str, ...]:
        """At most three lines, the newest last."""
        return tuple(self._last)

    def watch(self, line: str) -> None:
        """Read one line of the log and show what it changes."""
        if line.strip():
            self._last.append(line.strip())
        if found := _DONE.match(line):
            before, self._done, self._total = self._done, int(found[1]), int(found[2])
            self._show(self._tenth(before) != self._tenth(self._done))
        elif (found := _TOTAL.match(line)) and not self._total:
            self._total = int(found[1])
            self._show(True)
        elif _FAILED.match(line):
            self._failed += 1
            self._show(True)
        elif line.startswith(_IDLE):
            self.idle = True
            complain(f"{self._name}: nothing to run, everything is up to date")

    def _tenth(self, done: int) -> int:
        return done * _PARTS // self._total

    def _show(self, worth_a_line: bool) -> None:
        failed = f", {show_count(self._failed, 'attempt')} failed" if self._failed else ""
        if self._bar is not None:
            text = f"{self._done} of {show_count(self._total, 'job')}{failed}"
            self._bar.update(self._bar.task_ids[0], completed=self._done, total=self._total, text=text)
        elif worth_a_line:
            complain(f"{self._name}: {self._done} of {show_count(self._total, 'job')} done{failed}")


def _bar(name: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[text]}", markup=False),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(name, total=None, text="")
    return progress
