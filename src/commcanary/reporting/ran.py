"""What was run, as rows for the page: workloads with their sources, and configurations with their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from commcanary.campaign.workload_sources import (
    ChakraSource,
    FlightRecorderSource,
    KinetoSource,
    NcclInspectorSource,
    NcclLogSource,
    NsysSource,
    SynthSource,
    files_of,
)
from commcanary.replay.model import model_named
from commcanary.reporting.words import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commcanary.campaign.plan import Plan
    from commcanary.campaign.workload_sources import Source
    from commcanary.replay.configuration import Configuration
    from commcanary.reporting.tables import RepresentationRow


_KINDS: dict[type, str] = {
    KinetoSource: "Kineto profiles",
    NsysSource: "Nsight Systems exports",
    ChakraSource: "execution traces",
    FlightRecorderSource: "Flight Recorder dumps",
    NcclInspectorSource: "NCCL Inspector records",
    NcclLogSource: "NCCL debug logs",
}


@dataclass(frozen=True)
class WorkloadRow:
    """One workload: where its trace comes from, how many events it has and how it was replayed."""

    name: str
    source: str
    events: int | None
    baseline: str
    configurations: tuple[str, ...]
    representations: tuple[str, ...]
    seeds: tuple[int, ...]
    assumptions: tuple[str, ...]


PARAMETERS = {
    "bandwidth_gbps": "bandwidth (Gbit/s)",
    "latency_floor_us": "latency floor (us)",
    "compute_pressure": "compute pressure",
    "overlap_efficiency": "overlap efficiency",
    "compute_slowdown": "compute slowdown",
    "transfer_slowdown": "transfer slowdown",
}
"""The numbers of a configuration, and what a reader calls them; those without a unit have none."""
_SHOWN_IF_SET = ("compute_slowdown", "transfer_slowdown")


@dataclass(frozen=True)
class ConfigurationRow:
    """One configuration, for all workloads (``workloads`` empty) or for those that have it of their own."""

    name: str
    values: tuple[float, ...]
    workloads: tuple[str, ...]


@dataclass(frozen=True)
class ConfigurationTable:
    """Labels of the numbers, and a row per configuration."""

    labels: tuple[str, ...]
    rows: tuple[ConfigurationRow, ...]


def workload_rows(plan: Plan, representations: Iterable[RepresentationRow]) -> tuple[WorkloadRow, ...]:
    """One row per configured workload; ``events`` is null where the tables do not have it."""
    events = {row.workload: row.source_events for row in representations}
    return tuple(
        WorkloadRow(
            name=workload.name,
            source=_source(workload.source),
            events=events.get(workload.name),
            baseline=plan.baseline(workload.name),
            configurations=tuple(str(c.name) for c in plan.configurations(workload.name)),
            representations=tuple(r.name for r in plan.representations(workload.name)),
            seeds=plan.protocol(workload.name).seeds,
            assumptions=tuple(f"{field} = {number(value)}" for field, value in sorted(workload.assume.items())),
        )
        for workload in plan.config.workloads
    )


def configuration_table(plan: Plan) -> ConfigurationTable:
    """The campaign's configurations where some workload uses them, then those of single workloads.

    A number that no workload's model reads is left out, and so are the slowdowns of the closed-loop model where
    every configuration has them at 0.
    """
    used: list[tuple[Configuration, tuple[str, ...]]] = []
    if any(workload.configurations is None for workload in plan.config.workloads):
        used += [(configuration, ()) for configuration in plan.config.configurations]
    own: dict[Configuration, tuple[str, ...]] = {}
    for workload in plan.config.workloads:
        for configuration in workload.configurations or ():
            own[configuration] = (*own.get(configuration, ()), workload.name)
    used += own.items()
    read = frozenset[str]().union(*(model_named(plan.model(workload)).reads for workload in plan.workloads))
    shown = [
        name
        for name in PARAMETERS
        if name in read and (name not in _SHOWN_IF_SET or any(getattr(c, name) for c, _ in used))
    ]
    return ConfigurationTable(
        labels=tuple(PARAMETERS[name] for name in shown),
        rows=tuple(ConfigurationRow(str(c.name), tuple(getattr(c, n) for n in shown), names) for c, names in used),
    )


def _source(source: Source) -> str:
    if isinstance(source, SynthSource):
        return f"synthetic trace {source.name}, seed {source.seed}"
    names = ", ".join(PurePath(name).name for name in files_of(source).values())
    clock = getattr(source, "clock", None)
    kind = _KINDS.get(type(source), str(source.__struct_config__.tag))
    return " ".join(part for part in (kind, names) if part) + ("" if clock is None else f"; clock {clock}")
