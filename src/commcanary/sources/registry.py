"""Every kind of file that becomes a trace. A new format is one entry here and one folder beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from commcanary.sources.capture.importer import merge_shards
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.flight_recorder.importer import import_flight_recorder
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nsys.importer import import_nsys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from commcanary.artifacts.trace import Trace


class Import(Protocol):
    """What every source gives back: a checked trace and the line that a command prints."""

    @property
    def trace(self) -> Trace:
        """The trace; its header accounts for everything that was seen."""

    @property
    def summary(self) -> str:
        """What was imported and what was left out, in one line."""


@dataclass(frozen=True)
class Source:
    """A format: its name in commands and configs, and how its files are read with default settings."""

    name: str
    title: str
    read: Callable[[Sequence[Path]], Import]


SOURCES = {
    source.name: source
    for source in (
        Source("kineto", "PyTorch profiler (Kineto) chrome traces", import_kineto),
        Source("nsys", "Nsight Systems exports (SQLite)", import_nsys),
        Source("chakra", "execution traces: PyTorch's JSON, Chakra's protobuf", import_execution_traces),
        Source("flight-recorder", "PyTorch Flight Recorder dumps, JSON or pickle", import_flight_recorder),
        Source("nccl-inspector", "NCCL Inspector records, JSON lines", import_nccl_inspector),
        Source("nccl-log", "NCCL debug logs", import_nccl_log),
        Source("capture", "shards of commcanary capture", merge_shards),
    )
}
