"""Damaged logs: refused by name, or read into numbers that stand in the file and belong together."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from commcanary.sources.nccl_tests.calibration import CalibrationSettings, calibrated
from commcanary.sources.nccl_tests.reading import read_nccl_tests

from ..fuzzing import INPUTS, mutated, refused
from .logs import new_log, new_row, report, result

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.sources.nccl_tests.table import NcclTestsTable

SIZES = [1 << power for power in range(10, 21)]
WHOLE = {
    "log": new_log([new_row(size, 20 + size / 10_000) for size in SIZES]),
    "json": report([result(size, 20 + size / 10_000) for size in SIZES]),
}
NUMBER = re.compile(rb"[-+0-9.eE]+")
SETTINGS = CalibrationSettings(operation="all_reduce", side="in_place")


@pytest.mark.parametrize("form", ["log", "json"])
def test_mutated_files(tmp_path: Path, form: str) -> None:
    rng = random.Random(20261129)
    path = tmp_path / "run.log"
    outcomes = {"refused": 0, "read": 0, "calibrated": 0}
    for _ in range(INPUTS // 2):
        data = mutated(rng, WHOLE[form].encode()) or b"x"
        path.write_bytes(data)
        on_error = rng.choice(["stop", "skip"])
        tables: list[NcclTestsTable] = []
        if refused(lambda mode=on_error, found=tables: found.append(read_nccl_tests(path, mode))):
            outcomes["refused"] += 1
            continue
        (table,) = tables
        written = {float(word) for word in NUMBER.findall(data) if _is_number(word)}
        for row in table.rows:
            assert row.bytes in written
            for _, timing in row.timings():
                assert timing.time_us in written
                assert row.bytes / timing.time_us / 1000 == pytest.approx(timing.algbw, abs=0.006 + 0.03 * timing.algbw)
        fits = refused(lambda read=table: calibrated("c", read, SETTINGS))
        outcomes["read" if fits else "calibrated"] += 1
    assert outcomes["refused"] > 10
    assert outcomes["calibrated"] > 10


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
