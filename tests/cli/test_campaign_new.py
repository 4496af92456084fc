"""``campaign new``: the configuration says what its files know."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from commcanary.campaign.config_file import load_config
from commcanary.campaign.workload_sources import files_of
from commcanary.cli.main import run


@pytest.mark.parametrize(("known", "model"), [(True, "closed-loop-v1"), (False, "scheduler-v4")])
def test_the_closed_loop_is_chosen_where_compute_before_is_known(tmp_path: Path, known: bool, model: str) -> None:
    row = {"op": "all_reduce", "bytes": 8, "ranks": 2, "gap_us": 5.0} | ({"compute_before_us": 3.0} if known else {})
    document = {"format": "commcanary.trace.v1", "events": [row, row]}
    trace, config = tmp_path / "trace.json", tmp_path / "my.yaml"
    trace.write_bytes(msgspec.json.encode(document))
    assert run(["campaign", "new", "--from", str(trace), "-o", str(config)]) == 0
    assert load_config(config).replay.model == model
    assert ("does not know the compute before" in config.read_text()) is not known
    names = [configuration.name for configuration in load_config(config).configurations]
    left_out = "# overlap_friendly is left out: closed-loop-v1 does not read its overlap_efficiency."
    assert ("overlap_friendly" in names, left_out in config.read_text()) == (not known, known)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_canary_is_no_source_and_is_named(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    trace, canary, config = tmp_path / "trace.json", tmp_path / f"canary{suffix}", tmp_path / "my.yaml"
    assert run(["synth", "mixed", "--events", "5", "-o", str(trace)]) == 0
    assert run(["compile", str(trace), "-o", str(canary)]) == 0
    capsys.readouterr()
    for files in ([canary], [trace, canary]):
        given = [part for file in files for part in ("--from", str(file))]
        assert run(["campaign", "new", *given, "-o", str(config)]) == 3
        error = capsys.readouterr().err
        assert f"{canary}: format: is a canary (commcanary.canary." in error
        assert "give a trace, or the profiles of a job" in error
        assert not config.exists()


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (["nsys/two_ranks.sqlite"], "nsys"),
        (["one_job/fr_rank0.json", "one_job/fr_rank1.json"], "flight-recorder"),
        ([f"nccl_job/inspector-node-{r // 2}-pid{4000 + r}.log" for r in range(4)], "nccl-inspector"),
        ([f"nccl_job/nccl-node-{r // 2}-{4000 + r}.log" for r in range(4)], "nccl-log"),
    ],
)
def test_any_source_becomes_a_campaign(tmp_path: Path, files: list[str], kind: str) -> None:
    resources = Path(__file__).resolve().parents[2] / "resources"
    config = tmp_path / "mine.yaml"
    given = [part for name in files for part in ("--from", str(resources / name))]
    assert run(["campaign", "new", *given, "-o", str(config)]) == 0
    source = load_config(config).workloads[0].source
    assert source.__struct_config__.tag == kind
    key = {"nsys": "exports", "flight-recorder": "dumps", "nccl-inspector": "records", "nccl-log": "logs"}[kind]
    assert list(files_of(source)) == [f"{key}[{i}]" for i in range(len(files))]


@pytest.mark.parametrize(
    "name",
    [
        "rank{0} {x}.json",
        "a: b # c, d.json",
        "'q\" \\.json",
        "*[b]? ~ $HOME &x.json",
        "- y.json",
        "~.json",
        "tab\tand\nline.json",
        "\u00fcn\u0131c\u00f6de \x85\u2028.json",
        " blank .json",
    ],
)
@pytest.mark.parametrize("kind", ["trace", "profile"])
def test_a_file_may_be_called_anything(tmp_path: Path, name: str, kind: str) -> None:
    folder = tmp_path / f"in {name}"
    folder.mkdir()
    if kind == "trace":
        assert run(["synth", "mixed", "--events", "5", "-o", str(folder / name)]) == 0
    else:
        name += ".gz"
        profile = Path(__file__).resolve().parents[2] / "resources" / "one_job" / "rank0.pt.trace.json.gz"
        (folder / name).write_bytes(profile.read_bytes())
    config = tmp_path / "mine.yaml"
    assert run(["campaign", "new", "--from", str(folder / name), "-o", str(config)]) == 0
    assert list(files_of(load_config(config).workloads[0].source).values()) == [f"in {folder.name[3:]}/{name}"]


@pytest.mark.parametrize("stem", ["123", "1e5", "true", "null", "2020-01-01", "tables", "Logs", "a" * 200, "0x1f", "y"])
def test_a_configuration_may_be_called_anything(tmp_path: Path, stem: str) -> None:
    trace, config = tmp_path / "trace.json", tmp_path / f"{stem}.yaml"
    assert run(["synth", "mixed", "--events", "5", "-o", str(trace)]) == 0
    assert run(["campaign", "new", "--from", str(trace), "-o", str(config)]) == 0
    assert stem[:60] in load_config(config).campaign


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, config = tmp_path / "trace.json", tmp_path / "mine.yaml"
    assert run(["synth", "mixed", "--events", "5", "-o", str(trace)]) == 0
    odd = trace.rename(tmp_path / "caf\udce9.json")
    capsys.readouterr()
    assert run(["campaign", "new", "--from", str(odd), "-o", str(config)]) == 3
    error = capsys.readouterr().err
    assert "not UTF-8" in error
    assert error.count("\n") == 1
    assert not config.exists()
