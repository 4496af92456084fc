"""nccl-tests tables as laws that an overlap measurement holds collectives against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import UnknownValueRefusal
from commcanary.sources.nccl_tests.calibration import CalibrationSettings, measured_points
from commcanary.sources.nccl_tests.reading import read_nccl_tests
from commcanary.stages.reading import naming
from commcanary.timeline.alpha_beta import fit_alpha_beta
from commcanary.timeline.transfer_baseline import TransferLaw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def transfer_laws(tables: Sequence[Path]) -> tuple[TransferLaw, ...]:
    """The fitted law of each table; raises ``UnknownValueRefusal`` where one says no operation or no ranks."""
    return tuple(_law(path) for path in tables)


def _law(path: Path) -> TransferLaw:
    with naming(path):
        table = read_nccl_tests(path)
        if table.operation is None or table.ranks is None:
            raise UnknownValueRefusal(
                "heading",
                "does not say operation and ranks",
                "give the whole log of an nccl-tests that names its program",
            )
        points = measured_points(table, CalibrationSettings())
        fit = fit_alpha_beta([size for size, _ in points], [time for _, time in points])
        return TransferLaw(path.name, table.operation, table.ranks, fit.law, fit.largest_residual_pct)
