"""A whole campaign, run as a user runs it: to the end, again, and changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.campaign.plan import Plan
from commcanary.campaign.receipts import read_receipt
from commcanary.compile.search_ledger import SEARCH_LEDGER
from commcanary.judge.reconciliation import RECONCILIATION
from commcanary.judge.study_document import OVERLAP_STUDY, SIDES
from commcanary.reporting.derivations import reporting_derivations
from commcanary.sources.synthetic.registry import synthetic
from commcanary.stages.reading import read_canary
from commcanary.timeline.overlap import OVERLAP

from .runs import ENGINE, RUN, TINY, engine_log, root, run, started_jobs


def artifacts(folder: Path) -> dict[str, bytes]:
    """Bytes of everything that must not depend on when or how the campaign ran."""
    results = folder / "results" / "tiny"
    return {
        path.relative_to(results).as_posix(): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.suffix in {".parquet", ".csv", ".svg", ".json"} and not path.name.endswith(".receipt.json")
    }


def test_it_ends_with_a_page_and_leaves_no_half_files(finished: Path) -> None:
    assert (finished / "results" / "tiny" / "report.html").stat().st_size > 10_000
    assert not list((finished / "results").rglob("*.tmp"))


def test_a_second_run_runs_no_job_and_says_so(finished: Path) -> None:
    engine_log(finished).unlink()
    done = subprocess.run([*RUN, *ENGINE], cwd=finished, capture_output=True, text=True, check=False)
    assert (done.returncode, started_jobs(finished)) == (0, [])
    assert done.stderr == "campaign tiny: nothing to run, everything is up to date\n"
    assert done.stdout == "campaign tiny is complete: results/tiny/report.html\n"


def test_what_the_engine_refuses_is_said_in_its_words(copied: Path) -> None:
    done = subprocess.run([*RUN, *ENGINE, "--frobnicate"], cwd=copied, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("failed: the workflow engine (results/tiny/logs/engine.log)\n")
    assert "unrecognized arguments: --frobnicate" in done.stderr
    assert done.stderr.count("\n") <= 4


def test_a_dry_run_says_what_the_engine_would_do(copied: Path) -> None:
    text = (copied / "tiny.yaml").read_text()
    (copied / "tiny.yaml").write_text(text.replace("seed: 3", "seed: 4"))
    done = subprocess.run([*RUN, *ENGINE, "-n"], cwd=copied, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "rule replay:" in done.stdout
    assert done.stdout.endswith("campaign tiny: this was a dry run, nothing was made\n")


def test_receipts_say_in_which_attempt_a_cell_was_made(finished: Path) -> None:
    reports = finished / "results" / "tiny" / "small" / "canary" / "reports"
    receipts = [read_receipt(path) for path in reports.glob("*.parquet")]
    assert [receipt.attempt for receipt in receipts if receipt] == [1, 1]


def test_an_added_configuration_replays_only_its_own_cell(copied: Path) -> None:
    reports = copied / "results" / "tiny" / "small" / "canary" / "reports"
    before = {path.name: path.stat().st_mtime_ns for path in reports.glob("*.parquet")}
    text = (copied / "tiny.yaml").read_text()
    added = text.replace("representations:", "  - {name: low, latency_floor_us: 3.5}\nrepresentations:", 1)
    (copied / "tiny.yaml").write_text(added)
    code, jobs = run(copied)
    assert code == 0
    assert "trace" not in jobs
    assert "compile" not in jobs
    after = {path.name: path.stat().st_mtime_ns for path in reports.glob("*.parquet")}
    assert set(after) - set(before) == {"low.parquet"}
    assert {name: after[name] for name in before} == before
    assert len(list((copied / "results" / "tiny" / "manifests").iterdir())) == 2


def test_results_without_the_engines_records_are_made_again_where_they_are_not_of_this_configuration(
    copied: Path, finished: Path
) -> None:
    """Copied or unpacked results: the engine alone would say that all is up to date."""
    shutil.rmtree(copied / ".snakemake")
    assert run(copied) == (0, [])
    text = (copied / "tiny.yaml").read_text()
    (copied / "tiny.yaml").write_text(f"thresholds: {{median_threshold_pct: 0.001}}\n{text}")
    run(copied, "--until", "trace")  # a part of it is no reason to trust the rest
    done = subprocess.run([*RUN, *ENGINE], cwd=copied, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "every job runs, cells that hold are kept" in done.stderr
    assert {"manifest", "compare", "summary", "seal"} <= set(started_jobs(copied))
    (copied / "tiny.yaml").write_text(text)
    assert run(copied)[0] == 0
    assert root(copied) == root(finished)


def test_a_frozen_campaign_refuses_a_change_and_lists_it_before_any_job(copied: Path) -> None:
    text = (copied / "tiny.yaml").read_text()
    (copied / "tiny.yaml").write_text(f"freeze: strict\n{text}")
    assert run(copied) == (0, [])
    (copied / "tiny.yaml").write_text(f"freeze: strict\n{text.replace('seed: 3', 'seed: 4')}")
    before = artifacts(copied)
    done = subprocess.run([*RUN, *ENGINE], cwd=copied, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "  config.workloads[small].source.seed: 3 -> 4\n" in done.stderr
    assert artifacts(copied) == before


def test_a_source_changed_under_its_old_time_is_made_again(tmp_path: Path) -> None:
    """The engine looks at modification times; content is looked at here."""
    text = TINY.read_text().replace("kind: synth, name: inference, seed: 3, events: 66", "kind: trace, path: t.json")
    (tmp_path / "tiny.yaml").write_text(text)
    trace = tmp_path / "t.json"
    write_artifact(trace, TRACE, to_stored(synthetic("mixed", 1, 6)))
    until_trace = ("--until", "trace")
    assert run(tmp_path, *until_trace) == (0, ["trace"])
    assert run(tmp_path, *until_trace) == (0, [])
    at = trace.stat().st_mtime_ns
    write_artifact(trace, TRACE, to_stored(synthetic("mixed", 2, 6)))
    os.utime(trace, ns=(at, at))
    assert run(tmp_path, *until_trace) == (0, ["trace"])


def test_measurements_of_overlap_are_made_from_profiles_alone(tmp_path: Path, gloo_ddp: list[Path]) -> None:
    source = f"{{profiles: [{', '.join(map(str, gloo_ddp))}], clock: shared}}"
    entries = f"  - {{name: before, source: {source}}}\n  - {{name: after, source: {source}, against: before}}\n"
    (tmp_path / "tiny.yaml").write_text(f"{TINY.read_text()}overlap:\n{entries}")
    folder = tmp_path / "results" / "tiny" / "overlap"
    code, jobs = run(tmp_path, *(f"results/tiny/overlap/{name}.html" for name in ("before", "after")))
    assert (code, sorted(jobs)) == (0, ["overlap", "overlap", "overlap_page", "overlap_page"])
    after = read_artifact(folder / "after.json", OVERLAP).header
    assert after.against is not None
    assert after.against.verdict == "not separated"
    assert "Before and after" in (folder / "after.html").read_text()
    pages = [d for d in reporting_derivations(Plan.load(tmp_path / "tiny.yaml")) if d.outputs[0].startswith("overlap/")]
    assert [page.outputs for page in pages] == [("overlap/before.html",), ("overlap/after.html",)]
    for page in pages:
        page.make(folder.parent, tmp_path / "again")
        assert (tmp_path / "again" / page.outputs[0]).read_bytes() == (folder.parent / page.outputs[0]).read_bytes()


def test_a_study_of_three_runs_is_made_from_its_profiles(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "resources" / "overlap_study"
    ways = {way: [str(folder / f"{way}-rank{rank}.json.gz") for rank in (0, 1)] for way in SIDES}
    entry = {"name": "step", **ways, "correctness": str(folder / "correctness.json")}
    (tmp_path / "tiny.yaml").write_text(f"{TINY.read_text()}overlap_studies: {json.dumps([entry])}\n")
    code, jobs = run(tmp_path, "results/tiny/overlap-study/step.json", "results/tiny/manifest.json")
    assert (code, sorted(jobs)) == (0, ["manifest", "overlap_study"])
    found = read_artifact(tmp_path / "results" / "tiny" / "overlap-study" / "step.json", OVERLAP_STUDY).header
    assert [side.ranks for side in found.sides] == [(0, 1)] * 3
    assert found.correctness.outcome == "passed"
    inputs = json.loads((tmp_path / "results" / "tiny" / "manifest.json").read_text())["inputs"]
    assert sum(file["workload"] == "overlap-study/step" for file in inputs) == 7


def test_a_searched_representation_is_made_by_the_search_alone(copied: Path) -> None:
    text = (copied / "tiny.yaml").read_text()
    added = "  - {name: canary, method: canary}\n  - {name: smallest, method: searched}\n"
    (copied / "tiny.yaml").write_text(text.replace("  - {name: canary, method: canary}\n", added))
    folder = "results/tiny/small/smallest"
    code, jobs = run(copied, f"{folder}/canary.parquet", f"{folder}/canary.search.json")
    assert (code, jobs) == (0, ["search"])
    ledger = read_artifact(copied / folder / "canary.search.json", SEARCH_LEDGER)
    canary = read_canary(copied / folder / "canary.parquet")
    assert canary.header.compiler.behavior_search is not None
    assert canary.header.compiler.behavior_search.ledger_content_id == ledger.content_id


def test_a_bad_configuration_stops_before_any_job(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.read_text().replace("bandwidth_gbps: 28", "bandwidth_gbps: 0"))
    done = subprocess.run([*RUN, *ENGINE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("commcanary: tiny.yaml: configurations[1].bandwidth_gbps: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_sources_of_one_job_are_reconciled(tmp_path: Path) -> None:
    """The profile and the execution trace were on for the same steps; the trace of a synthetic job is another job."""
    folder = Path(__file__).parents[2] / "resources" / "one_job"
    profiles = [str(folder / f"rank{rank}.pt.trace.json.gz") for rank in (0, 1)]
    traces = [str(folder / f"et_rank{rank}.json.gz") for rank in (0, 1)]
    workloads = [
        {"name": "profile", "source": {"kind": "kineto", "profiles": profiles}},
        {"name": "observer", "source": {"kind": "chakra", "traces": traces, "ranks": [0, 1]}},
    ]
    jobs_of = [
        {"name": "same", "workloads": ["profile", "observer"]},
        {"name": "not", "workloads": ["profile", "small"]},
    ]
    small, _, rest = TINY.read_text().partition("workloads:\n")
    listed = "".join(f"  - {json.dumps(workload)}\n" for workload in workloads)
    (tmp_path / "tiny.yaml").write_text(f"{small}workloads:\n{listed}{rest}reconcile: {json.dumps(jobs_of)}\n")
    code, jobs = run(tmp_path, *(f"results/tiny/reconcile/{name}.json" for name in ("same", "not")))
    assert (code, sorted(jobs)) == (0, ["reconcile", "reconcile", "trace", "trace", "trace"])
    found = {
        name: read_artifact(tmp_path / "results" / "tiny" / "reconcile" / f"{name}.json", RECONCILIATION).header.closes
        for name in ("same", "not")
    }
    assert found == {"same": True, "not": False}
