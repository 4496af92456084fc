"""The importers' settings behind the sources of a campaign's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.sources.execution_trace.groups import read_groups
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings
from commcanary.sources.flight_recorder.settings import FlightRecorderSettings
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings
from commcanary.sources.nccl_log.settings import NcclLogSettings
from commcanary.sources.nsys.settings import NsysSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from commcanary.campaign.workload_sources import (
        ChakraSource,
        FlightRecorderSource,
        KinetoSource,
        NcclInspectorSource,
        NcclLogSource,
        NsysSource,
    )


def kineto_settings(source: KinetoSource, workload: str) -> KinetoSettings:
    """The settings of ``import_kineto``."""
    return KinetoSettings(
        workload_name=workload,
        phase=source.phase,
        phase_annotations=source.phase_annotations,
        process_group=source.process_group,
        assume_shared_clock=source.clock == "shared",
        estimate_clock=source.clock == "estimate",
        clock_offsets_us=_by_rank(source.clock_offsets_us),
        assume_default_group=source.assume_default_group,
    )


def nsys_settings(source: NsysSource, workload: str) -> NsysSettings:
    """The settings of ``import_nsys``."""
    return NsysSettings(
        workload_name=workload,
        phase=source.phase,
        phase_annotations=source.phase_annotations,
        process_group=source.process_group,
        assume_shared_clock=source.clock == "shared",
        estimate_clock=source.clock == "estimate",
        clock_offsets_us=_by_rank(source.clock_offsets_us),
        trim_s=source.trim_s,
        assume_default_group=source.assume_default_group,
        assume_all_ranks_captured=source.assume_all_ranks_captured,
    )


def chakra_settings(source: ChakraSource, workload: str, groups: Path | None = None) -> ExecutionTraceSettings:
    """The settings of ``import_execution_traces``; ``groups`` is the file that lists process groups."""
    return ExecutionTraceSettings(
        workload_name=workload,
        phase=source.phase,
        process_group=source.process_group,
        ranks=source.ranks,
        world_size=source.world_size,
        groups={} if groups is None else read_groups(groups),
        assume_default_group=source.assume_default_group,
    )


def flight_recorder_settings(source: FlightRecorderSource, workload: str) -> FlightRecorderSettings:
    """The settings of ``import_flight_recorder``."""
    return FlightRecorderSettings(
        workload_name=workload,
        phase=source.phase,
        process_group=source.process_group,
        ranks=source.ranks,
        assume_shared_clock=source.clock == "shared",
        clock_offsets_us=_by_rank(source.clock_offsets_us),
    )


def nccl_inspector_settings(source: NcclInspectorSource, workload: str) -> NcclInspectorSettings:
    """The settings of ``import_nccl_inspector``."""
    return NcclInspectorSettings(
        workload_name=workload,
        phase=source.phase,
        process_group=source.process_group,
        assume_shared_clock=source.clock == "shared",
        estimate_clock=source.clock == "estimate",
        clock_offsets_us=_by_rank(source.clock_offsets_us),
    )


def nccl_log_settings(source: NcclLogSource, workload: str) -> NcclLogSettings:
    """The settings of ``import_nccl_log``."""
    return NcclLogSettings(
        workload_name=workload,
        phase=source.phase,
        process_group=source.process_group,
        ranks=source.ranks,
        assume_default_group=source.assume_default_group,
        assume_shared_clock=source.clock == "shared",
        clock_offsets_us=_by_rank(source.clock_offsets_us),
    )


def nsys_settings_of(settings: KinetoSettings) -> NsysSettings:
    """The settings of an Nsight Systems reader that say the same as those of a Kineto reader."""
    return NsysSettings(
        workload_name=settings.workload_name,
        phase=settings.phase,
        phase_annotations=settings.phase_annotations,
        process_group=settings.process_group,
        assume_shared_clock=settings.assume_shared_clock,
        estimate_clock=settings.estimate_clock,
        clock_offsets_us=settings.clock_offsets_us,
        assume_default_group=settings.assume_default_group,
        kernel_rules=settings.kernel_rules,
    )


def _by_rank(offsets_us: Mapping[str, float]) -> dict[int, float]:
    """Ranks are texts in YAML."""
    return {int(rank): us for rank, us in offsets_us.items()}
