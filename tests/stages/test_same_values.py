"""Files say the same where only last bits differ, and nothing else passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commcanary.stages.same_values import difference

DOCUMENT = {"content_id": "aa", "rows": [{"us": 10.0, "of": "bb", "n": 1}]}


def found(folder: Path, actual: Any) -> str | None:
    for name, document in (("expected.json", DOCUMENT), ("actual.json", actual)):
        (folder / name).write_text(json.dumps(document))
    return difference(folder / "expected.json", folder / "actual.json")


def document(**row: Any) -> dict[str, Any]:
    return {"content_id": "cc", "rows": [{**DOCUMENT["rows"][0], **row}]}  # type: ignore[dict-item]


def test_equal_bytes_say_the_same(tmp_path: Path) -> None:
    assert found(tmp_path, DOCUMENT) is None


def test_a_last_bit_and_the_id_that_follows_from_it_are_the_same(tmp_path: Path) -> None:
    assert found(tmp_path, document(us=10.000000001)) is None


@pytest.mark.parametrize(
    ("actual", "place"),
    [
        (document(us=10.001), "rows[0].us: 10.0 is not 10.001"),
        (document(of="bc"), "rows[0].of: bb is not bc"),
        (document(n=2), "rows[0].n: 1 is not 2"),
        (document(n=1.0), "rows[0].n: 1 is not 1.0"),
        (document(), "content_id: does not follow from the content"),
        (document(more=1), "rows[0].more: not there when derived"),
        ({"content_id": "aa", "rows": []}, "rows: 1 rows are not 0"),
        ({"content_id": "aa"}, "rows: only there when derived"),
    ],
)
def test_anything_else_differs(tmp_path: Path, actual: Any, place: str) -> None:
    assert found(tmp_path, actual) == place


def test_text_differs_at_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("x\n2\n")
    assert difference(tmp_path / "a.csv", tmp_path / "b.csv") == "line 2"
