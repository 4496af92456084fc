"""An overlap document changed in any one place: the lazy forger is refused, the careful one by its own sums."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.cli.main import run
from commcanary.errors import Refusal
from commcanary.timeline.overlap import OVERLAP

DEFAULTS = ("format removed", "meaning removed", "dependency removed")
"""What a reader puts back as it was: the document says the same."""

Mutations = Callable[[Any], Iterator[tuple[str, Any]]]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory, gloo_ddp: list[Path]) -> dict[str, Any]:
    """A measurement with steps, payload and late ranks; the strip and most windows cut short to keep it small."""
    output = tmp_path_factory.mktemp("overlap") / "o.json"
    assert (
        run(["overlap", *map(str, gloo_ddp), "-o", str(output), "--assume-shared-clock", "--trim", "0.1", "0.13"]) == 0
    )
    found: dict[str, Any] = json.loads(output.read_text())
    del found["content_id"]
    for device in found["devices"]:
        device["strip"]["ns"] = [row[:3] for row in device["strip"]["ns"]]
        device["windows"] = device["windows"][:1]
    return found


def test_every_change_under_the_old_content_id_is_refused(
    document: dict[str, Any], mutations: Mutations, tmp_path: Path
) -> None:
    stated = OVERLAP.from_json(json.dumps(document).encode()).content_id
    survived, tried = [], 0
    for place, changed in mutations(document):
        if place.startswith("source_files") or place.endswith(DEFAULTS):
            continue
        tried += 1
        try:
            found = OVERLAP.from_json(json.dumps(changed).encode()).content_id
        except Refusal:
            continue
        if found == stated:
            survived.append(place)
    assert tried > 500
    assert survived == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("devices", 0, "main", "both_ns"), "the four parts sum to"),
        (("devices", 0, "main", "span_ns"), "the four parts sum to"),
        (("devices", 0, "main", "overlap_pct"), "overlap_pct is"),
        (("devices", 0, "main", "communication_only_pct"), "communication_only_pct is"),
        (("devices", 0, "kinds", 0, "exposed_ns"), "kinds' exposed time sum to"),
        (("devices", 0, "groups", 0, "communication_ns"), "groups' communication sum to"),
        (("devices", 0, "cells", 0, "ns"), "cells sum to"),
        (("devices", 0, "exposure", "sum_ns"), "the bands' sums do not sum to sum_ns"),
        (("devices", 0, "exposure", "bands", 0, "others_ns"), "contributors and others sum to"),
        (("devices", 0, "ceiling", "bound_ns"), "the ceiling sum to"),
        (("payload", 0, "calls"), "calls or kernels of sizes, ranks and the row differ"),
        (("payload", 0, "bytes_total"), "bytes of sizes, ranks and the row differ"),
    ],
)
def test_a_forger_who_states_a_new_content_id_contradicts_the_sums(
    document: dict[str, Any], tmp_path: Path, path: tuple[str | int, ...], words: str
) -> None:
    changed = json.loads(json.dumps(document))
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] += 1
    (tmp_path / "o.json").write_text(json.dumps({**changed, "content_id": "0" * 64}))
    with pytest.raises(Refusal) as refused:
        read_artifact(tmp_path / "o.json", OVERLAP)
    assert words in str(refused.value)
    assert "hashes to" not in str(refused.value)


def test_both_containers_hold_the_same_document(document: dict[str, Any], tmp_path: Path) -> None:
    stored: Stored[Any] = OVERLAP.from_json(json.dumps(document).encode())
    for name in ("o.json", "o.parquet"):
        write_artifact(tmp_path / name, OVERLAP, stored)
        assert read_artifact(tmp_path / name, OVERLAP).content_id == stored.content_id
