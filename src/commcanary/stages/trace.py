"""Stage: a campaign's source of any kind -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.campaign.workload_sources import CaptureSource, Source
from commcanary.sources.capture.session import captured
from commcanary.stages.configured import configured
from commcanary.stages.source_trace import trace_of_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.artifacts.trace import Trace


def trace_stage(workload: str, source: Mapping[str, Any], files: Sequence[Path], output: Path) -> Trace:
    """Make the trace of ``workload`` from its source (plain data as in the configuration) and its files."""
    decoded = convert({"source": source}, _Holder).source
    if isinstance(decoded, CaptureSource):
        trace = captured(decoded.command, output.parent, workload, decoded.auto).trace
    else:
        with configured(f"source of workload {workload}"):
            trace = trace_of_source(workload, decoded, files)
    named = msgspec.structs.replace(trace.header, workload={**trace.header.workload, "name": workload})
    trace = type(trace).of(named, trace.events, trace.start_ns, trace.ids, trace.metadata)
    write_artifact(output, TRACE, to_stored(trace))
    return trace


class _Holder(msgspec.Struct):
    """Decodes the union of source kinds."""

    source: Source
