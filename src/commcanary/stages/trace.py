"""Stage: a campaign's source of any kind -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.campaign.workload_sources import (
    CaptureSource,
    ChakraSource,
    FlightRecorderSource,
    KinetoSource,
    NcclInspectorSource,
    NcclLogSource,
    NsysSource,
    Source,
    SynthSource,
)
from commcanary.sources.capture.session import captured
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.flight_recorder.importer import import_flight_recorder
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nsys.importer import import_nsys
from commcanary.sources.synthetic.registry import synthetic
from commcanary.stages.configured import configured
from commcanary.stages.reading import read_trace
from commcanary.stages.source_settings import (
    chakra_settings,
    flight_recorder_settings,
    kineto_settings,
    nccl_inspector_settings,
    nccl_log_settings,
    nsys_settings,
)

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
            trace = _made(workload, decoded, files)
    named = msgspec.structs.replace(trace.header, workload={**trace.header.workload, "name": workload})
    trace = type(trace).of(named, trace.events, trace.start_ns, trace.ids, trace.metadata)
    write_artifact(output, TRACE, to_stored(trace))
    return trace


class _Holder(msgspec.Struct):
    """Decodes the union of source kinds."""

    source: Source


def _made(workload: str, source: Source, files: Sequence[Path]) -> Trace:
    if isinstance(source, SynthSource):
        return synthetic(source.name, source.seed, source.events, source.repeat)
    if isinstance(source, KinetoSource):
        return import_kineto(files, kineto_settings(source, workload)).trace
    if isinstance(source, NsysSource):
        return import_nsys(files, nsys_settings(source, workload)).trace
    if isinstance(source, FlightRecorderSource):
        return import_flight_recorder(files, flight_recorder_settings(source, workload)).trace
    if isinstance(source, NcclInspectorSource):
        return import_nccl_inspector(files, nccl_inspector_settings(source, workload)).trace
    if isinstance(source, NcclLogSource):
        return import_nccl_log(files, nccl_log_settings(source, workload)).trace
    if isinstance(source, ChakraSource):
        traces, groups = files[: len(source.traces)], files[len(source.traces) :]
        return import_execution_traces(traces, chakra_settings(source, workload, *groups)).trace
    return read_trace(files[0])
