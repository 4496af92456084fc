"""Whether the numbers of a row belong together: a shifted column, a cut digit and a wrong result do not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_tests.table import ELEMENT_BYTES

if TYPE_CHECKING:
    from commcanary.sources.nccl_tests.table import Row, Timing

SLACK = 0.02
"""Relative room between a printed bandwidth and bytes / time beyond what their printed digits leave open."""

SMALLEST_STEP_GB_S = 0.005
"""Half of the last printed digit of a small bandwidth."""


def check_row(row: Row, ranks: int | None) -> None:
    """Raise ``InputRefusal`` naming the row's place and both numbers that contradict each other."""
    element = ELEMENT_BYTES.get(row.dtype)
    if element is not None:
        factors = {1} if ranks is None else {1, ranks}
        whole = row.count * element
        fits = row.bytes in {whole * factor for factor in factors}
        if ranks is None:
            fits = row.bytes == whole or (whole > 0 and row.bytes % whole == 0)
        if not fits:
            raise _corrupted(row, f"says {row.bytes} bytes but {row.count} elements of {row.dtype}")
    for side, timing in row.timings():
        _check_timing(row, side, timing)


def _check_timing(row: Row, side: str, timing: Timing) -> None:
    for name, value in (("time", timing.time_us), ("algbw", timing.algbw), ("busbw", timing.busbw)):
        if not (math.isfinite(value) and value >= 0):
            raise _corrupted(row, f"{side} {name} is {value}")
    if timing.time_us == 0:
        raise _corrupted(row, f"{side} time is 0 us")
    expected = row.bytes / timing.time_us / 1000
    if abs(expected - timing.algbw) > SMALLEST_STEP_GB_S + SLACK * max(expected, timing.algbw):
        raise _corrupted(
            row, f"{side} algbw is {timing.algbw} GB/s but {row.bytes} bytes in {timing.time_us} us are {expected:.2f}"
        )
    if timing.wrong:
        raise InputRefusal(
            row.place,
            f"{timing.wrong:g} elements of the {side} result are wrong",
            "a run that computes wrong results measures nothing; repair it, or leave the row out with --on-error skip",
        )


def _corrupted(row: Row, found: str) -> InputRefusal:
    return InputRefusal(row.place, found, "the row is corrupted: run again, or leave it out with --on-error skip")
