"""An export that is impossible stops a command, and is an account of nothing in a campaign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.compile.compiler import CompileSettings
from commcanary.errors import InputRefusal
from commcanary.stages.compile import compile_stage
from commcanary.stages.export_param import export_param_stage
from commcanary.stages.trace import trace_stage
from commcanary.targets.param_account import PARAM_ACCOUNT

from .campaigns import make_campaign, write_config


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """The ranking inversion's, which knows no data type: 400 all-reduces."""
    trace_stage("r", {"kind": "synth", "name": "ranking-inversion"}, (), tmp_path / "trace.parquet")
    compile_stage(tmp_path / "trace.parquet", tmp_path / "canary.parquet", CompileSettings())
    return tmp_path / "canary.parquet"


def test_the_command_refuses_and_writes_nothing(canary: Path) -> None:
    with pytest.raises(InputRefusal, match="dtype"):
        export_param_stage(canary, canary.with_name("param.json"), dtype=None, skip_unsupported=False)
    assert not list(canary.parent.glob("param*"))


@pytest.mark.parametrize("skip", [False, True])
def test_a_campaign_has_an_account_that_says_why_nothing_was_exported(canary: Path, skip: bool) -> None:
    param = canary.with_name("param.json")
    export_param_stage(canary, param, dtype=None, skip_unsupported=skip, may_be_empty=True)
    assert json.loads(param.read_text()) == []
    account = read_artifact(canary.with_name("param.account.json"), PARAM_ACCOUNT).header
    assert (account.exported, account.entries, account.world_size_needed) == ({}, {}, 0)
    assert sum(row.events for row in account.skipped) == account.events > 0
    assert all(row.reason.startswith("export refused: events[0].dtype ") for row in account.skipped)


def test_tables_and_page_of_such_a_campaign_are_made(tmp_path: Path) -> None:
    source = {"kind": "synth", "name": "ranking-inversion"}
    config = {
        "campaign": "small",
        "configurations": [{"name": "baseline"}],
        "representations": [{"name": "canary", "method": "canary"}],
        "workloads": [{"name": "made", "source": source}],
    }
    make_campaign(tmp_path / "small", write_config(tmp_path, config))
    page = (tmp_path / "small" / "report.html").read_text()
    assert "export refused: events[0].dtype" in page
    assert 'href="made/canary/param.json"' not in page
    assert 'href="made/canary/param.account.json"' in page
