"""``show`` of a report with a schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.cli.main import run


def test_show_says_where_the_critical_path_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, canary, report = (str(tmp_path / f"{name}.json") for name in ("trace", "canary", "report"))
    assert run(["synth", "pipeline", "-o", trace, "--events", "49"]) == 0
    assert run(["compile", trace, "-o", canary]) == 0
    assert run(["replay", canary, "-o", report, "--model", "closed-loop-v1", "--ablate", "noise"]) == 0
    assert "makespan=330000.000 us" in capsys.readouterr().out
    assert run(["show", report]) == 0
    shown = capsys.readouterr().out
    assert "\nmakespan 330000.000 us\n" in shown
    assert "\nrank 0: busy 70.47 %, exposed 29.53 %, idle 0.00 %\n" in shown
    assert "% communication; its largest parts\n  rank 3 compute: " in shown
    assert run(["replay", canary, "-o", report]) == 0
    assert run(["show", report]) == 0
    assert "makespan" not in capsys.readouterr().out
