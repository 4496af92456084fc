"""What was written as .json and as .parquet is one artifact: the same content id, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import format_of, read_artifact, write_artifact
from commcanary.artifacts.stored import Kind, Stored
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import IntegrityRefusal
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.replay.report import REPORT, Replayer, without_samples
from commcanary.sources.synthetic.inference import inference


class Opinion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag="test.opinion.v1"):
    text: str
    weight: float


OPINION = document_kind("opinion", "test.opinion.v1", Opinion)


def artifacts() -> dict[str, tuple[Kind[Any], Stored[Any]]]:
    trace = inference(1, 70)
    canary = compile_trace(trace, CompileSettings())
    protocol = Protocol(seeds=(7, 8), iterations=2)
    report = Replayer(canary, "scheduler-v4").report(Configuration(name="baseline"), protocol)
    return {
        "trace": (TRACE, trace.stored),
        "canary": (CANARY, canary.stored),
        "snapped canary": (CANARY, compile_trace(trace, CompileSettings(quantum_ns=1000)).stored),
        "report": (REPORT, report),
        "report without samples": (REPORT, without_samples(report)),
        "document": (OPINION, Stored(Opinion("é", 0.1 + 0.2))),
    }


@pytest.fixture(scope="module")
def made() -> dict[str, tuple[Kind[Any], Stored[Any]]]:
    return artifacts()


NAMES = ("trace", "canary", "snapped canary", "report", "report without samples", "document")


@pytest.mark.parametrize("name", NAMES)
def test_one_content_id(made: dict[str, tuple[Kind[Any], Stored[Any]]], tmp_path: Path, name: str) -> None:
    kind, stored = made[name]
    for suffix in (".json", ".parquet"):
        path = tmp_path / f"x{suffix}"
        write_artifact(path, kind, stored)
        back = read_artifact(path, kind)
        assert back.content_id == stored.content_id
        assert format_of(path) == kind.format


def test_samples_are_bound_though_they_are_left_out(made: dict[str, tuple[Kind[Any], Stored[Any]]]) -> None:
    assert made["report"][1].content_id == made["report without samples"][1].content_id


@pytest.mark.parametrize("name", [n for n in NAMES if n != "trace"])
def test_a_changed_text_is_noticed(made: dict[str, tuple[Kind[Any], Stored[Any]]], tmp_path: Path, name: str) -> None:
    kind, stored = made[name]
    path = tmp_path / "x.json"
    write_artifact(path, kind, stored)
    text = path.read_text()
    changed = text.replace(stored.content_id, "0" * 64)
    assert changed != text
    path.write_text(changed)
    with pytest.raises(IntegrityRefusal, match="the file was changed after it was written"):
        read_artifact(path, kind)
