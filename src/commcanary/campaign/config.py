"""The campaign's configuration file, typed: every key, its unit and its default.

Decoding refuses unknown keys, wrong types and impossible values with the path of the key, before any job
starts. ``config/schemas/campaign.schema.json`` is generated from these types.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from commcanary.campaign.overlap_config import OverlapConfig
from commcanary.campaign.study_config import StudyConfig
from commcanary.campaign.workload_sources import Count, Seed, Source
from commcanary.judge.null_calibration import CalibrationSettings
from commcanary.judge.policy import Policy
from commcanary.judge.thresholds import Thresholds
from commcanary.judge.tolerances import Tolerances
from commcanary.replay.configuration import Configuration
from commcanary.units import MAX_TIME_US

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)"

MAX_ITERATIONS = 100_000
"""Runs per seed of a cell; every one is a replay of the whole canary."""

Name = Annotated[str, msgspec.Meta(pattern=NAME_PATTERN)]
"""Names become folders: letters, digits, dot, dash and underscore."""


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Unknown keys are refused."""


class Representation(_Strict, frozen=True, kw_only=True):
    """One representation of every workload: ``canary`` (the compiled trace), ``searched`` (the smallest canary
    that still behaves like it under the campaign's configurations) or a control.

    ``timing_sample_limit`` and ``quantum_us`` apply to ``canary``; the other numbers to the controls.
    """

    name: Name
    method: Literal["canary", "searched", "isolated", "random", "frequency", "cluster", "stratified", "ddmin"]
    timing_sample_limit: Count | None = None
    quantum_us: Annotated[float, msgspec.Meta(ge=0.001, le=MAX_TIME_US)] | None = None
    sample_count: Count = 8
    cluster_count: Count = 8
    strata_per_group: Count = 4
    seed: Seed = 0


class Workload(_Strict, frozen=True, kw_only=True):
    """One workload: where its trace comes from, what is assumed in place of unknown fields, what is expected.

    ``baseline``, ``configurations``, ``representations``, ``seeds`` and ``model`` stand in place of the campaign's for
    this workload. ``expect`` maps a representation to the behaviour
    status that its verification should end in; another one is reported, never hidden. ``expect_gate`` is the
    outcome of the null calibration of its canaries.
    """

    name: Name
    source: Source
    assume: dict[str, float] = {}
    baseline: str | None = None
    configurations: tuple[Configuration, ...] | None = None
    representations: tuple[Representation, ...] | None = None
    seeds: Annotated[tuple[Seed, ...], msgspec.Meta(min_length=1)] | None = None
    model: str | None = None
    expect: dict[str, str] = {}
    expect_gate: Literal["trusted", "not_trusted", "undecided"] | None = None
    param_dtype: str | None = None
    param_skip_unsupported: bool = False


class ReplayProtocol(_Strict, frozen=True, kw_only=True):
    """How every cell is replayed."""

    model: str = "scheduler-v4"
    seeds: Annotated[tuple[Seed, ...], msgspec.Meta(min_length=1)] = (7,)
    iterations: Annotated[int, msgspec.Meta(ge=1, le=MAX_ITERATIONS)] = 1
    ablations: tuple[str, ...] = ()


class ReconcileConfig(_Strict, frozen=True, kw_only=True):
    """Workloads that are one job seen by several sources: their counts are held against each other."""

    name: Name
    workloads: Annotated[tuple[Name, ...], msgspec.Meta(min_length=2)]


class CampaignConfig(_Strict, frozen=True, kw_only=True):
    """A whole campaign."""

    campaign: Name
    title: str = ""
    workloads: Annotated[tuple[Workload, ...], msgspec.Meta(min_length=1)]
    configurations: Annotated[tuple[Configuration, ...], msgspec.Meta(min_length=1)]
    baseline: str = "baseline"
    representations: Annotated[tuple[Representation, ...], msgspec.Meta(min_length=1)]
    replay: ReplayProtocol = ReplayProtocol()
    thresholds: Thresholds = Thresholds()
    ablation_costs: tuple[str, ...] = ()
    null_calibration: CalibrationSettings | None = None
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    policy: Policy = Policy()
    tolerances: Tolerances = Tolerances()
    overlap: tuple[OverlapConfig, ...] = ()
    reconcile: tuple[ReconcileConfig, ...] = ()
    overlap_studies: tuple[StudyConfig, ...] = ()
    freeze: Literal["auto", "strict"] = "auto"
