"""A job's refusal says what to write in the campaign's configuration, not which option of a command to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from commcanary.campaign.config import Workload
from commcanary.cli.main import run
from commcanary.stages.configured import as_configured
from commcanary.stages.job import job_log
from commcanary.stages.replay import replay_batch_stage

if TYPE_CHECKING:
    from pathlib import Path


def test_a_refused_replay_names_the_key_to_assume_by(tmp_path: Path) -> None:
    trace, canary, log = tmp_path / "t.json", tmp_path / "c.json", tmp_path / "job.log"
    row = {"op": "all_reduce", "bytes": 8, "ranks": 2, "gap_us": 5.0}
    trace.write_bytes(msgspec.json.encode({"format": "commcanary.trace.v1", "events": [row], "unknown": {}}))
    if run(["compile", str(trace), "-o", str(canary)]) != 0:
        pytest.fail("the trace cannot be compiled")
    with pytest.raises(SystemExit) as ended, job_log(str(log)):
        replay_batch_stage(
            canary,
            tmp_path / "reports" / "index-0.json",
            [{"name": "baseline"}],
            {"seeds": [7], "iterations": 1, "ablations": []},
            model="closed-loop-v1",
            assumptions={},
            code="code",
            attempt=1,
        )
    assert ended.value.code == 3
    said = log.read_text()
    assert said.count("\n") == 1
    assert "--" not in said
    assert "assume: {compute_before_us: VALUE}" in said
    field = said.partition("assume: {")[2].partition(":")[0]
    assert msgspec.convert(
        {"name": "w", "source": {"kind": "trace", "path": "t.json"}, "assume": {field: 1}}, Workload
    ).assume == {field: 1}


@pytest.mark.parametrize(
    ("said", "configured"),
    [
        ("or state it with --assume gap_us=VALUE", "or state it with assume: {gap_us: VALUE}"),
        ("--assume gap_us=-1.5: give 0 to 5 us", "assume: {gap_us: -1.5}: give 0 to 5 us"),
        ("declare --assume-default-group with --world-size", "declare assume_default_group: true with world_size"),
        (
            "(import-kineto --assume-shared-clock or --clock-offset-us)",
            "(clock: shared or clock_offsets_us)",
        ),
        ("state it with --rank, once for each", "state it with ranks, once for each"),
        ("--rank is given 2 times; --ranks 8", "ranks is given 2 times; --ranks 8"),
        ("allow more with --max-input-bytes if", "allow more with --max-input-bytes if"),
    ],
)
def test_options_are_said_as_keys(said: str, configured: str) -> None:
    assert as_configured(said) == configured
