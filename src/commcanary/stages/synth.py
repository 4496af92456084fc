"""Stage: name and seed -> synthetic trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.synthetic.registry import synthetic

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace


def synth_stage(name: str, output: Path, *, seed: int, events: int | None) -> Trace:
    """Write the synthetic trace ``name`` to ``output``."""
    check_suffix(output)
    trace = synthetic(name, seed, events)
    write_artifact(output, TRACE, to_stored(trace))
    return trace
