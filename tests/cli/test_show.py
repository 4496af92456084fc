"""What `show` prints of documents: every kind readable, no table cut where nobody's screen ends."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from commcanary.cli.describe_document import print_document
from commcanary.cli.main import run


def shown(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    capfd.readouterr()
    assert run(["show", *arguments]) == 0
    return capfd.readouterr().out


def test_a_coverage_table_is_whole_when_piped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reason = "no rank that the profile names takes part in it, so that nobody can say who waited for whom"
    trace = {
        "format": "commcanary.trace.v1",
        "events": [{"op": "all_reduce", "bytes": 8, "ranks": 2}],
        "coverage": [
            {"rank": 0, "rule": "a rule of some length", "seen": 3, "taken": 1, "skipped": 2, "reason": reason}
        ],
    }
    file = tmp_path / "t.json"
    file.write_bytes(msgspec.json.encode(trace))
    assert reason in shown(capfd, str(file))


def test_long_lists_end_after_twenty_rows(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    coverage = [{"rank": rank, "rule": f"rule {rank}.", "seen": 1, "taken": 1} for rank in range(50)]
    names = {f"field {number}": "why" for number in range(30)}
    trace = {
        "format": "commcanary.trace.v1",
        "events": [{"op": "all_reduce", "bytes": 1 + size, "ranks": 2} for size in range(26)],
        "coverage": coverage,
        "unknown": names,
        "assumptions": dict.fromkeys(names, 1.0),
        "workload": {"nested": {name: {"a": 1} for name in (*names, *map(str, range(30)))}},
    }
    file = tmp_path / "t.json"
    file.write_bytes(msgspec.json.encode(trace))
    said = shown(capfd, str(file))
    assert said.count("unknown field ") == said.count("assumed field ") == said.count("all_reduce") == 20
    assert "rule 19." in said
    assert "rule 20." not in said
    assert [line for line in said.splitlines() if "and " in line and "more" in line] == [
        "workload.nested: and 20 more",
        "and 10 more",
        "and 10 more",
        "and 6 more kinds of event",
        "and 30 more",
    ]


def test_a_reduction_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace, reduced = str(tmp_path / "t.json"), str(tmp_path / "r.json")
    assert run(["synth", "ranking-inversion", "-o", trace]) == 0
    assert run(["reduce", trace, "-o", reduced]) == 0
    said = shown(capfd, reduced)
    assert "workload.reduction.method: ddmin_ranking" in said
    assert "workload.reduction.original_events: 100" in said


def test_a_behaviour_verification_is_readable(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace, canary, found = (str(tmp_path / f"{name}.json") for name in "tcv")
    assert run(["synth", "mixed", "-o", trace, "--events", "40"]) == 0
    assert run(["compile", trace, "-o", canary, "--quantum-us", "50"]) == 0
    assert run(["verify-behavior", trace, canary, "-o", found]) == 1
    said = shown(capfd, found)
    assert said.splitlines()[1].startswith("status failed: 40 events against 40 of the source")
    assert "configuration_ranking_status: " in said
    assert "{" not in said  # no raw document
    assert "reproduce: commcanary verify-behavior" in shown(capfd, found, "--why")


def test_any_document(capfd: pytest.CaptureFixture[str]) -> None:
    print_document({"format": "x", "a": 1, "b": {"c": [1, 2], "d": {}}, "e": [{"k": None, "v": 0.12345}, {"k": "y"}]})
    assert [line.rstrip() for line in capfd.readouterr().out.splitlines()] == [
        "a: 1",
        "b.c: 1, 2",
        "b.d: none",
        "e: 2",
        "k  v",
        "   0.123",
        "y",
    ]
