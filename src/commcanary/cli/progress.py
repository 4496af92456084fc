"""A bar while something takes its time: on a terminal only, on stderr, gone when it is done."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commcanary.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Report = Callable[[int, int], None]
    """Called with (done, total)."""


_LONGEST_TEXT = 100


@contextmanager
def working(text: str) -> Iterator[Report]:
    """Show ``text`` with a bar and the time elapsed; the bar fills once the work reports (done, total)."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(one_line(text, _LONGEST_TEXT), total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield report
