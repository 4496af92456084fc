"""The trace behind a source of a campaign's configuration: which importer reads each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.campaign.workload_sources import (
    ChakraSource,
    FlightRecorderSource,
    KinetoSource,
    NcclInspectorSource,
    NcclLogSource,
    NsysSource,
    SynthSource,
    TraceSource,
)
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.flight_recorder.importer import import_flight_recorder
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nsys.importer import import_nsys
from commcanary.sources.synthetic.registry import synthetic
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
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

    FileSource = (
        TraceSource
        | KinetoSource
        | NsysSource
        | FlightRecorderSource
        | NcclInspectorSource
        | NcclLogSource
        | ChakraSource
    )


def trace_of_source(workload: str, source: SynthSource | FileSource, files: Sequence[Path]) -> Trace:
    """The trace of ``workload``; ``files`` are those that ``source`` names, as the stage that reads them finds them."""
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
