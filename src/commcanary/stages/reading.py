"""What every stage does first: read its inputs, naming the file in whatever is refused."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import read_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored
from commcanary.errors import Refusal
from commcanary.replay.report import REPORT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commcanary.artifacts.stored import Stored
    from commcanary.artifacts.trace import Trace
    from commcanary.replay.report import ReportHeader


def read_trace(path: Path) -> Trace:
    """The trace at ``path``."""
    with naming(path):
        return from_stored(read_artifact(path, TRACE))


def read_canary(path: Path) -> Canary:
    """The canary at ``path``, expanded and checked."""
    with naming(path):
        canary = Canary(read_artifact(path, CANARY))
        _ = canary.events
        return canary


def read_report(path: Path) -> Stored[ReportHeader]:
    """The report at ``path``."""
    return read_artifact(path, REPORT)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name ``path`` in refusals of what is read from it."""
    try:
        yield
    except Refusal as refusal:
        refusal.in_file(str(path))
        raise
