"""How long it took: read from the engine's benchmark files, whatever a killed job left there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.reporting.benchmarks import Job, read_jobs, seconds_by_rule

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "s\th:m:s\tmax_rss\tmax_vms\n"


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_jobs_are_read_slowest_first(tmp_path: Path) -> None:
    write(tmp_path, "replay/w.canary.0.tsv", f"{HEADER}1.5\t0:00:01\t120.25\t900\n")
    write(tmp_path, "compile/w.canary.tsv", f"{HEADER}2.5\t0:00:02\t-\t-\n")
    write(tmp_path, "page/campaign.tsv", f"{HEADER}99\t0:01:39\t1\t1\n")
    jobs = read_jobs(tmp_path, without=("page",))
    assert jobs == (Job("compile", "w.canary", 2.5, None), Job("replay", "w.canary.0", 1.5, 120.25))


@pytest.mark.parametrize("text", [HEADER, f"{HEADER}NA\tNA\tNA\tNA\n", "\n", "other\tcolumns\n1\t2\n"])
def test_a_file_without_seconds_is_no_job(tmp_path: Path, text: str) -> None:
    write(tmp_path, "replay/killed.tsv", text)
    assert read_jobs(tmp_path) == ()


def test_no_folder_is_no_job(tmp_path: Path) -> None:
    assert read_jobs(tmp_path / "benchmarks") == ()


def test_sums_by_rule_largest_first() -> None:
    jobs = [Job("a", "1", 1.0, None), Job("b", "1", 5.0, None), Job("a", "2", 2.0, None)]
    assert seconds_by_rule(jobs) == (("b", 1, 5.0), ("a", 2, 3.0))
