"""The plan of a campaign: its configuration resolved into cells, settings and paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.campaign.config import CampaignConfig, Representation, Workload
from commcanary.campaign.config_file import load_config
from commcanary.campaign.study_config import study_files, study_without_folders
from commcanary.campaign.workload_sources import files_of, without_folders
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.units import ns_from_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.campaign.overlap_config import OverlapConfig
    from commcanary.campaign.study_config import StudyConfig


@dataclass(frozen=True)
class Cell:
    """One workload in one representation under one configuration."""

    workload: str
    representation: str
    configuration: str

    def __str__(self) -> str:
        return f"{self.workload}/{self.representation}/{self.configuration}"


@dataclass(frozen=True)
class Plan:
    """A validated configuration and the folder that its relative paths start from."""

    config: CampaignConfig
    folder: Path

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Read and validate the configuration file at ``path``.

        Raises ``InputRefusal`` with the path of the key, the value and what is allowed.
        """
        return cls(load_config(Path(path)), Path(path).parent)

    @property
    def name(self) -> str:
        """The campaign's name: its folder under ``results/``."""
        return self.config.campaign

    @property
    def resolved(self) -> dict[str, Any]:
        """The configuration with every default as plain data, as results are made from it.

        That is without ``freeze``, and with the base names of source files: folders say nothing about their content.
        """
        named = msgspec.structs.replace(
            self.config,
            workloads=tuple(self.without_folders(name) for name in self.workloads),
            overlap=tuple(self.overlap_without_folders(name) for name in self.overlaps),
            overlap_studies=tuple(self.study_without_folders(name) for name in self.studies),
        )
        config: dict[str, Any] = msgspec.to_builtins(named)
        del config["freeze"]
        return config

    @property
    def reconciliations(self) -> dict[str, tuple[str, ...]]:
        """Names of the reconciliations, each with the workloads that it holds against each other."""
        return {entry.name: entry.workloads for entry in self.config.reconcile}

    @property
    def overlaps(self) -> tuple[str, ...]:
        """Names of the measurements of overlap, as configured."""
        return tuple(entry.name for entry in self.config.overlap)

    def overlap(self, name: str) -> OverlapConfig:
        """The measurement of overlap called ``name``."""
        return next(entry for entry in self.config.overlap if entry.name == name)

    def overlap_without_folders(self, name: str) -> OverlapConfig:
        """The measurement called ``name``, its profiles by their base names."""
        entry = self.overlap(name)
        return msgspec.structs.replace(entry, source=without_folders(entry.source))

    def overlap_files(self, name: str) -> tuple[Path, ...]:
        """The profiles of a measurement, resolved against the configuration's folder."""
        return tuple(self.folder / file for file in files_of(self.overlap(name).source).values())

    @property
    def studies(self) -> tuple[str, ...]:
        """Names of the studies of three runs, as configured."""
        return tuple(study.name for study in self.config.overlap_studies)

    def study(self, name: str) -> StudyConfig:
        """The study called ``name``."""
        return next(study for study in self.config.overlap_studies if study.name == name)

    def study_without_folders(self, name: str) -> StudyConfig:
        """The study called ``name``, its files by their base names."""
        return study_without_folders(self.study(name))

    def study_files(self, name: str) -> tuple[Path, ...]:
        """The files of a study in the order of its keys, resolved against the configuration's folder."""
        return tuple(self.folder / file for file in study_files(self.study(name)).values())

    @property
    def workloads(self) -> tuple[str, ...]:
        """Names of the workloads, as configured."""
        return tuple(workload.name for workload in self.config.workloads)

    def workload(self, name: str) -> Workload:
        """The workload called ``name``."""
        return next(workload for workload in self.config.workloads if workload.name == name)

    def without_folders(self, name: str) -> Workload:
        """The workload called ``name``, the files of its source by their base names."""
        workload = self.workload(name)
        return msgspec.structs.replace(workload, source=without_folders(workload.source))

    def representations(self, workload: str) -> tuple[Representation, ...]:
        """Representations of a workload: its own list, else the campaign's."""
        own = self.workload(workload).representations
        return self.config.representations if own is None else own

    def representation(self, workload: str, name: str) -> Representation:
        """The representation called ``name`` of a workload."""
        return next(r for r in self.representations(workload) if r.name == name)

    def methods(self) -> dict[str, str]:
        """The method of every representation that some workload has. A name means one method in a campaign."""
        return {r.name: r.method for workload in self.workloads for r in self.representations(workload)}

    def control_settings(self, workload: str, representation: str) -> dict[str, int]:
        """Sizes and seed of a control: the fields of ``ControlSettings``."""
        own = self.representation(workload, representation)
        return {name: getattr(own, name) for name in ("sample_count", "cluster_count", "strata_per_group", "seed")}

    def timing(self, workload: str, representation: str) -> dict[str, int | None]:
        """How a representation's timing is compiled: the fields of ``CompileSettings``."""
        own = self.representation(workload, representation)
        quantum_ns = None if own.quantum_us is None else ns_from_us(own.quantum_us)
        return {"timing_sample_limit": own.timing_sample_limit, "quantum_ns": quantum_ns}

    def configurations(self, workload: str) -> tuple[Configuration, ...]:
        """Configurations that a workload is replayed under: its own list, else the campaign's."""
        own = self.workload(workload).configurations
        return self.config.configurations if own is None else own

    def baseline(self, workload: str) -> str:
        """The configuration that the others of a workload are compared against."""
        return self.workload(workload).baseline or self.config.baseline

    def baseline_configuration(self, workload: str) -> Configuration:
        """The configuration called as ``baseline`` says."""
        return next(c for c in self.configurations(workload) if c.name == self.baseline(workload))

    def calibrated(self) -> Iterator[tuple[str, str]]:
        """Workload and representation of every canary that the gate is calibrated on: none unless asked for."""
        for workload in self.workloads if self.config.null_calibration else ():
            for representation in self.representations(workload):
                if representation.method == "canary":
                    yield workload, representation.name

    def model(self, workload: str) -> str:
        """The replay model of a workload: its own, else the campaign's."""
        return self.workload(workload).model or self.config.replay.model

    def protocol(self, workload: str) -> Protocol:
        """Seeds, iterations and ablations of a workload's cells."""
        replay = self.config.replay
        return Protocol(self.workload(workload).seeds or replay.seeds, replay.iterations, replay.ablations)

    def replay_settings(self, workload: str) -> dict[str, Any]:
        """Protocol, model and assumptions of a workload's cells, as plain data."""
        return {
            "protocol": msgspec.to_builtins(self.protocol(workload)),
            "model": self.model(workload),
            "assumptions": self.workload(workload).assume,
        }

    def decision_settings(self, workload: str) -> dict[str, Any]:
        """What the decisions of a workload's representations are made and judged by, as plain data."""
        return {
            "baseline": self.baseline(workload),
            "thresholds": msgspec.to_builtins(self.config.thresholds),
            "confidence": self.config.confidence,
            "tie_us": self.config.tolerances.ranking_tie_us,
            "policy": msgspec.to_builtins(self.config.policy),
        }

    def batches(self, workload: str, size: int) -> tuple[tuple[Configuration, ...], ...]:
        """The configurations of a workload in batches of ``size``: one replay job each."""
        configurations = self.configurations(workload)
        return tuple(configurations[start : start + size] for start in range(0, len(configurations), size))

    def cells(self) -> Iterator[Cell]:
        """Every expected cell."""
        for workload in self.workloads:
            for representation in self.representations(workload):
                for configuration in self.configurations(workload):
                    yield Cell(workload, representation.name, str(configuration.name))

    def source_files(self, workload: str) -> tuple[Path, ...]:
        """The files that a workload's trace is made from, resolved against the configuration's folder."""
        return tuple(self.folder / name for name in files_of(self.workload(workload).source).values())
