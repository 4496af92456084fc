"""What an nccl-tests run says: sizes, times and what it ran on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Place = Literal["out_of_place", "in_place"]

OPERATION_OF_PROGRAM = {
    "all_reduce_perf": "all_reduce",
    "all_gather_perf": "all_gather",
    "reduce_scatter_perf": "reduce_scatter",
    "alltoall_perf": "all_to_all",
    "broadcast_perf": "broadcast",
    "reduce_perf": "reduce",
    "gather_perf": "gather",
    "scatter_perf": "scatter",
    "sendrecv_perf": "point_to_point",
}
"""The operation that each program of nccl-tests measures, by our names."""

ELEMENT_BYTES = {
    "int8": 1,
    "uint8": 1,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "half": 2,
    "float": 4,
    "double": 8,
    "bfloat16": 2,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
}
"""Bytes of one element by the name in the type column; a type that is not listed is not checked."""


@dataclass(frozen=True)
class Timing:
    """One measured side of a row: mean time in us, algorithm and bus bandwidth in GB/s (1e9), wrong elements.

    ``wrong`` is None where the run did not check its results.
    """

    time_us: float
    algbw: float
    busbw: float
    wrong: float | None


@dataclass(frozen=True)
class Row:
    """One size. ``place`` names the line or the JSON path that it stands at; ``bytes`` is S as nccl-tests counts."""

    place: str
    bytes: int
    count: int
    dtype: str
    reduction: str | None
    root: int | None
    out_of_place: Timing | None
    in_place: Timing | None

    def timing(self, side: Place) -> Timing | None:
        """The measurement of that side, None where it was not made."""
        return self.out_of_place if side == "out_of_place" else self.in_place

    def timings(self) -> Iterator[tuple[Place, Timing]]:
        """The measurements that were made."""
        if self.out_of_place is not None:
            yield "out_of_place", self.out_of_place
        if self.in_place is not None:
            yield "in_place", self.in_place


@dataclass(frozen=True)
class Skipped:
    """A row that was left out on request: where it stands and what is wrong with it."""

    place: str
    reason: str


@dataclass(frozen=True)
class NcclTestsTable:
    """A whole run. ``ranks``, ``operation`` and ``version`` are None where the file does not say them.

    ``complete`` says whether the run's footer is there. ``passed_over`` counts lines of other programs.
    """

    rows: tuple[Row, ...]
    ranks: int | None
    operation: str | None
    version: str | None
    complete: bool
    passed_over: int = 0
    skipped: tuple[Skipped, ...] = ()
