"""A receipt holds exactly while inputs, settings, code and the file itself are what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.campaign.receipts import cell_id, held_receipt, receipt_path, write_receipt

MADE_FROM = {"stage": "replay", "inputs": {"canary": "ab"}, "settings": {"seed": 7}, "code": "cd", "attempt": 2}
CELL = cell_id("replay", {"canary": "ab"}, {"seed": 7}, "cd")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    file = tmp_path / "report.parquet"
    file.write_bytes(b"report")
    write_receipt(file, "content", **MADE_FROM)  # type: ignore[arg-type]
    return file


def test_it_holds_for_the_same_cell(output: Path) -> None:
    held = held_receipt(output, CELL)
    assert held is not None
    assert held.output_content_id == "content"
    assert held.attempt == 2


@pytest.mark.parametrize(
    "other",
    [
        cell_id("compile", {"canary": "ab"}, {"seed": 7}, "cd"),
        cell_id("replay", {"canary": "ac"}, {"seed": 7}, "cd"),
        cell_id("replay", {"canary": "ab"}, {"seed": 8}, "cd"),
        cell_id("replay", {"canary": "ab"}, {"seed": 7}, "ce"),
    ],
)
def test_it_does_not_hold_for_another_cell(output: Path, other: str) -> None:
    assert held_receipt(output, other) is None


def test_it_does_not_hold_for_a_changed_file(output: Path) -> None:
    output.write_bytes(b"Report")
    assert held_receipt(output, CELL) is None


def test_it_does_not_hold_for_a_file_that_is_gone(output: Path) -> None:
    output.unlink()
    assert held_receipt(output, CELL) is None


@pytest.mark.parametrize("text", ["", "{", "{}", '{"cell": 1}'])
def test_a_damaged_receipt_is_no_receipt(output: Path, text: str) -> None:
    receipt_path(output).write_text(text)
    assert held_receipt(output, CELL) is None
