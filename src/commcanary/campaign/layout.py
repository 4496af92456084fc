"""Which files a finished campaign consists of, and which others may lie beside them. Paths count from its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commcanary.campaign.plan import Plan

FIGURES = ("inversion", "latency", "regressions", "trust", "sizes", "growth")
"""Names of the campaign's figures."""

TABLES = ("cells", "representations", "exports", "ablations", "null_calibrations")
"""Names of the summary tables, each as Parquet and CSV."""

SEAL, SUMS = "seal.json", "seal.sha256"

_BESIDE = ("logs/**/*.log", "benchmarks/**/*.tsv", "*/*/reports/*.parquet.receipt.json", "*/*/reports/index-*.json")
"""By-products, which say when and how a campaign ran: in no seal. Anything else in these folders is no by-product."""

_AT_THE_TOP = (SEAL, SUMS, f"{SUMS}.sig", "timings.html")
"""The seal itself, its signature, and the page of times."""


def sealed_files(plan: Plan) -> tuple[str, ...]:
    """Every artifact, table, figure and page of the finished campaign, sorted."""
    return tuple(sorted(_files(plan)))


def own_files(results: Path) -> tuple[str, ...]:
    """Every file in the folder ``results`` that a seal would have to cover, sorted."""
    beside = {path for pattern in _BESIDE for path in results.glob(pattern)}
    beside |= set((results / "manifests").glob("[0-9]*-*.json"))
    found = (path for path in results.rglob("*") if path.is_symlink() or not path.is_dir())
    known = {path for path in beside if path.is_file() and not path.is_symlink()}
    names = (path.relative_to(results).as_posix() for path in found if path not in known)
    return tuple(sorted(name for name in names if name not in _AT_THE_TOP and not name.startswith("superseded/")))


def by_products(results: Path) -> tuple[str, ...]:
    """What lies in ``results`` beside the sealed files without being sealed: patterns and names that are there."""
    patterns = (*_BESIDE, "timings.html", "superseded")
    return tuple(pattern for pattern in patterns if next(results.glob(pattern), None) is not None)


def report_file(workload: str, representation: str, configuration: str) -> str:
    """The report of one cell."""
    return f"{workload}/{representation}/reports/{configuration}.parquet"


def job_subjects(plan: Plan) -> Iterator[str]:
    """What the jobs of ``plan`` are about, as their logs and benchmarks are called; a batch's number may follow."""
    yield from ("campaign", *plan.overlaps, *plan.studies, *plan.reconciliations)
    for workload in plan.workloads:
        yield workload
        yield from (f"{workload}.{representation.name}" for representation in plan.representations(workload))


def _files(plan: Plan) -> Iterator[str]:
    yield from ("manifest.json", "report.html", "expectations.json", "tables/wide.csv")
    for name in TABLES:
        yield from (f"tables/{name}.parquet", f"tables/{name}.csv")
    yield from (f"figures/{name}.svg" for name in FIGURES)
    yield from (f"{workload}/{name}/null_calibration.json" for workload, name in plan.calibrated())
    yield from (f"reconcile/{name}.json" for name in plan.reconciliations)
    for name in plan.overlaps:
        yield from (f"overlap/{name}.json", f"overlap/{name}.html")
    yield from (f"overlap-study/{name}.json" for name in plan.studies)
    for workload in plan.workloads:
        yield f"{workload}/trace.parquet"
        if plan.config.ablation_costs:
            yield f"{workload}/ablations.json"
        for representation in plan.representations(workload):
            folder = f"{workload}/{representation.name}"
            yield from (f"{folder}/{name}" for name in _of_a_representation(representation.method))
            for configuration in plan.configurations(workload):
                yield report_file(workload, representation.name, str(configuration.name))
                if configuration.name != plan.baseline(workload):
                    yield f"{folder}/comparisons/{configuration.name}.json"


def _of_a_representation(method: str) -> Iterator[str]:
    yield from ("canary.parquet", "behavior.json", "decisions.json", "policy.json", "comparisons/index.json")
    if method == "canary":
        yield from ("param.json", "param.account.json")
    elif method == "searched":
        yield "canary.search.json"
    else:
        yield "control.parquet"
