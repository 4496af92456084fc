"""An option that would change nothing is wrong usage, before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("calibrate x.log -o o.yaml --operation nope", "--operation nope"),
        ("compare x.json y.json -o o.json --canary z.json", "--canary"),
        ("whatif x.yaml -o o.json --parts 3", "--parts"),
        ("whatif x.yaml -o o.json --grid 12", "--grid"),
        ("overlap x.json -o o.json --step-gap-ms 1", "--step-gap-ms"),
        ("baseline x.json -o o.json --method isolated --cluster-count 3", "--cluster-count"),
        ("baseline x.json -o o.json --method random --strata-per-group 4", "--strata-per-group"),
        ("baseline x.json -o o.json --method cluster --seed 1", "--seed"),
        ("baseline x.json -o o.json --method cluster --model closed-loop-v1", "--model"),
        ("baseline x.json -o o.json --method frequency --assume gap_us=1", "--assume"),
        ("compile x.json -o o.json --model closed-loop-v1", "--model"),
        ("compile x.json -o o.json --assume gap_us=1", "--assume"),
        ("compile x.json -o o.json --reference-trace y.json", "--reference-trace"),
        ("compile x.json -o o.json --held-out y.yaml", "--held-out"),
        (
            "compile x.json -o o.json --require-behavior-verification --behavior-search-min-sample-limit 3",
            "--behavior-search-min-sample-limit",
        ),
    ],
)
def test_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: str, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments.split()) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"commcanary: {option}")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_operation_that_is_not_the_logs(
    shared_traces: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = shared_traces / "nccl-tests" / "superbench_nccl_allreduce.log"
    assert run(["calibrate", str(log), "-o", str(tmp_path / "c.yaml"), "--operation", "all_gather"]) == 2
    assert "--operation all_gather changes nothing: the logs say all_reduce" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
