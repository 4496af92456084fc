"""Stage: traces of one job from several sources -> reconciliation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.errors import UsageError
from commcanary.judge.reconcile import reconcile
from commcanary.judge.reconciliation import RECONCILIATION, Reconciliation
from commcanary.stages.reading import read_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def reconcile_stage(traces: Sequence[Path], output: Path, names: Sequence[str] = ()) -> Reconciliation:
    """Hold ``traces`` against each other and write what closes; ``names`` are the sources', else the files'."""
    check_suffix(output)
    called = list(names) or [path.stem for path in traces]
    if len(called) != len(traces) or len(set(called)) < len(called):
        raise UsageError(f"sources are called {', '.join(called)}: give each of {len(traces)} traces a name of its own")
    found = reconcile({name: read_trace(path) for name, path in zip(called, traces, strict=True)})
    write_artifact(output, RECONCILIATION, Stored(found))
    return found
