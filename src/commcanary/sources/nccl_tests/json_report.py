"""A JSON report of nccl-tests (``-J FILE``) -> its table."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from commcanary.artifacts.jsontext import decode
from commcanary.errors import InputRefusal
from commcanary.sources.nccl_tests.row_checks import check_row
from commcanary.sources.nccl_tests.table import OPERATION_OF_PROGRAM, NcclTestsTable, Row, Skipped, Timing


class _Side(msgspec.Struct):
    alg_bw: float
    bus_bw: float
    time: float | None = None
    cpu_time: float | None = None
    nwrong: float | None = None


class _Result(msgspec.Struct):
    size: int
    count: int
    type: str
    redop: str | None = None
    root: str | int | None = None
    out_of_place: _Side | None = None
    in_place: _Side | None = None


class _Device(msgspec.Struct):
    rank: int
    group: int = 0


class _Config(msgspec.Struct):
    devices: list[_Device] | None = None


class _Report(msgspec.Struct):
    results: list[_Result]
    version: str | None = None
    nccl_version: Any = None
    args: Any = None
    config: _Config = msgspec.field(default_factory=_Config)
    devices: list[_Device] | None = None
    average_bus_bandwidth: Any = None


def parse_json(data: bytes, on_error: Literal["stop", "skip"] = "stop") -> NcclTestsTable:
    """The table of a report; raises ``InputRefusal`` naming the path of what does not fit."""
    report = decode(data, _Report)
    ranks = _ranks(report.devices or report.config.devices)
    rows, skipped = [], []
    for index, result in enumerate(report.results):
        place = f"results[{index}]"
        try:
            row = _row(result, place)
            check_row(row, ranks)
            rows.append(row)
        except InputRefusal as refusal:
            if on_error == "stop":
                raise
            skipped.append(Skipped(place, refusal.found))
    if not rows:
        raise InputRefusal("results", "the report has no row", "let the run finish")
    version = report.version if report.nccl_version is None else f"{report.version}, NCCL {report.nccl_version}"
    complete = report.average_bus_bandwidth is not None
    return NcclTestsTable(tuple(rows), ranks, _operation(report.args), version, complete, skipped=tuple(skipped))


def _row(result: _Result, place: str) -> Row:
    try:
        root = None if result.root is None else int(result.root)
    except ValueError:
        raise InputRefusal(f"{place}.root", f"is {result.root!r}", "it is a rank, or -1 for all") from None
    return Row(
        place,
        result.size,
        result.count,
        result.type,
        None if result.redop in (None, "none") else result.redop,
        root,
        _timing(result.out_of_place, f"{place}.out_of_place"),
        _timing(result.in_place, f"{place}.in_place"),
    )


def _timing(side: _Side | None, place: str) -> Timing | None:
    if side is None:
        return None
    time = side.cpu_time if side.time is None else side.time
    if time is None:
        raise InputRefusal(place, "has neither time nor cpu_time", "run again with a current nccl-tests")
    return Timing(time, side.alg_bw, side.bus_bw, side.nwrong)


def _ranks(devices: list[_Device] | None) -> int | None:
    if not devices:
        return None
    first = min(device.group for device in devices)
    return len({device.rank for device in devices if device.group == first})


def _operation(args: Any) -> str | None:
    words = args.split() if isinstance(args, str) else args if isinstance(args, list) else []
    programs = (OPERATION_OF_PROGRAM.get(str(word).rpartition("/")[2]) for word in words[:1])
    return next(programs, None)
