"""Everything that a sealed campaign holds, as what it can be derived from again: a stage and its outputs.

A derivation reads from the campaign's folder and writes the same names under another one, so that whoever
checks compares two files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.campaign.layout import TABLES, report_file
from commcanary.campaign.workload_sources import SynthSource
from commcanary.compile.compiler import CompileSettings
from commcanary.controls.settings import ControlSettings
from commcanary.replay.configuration import Configuration
from commcanary.stages.ablate import ablate_stage
from commcanary.stages.behavior_search import search_batch_stage
from commcanary.stages.calibrate_null import calibrate_null_stage
from commcanary.stages.compare import compare_batch_stage
from commcanary.stages.compile import compile_stage
from commcanary.stages.decide import decide_stage
from commcanary.stages.expectations import expectations_stage
from commcanary.stages.export_param import export_param_stage
from commcanary.stages.reconcile import reconcile_stage
from commcanary.stages.replay import replay_stage
from commcanary.stages.represent import represent_stage
from commcanary.stages.summary import write_tables
from commcanary.stages.trace import trace_stage
from commcanary.stages.verify_behavior import verify_batch_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commcanary.campaign.config import Representation
    from commcanary.campaign.plan import Plan


@dataclass(frozen=True)
class Derivation:
    """``outputs`` (paths from the campaign's folder) follow from ``results`` by ``make(results, scratch)``."""

    outputs: tuple[str, ...]
    make: Callable[[Path, Path], object]


def derivations(plan: Plan) -> Iterator[Derivation]:
    """One for every output of ``plan`` but traces made from files, wide table, figures and page."""
    config = plan.config
    for workload in plan.workloads:
        source = plan.workload(workload).source
        trace = f"{workload}/trace.parquet"
        if isinstance(source, SynthSource):
            yield Derivation((trace,), partial(_trace, workload, msgspec.to_builtins(source)))
        if config.ablation_costs:
            yield Derivation((f"{workload}/ablations.json",), partial(_ablations, plan, workload))
        for representation in plan.representations(workload):
            yield from _of_a_representation(plan, workload, representation)
    for workload, name in plan.calibrated():
        folder = f"{workload}/{name}"
        yield Derivation((f"{folder}/null_calibration.json",), partial(_calibration, plan, workload, folder))
    for name, workloads in plan.reconciliations.items():
        yield Derivation((f"reconcile/{name}.json",), partial(_reconciliation, name, workloads))
    tables = tuple(f"tables/{name}.{suffix}" for name in TABLES for suffix in ("parquet", "csv"))
    yield Derivation(tables, lambda results, scratch: write_tables(plan, results, scratch / "tables"))
    yield Derivation(("expectations.json",), _expectations)


def _reconciliation(name: str, workloads: tuple[str, ...], results: Path, scratch: Path) -> None:
    traces = [results / workload / "trace.parquet" for workload in workloads]
    reconcile_stage(traces, scratch / "reconcile" / f"{name}.json", workloads)


def _expectations(results: Path, scratch: Path) -> None:
    tables = [results / "tables" / f"{name}.parquet" for name in ("representations", "null_calibrations")]
    expectations_stage(tables[0], tables[1], scratch / "expectations.json")


def _of_a_representation(plan: Plan, workload: str, representation: Representation) -> Iterator[Derivation]:
    name, method = representation.name, representation.method
    folder = f"{workload}/{name}"
    canary = f"{folder}/canary.parquet"
    if method == "searched":
        yield Derivation((canary, f"{folder}/canary.search.json"), partial(_search, plan, workload, folder))
    else:
        if method != "canary":
            yield Derivation((f"{folder}/control.parquet",), partial(_control, plan, workload, name, method))
        yield Derivation((canary,), partial(_canary, plan, workload, name, method))
    yield Derivation((f"{folder}/behavior.json",), partial(_behavior, plan, workload, folder))
    decided = (f"{folder}/decisions.json", f"{folder}/policy.json")
    yield Derivation(decided, partial(_decisions, plan, workload, name))
    if method == "canary":
        yield Derivation(
            (f"{folder}/param.json", f"{folder}/param.account.json"), partial(_param, plan, workload, folder)
        )
    compared = [f"{folder}/comparisons/index.json"]
    for configuration in plan.configurations(workload):
        report = report_file(workload, name, str(configuration.name))
        yield Derivation((report,), partial(_report, plan, workload, canary, configuration, report))
        if configuration.name != plan.baseline(workload):
            compared.append(f"{folder}/comparisons/{configuration.name}.json")
    yield Derivation(tuple(compared), partial(_comparisons, plan, workload, folder))


def _trace(workload: str, source: dict[str, Any], _results: Path, scratch: Path) -> None:
    trace_stage(workload, source, (), scratch / workload / "trace.parquet")


def _configurations(plan: Plan, workload: str) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = msgspec.to_builtins(list(plan.configurations(workload)))
    return plain


def _control(plan: Plan, workload: str, name: str, method: str, results: Path, scratch: Path) -> None:
    represent_stage(
        results / workload / "trace.parquet",
        scratch / workload / name / "control.parquet",
        method,
        ControlSettings(**plan.control_settings(workload, name)),
        _configurations(plan, workload),
        **plan.replay_settings(workload),
    )


def _canary(plan: Plan, workload: str, name: str, method: str, results: Path, scratch: Path) -> None:
    folder = results / workload
    source = folder / "trace.parquet" if method == "canary" else folder / name / "control.parquet"
    settings = CompileSettings(**plan.timing(workload, name))  # type: ignore[arg-type]
    compile_stage(source, scratch / workload / name / "canary.parquet", settings)


def _search(plan: Plan, workload: str, folder: str, results: Path, scratch: Path) -> None:
    search_batch_stage(
        results / workload / "trace.parquet",
        scratch / folder / "canary.parquet",
        _configurations(plan, workload),
        msgspec.to_builtins(plan.config.tolerances),
        **plan.replay_settings(workload),
    )


def _report(
    plan: Plan, workload: str, canary: str, configuration: Configuration, report: str, results: Path, scratch: Path
) -> None:
    replay_stage(
        results / canary,
        scratch / report,
        configuration,
        plan.protocol(workload),
        model=plan.model(workload),
        assumptions=plan.workload(workload).assume,
        include_samples=True,
    )


def _comparisons(plan: Plan, workload: str, folder: str, results: Path, scratch: Path) -> None:
    compare_batch_stage(
        results / folder / "reports",
        [str(configuration.name) for configuration in plan.configurations(workload)],
        scratch / folder / "comparisons" / "index.json",
        plan.baseline(workload),
        msgspec.to_builtins(plan.config.thresholds),
        confidence=plan.config.confidence,
    )


def _behavior(plan: Plan, workload: str, folder: str, results: Path, scratch: Path) -> None:
    verify_batch_stage(
        results / workload / "trace.parquet",
        results / folder / "canary.parquet",
        scratch / folder / "behavior.json",
        _configurations(plan, workload),
        msgspec.to_builtins(plan.config.tolerances),
        **plan.replay_settings(workload),
    )


def _decisions(plan: Plan, workload: str, name: str, results: Path, scratch: Path) -> None:
    decide_stage(
        results / workload / "trace.parquet",
        results / workload / name / "canary.parquet",
        scratch / workload / name / "decisions.json",
        scratch / workload / name / "policy.json",
        name,
        _configurations(plan, workload),
        **plan.decision_settings(workload),
        **plan.replay_settings(workload),
    )


def _ablations(plan: Plan, workload: str, results: Path, scratch: Path) -> None:
    ablate_stage(
        results / workload / "trace.parquet",
        scratch / workload / "ablations.json",
        plan.config.ablation_costs,
        _configurations(plan, workload),
        msgspec.to_builtins(plan.config.tolerances),
        **plan.replay_settings(workload),
    )


def _calibration(plan: Plan, workload: str, folder: str, results: Path, scratch: Path) -> None:
    calibrate_null_stage(
        results / folder / "canary.parquet",
        scratch / folder / "null_calibration.json",
        msgspec.to_builtins(plan.baseline_configuration(workload)),
        msgspec.to_builtins(plan.config.null_calibration),
        msgspec.to_builtins(plan.config.thresholds),
        model=plan.model(workload),
        assumptions=plan.workload(workload).assume,
    )


def _param(plan: Plan, workload: str, folder: str, results: Path, scratch: Path) -> None:
    own = plan.workload(workload)
    export_param_stage(
        results / folder / "canary.parquet",
        scratch / folder / "param.json",
        dtype=own.param_dtype,
        skip_unsupported=own.param_skip_unsupported,
        may_be_empty=True,
    )
