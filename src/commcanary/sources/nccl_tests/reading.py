"""nccl-tests output, whatever its form, and the operation that it measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from commcanary.artifacts.files import read_bytes
from commcanary.errors import InputRefusal, Refusal
from commcanary.sources.nccl_tests.json_report import parse_json
from commcanary.sources.nccl_tests.text_log import parse_text

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.sources.nccl_tests.table import NcclTestsTable

FACTOR_SLACK = 0.01
"""Largest difference between a table's bus factor and its operation's."""

_REDUCING = ("all_reduce", "reduce_scatter", "reduce")

_LARGE_GB_S = 10.0
"""From this bandwidth on, two printed decimals tell the factors apart."""


def read_nccl_tests(path: Path, on_error: Literal["stop", "skip"] = "stop") -> NcclTestsTable:
    """The table in a text log or a JSON report; every refusal names the file and the line or path in it."""
    try:
        data = read_bytes(path)
        is_json = data.lstrip()[:1] == b"{"
        table = parse_json(data, on_error) if is_json else parse_text(_text(data), on_error)
        return table if table.operation is not None else replace(table, operation=implied_operation(table))
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__


def bus_factor(operation: str, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it for each operation."""
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if operation in ("reduce_scatter", "all_gather", "all_to_all") else 1.0


def seen_bus_factor(table: NcclTestsTable) -> float | None:
    """Mean of busbw / algbw over the rows fast enough to tell; None where there is none."""
    ratios = [t.busbw / t.algbw for row in table.rows for _, t in row.timings() if t.algbw >= _LARGE_GB_S]
    return sum(ratios) / len(ratios) if ratios else None


def implied_operation(table: NcclTestsTable) -> str | None:
    """The one operation with the rows' bus factor and a reduction column; None where several could have them.

    Without a reduction, all-gather and all-to-all have equal factors; with one and two ranks, all-reduce and reduce.
    """
    seen, ranks = seen_bus_factor(table), table.ranks
    if seen is None or ranks is None or all(row.reduction is None for row in table.rows):
        return None
    fitting = [op for op in _REDUCING if abs(seen - bus_factor(op, ranks)) < FACTOR_SLACK]
    return fitting[0] if len(fitting) == 1 else None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputRefusal(f"line {line}", "is not UTF-8 text", "give the output of nccl-tests as it was") from error
