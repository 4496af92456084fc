"""Real profiles through the whole chain: import, compile, replay, verify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def profiles(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "gloo":
        return [str(path) for path in request.getfixturevalue("gloo_ddp")]
    return [str(request.getfixturevalue("shared_traces") / "kineto" / "dlrm_kineto.tar.gz")]


@pytest.mark.parametrize(
    ("profiles", "events", "assumed"),
    [("gloo", 151, ["--assume", "compute_overlap_us=0"]), ("dlrm", 8, [])],
    indirect=["profiles"],
)
def test_chain(
    profiles: list[str],
    events: int,
    assumed: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["import-kineto", *profiles, "-o", "trace.parquet", "--assume-shared-clock"]) == 0
    assert f"imported {events} collective events" in capsys.readouterr().out
    assert run(["compile", "trace.parquet", "-o", "canary.json"]) == 0
    assert run(["replay", "canary.json", "-o", "report.json", "--include-samples", *assumed]) == 0
    assert f"replayed {events} events" in capsys.readouterr().out
    assert run(["verify-report", "report.json", "canary.json", "-o", "verified.json"]) == 0
    assert run(["verify-source", "trace.parquet", "canary.json", "-o", "source.json"]) == 0
    assert "source_verified" in capsys.readouterr().out


def test_unknown_skew_stops_the_replay(
    gloo_ddp: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["import-kineto", *map(str, gloo_ddp), "-o", "trace.json"]) == 0
    assert run(["compile", "trace.json", "-o", "canary.json"]) == 0
    assert run(["replay", "canary.json", "-o", "report.json", "--assume", "compute_overlap_us=0"]) == 3
    assert "rank_arrival_us" in capsys.readouterr().err
    assert not (tmp_path / "report.json").exists()
