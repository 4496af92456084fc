"""Tables of nccl-tests: every layout, and every way in which a row can be damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_tests.reading import read_nccl_tests
from commcanary.sources.nccl_tests.table import Timing

from .logs import NEW_HEADING, OLD_HEADING, devices, new_log, new_row, report, result, side

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.sources.nccl_tests.table import NcclTestsTable

ROWS = [new_row(1 << power, 20 + (1 << power) / 10_000) for power in range(10, 21)]


def read(folder: Path, text: str) -> NcclTestsTable:
    file = folder / "run.log"
    file.write_text(text, encoding="utf-8")
    return read_nccl_tests(file)


def test_real_old_log(shared_traces: Path) -> None:
    table = read_nccl_tests(shared_traces / "nccl-tests" / "superbench_nccl_allreduce.log")
    assert (len(table.rows), table.ranks, table.operation, table.complete) == (34, 8, "all_reduce", True)
    assert table.passed_over == 1, "the NCCL INFO line"
    assert [row.bytes for row in table.rows[:4]] == [0, 0, 4, 8]
    last = table.rows[-1]
    assert (last.bytes, last.count, last.dtype, last.reduction, last.root) == (
        8589934592,
        2147483648,
        "float",
        "sum",
        None,
    )
    assert last.out_of_place == Timing(63896.0, 134.44, 235.26, None)
    assert last.in_place == Timing(63959.0, 134.30, 235.03, None)


def test_real_log_without_reduction_does_not_tell_its_operation(shared_traces: Path) -> None:
    table = read_nccl_tests(shared_traces / "nccl-tests" / "superbench_nccl_allgather.log")
    assert (len(table.rows), table.ranks, table.operation) == (34, 8, None)
    assert {row.reduction for row in table.rows} == {None}


def test_new_log(tmp_path: Path) -> None:
    table = read(tmp_path, new_log(ROWS))
    assert (len(table.rows), table.ranks, table.operation) == (11, 4, "all_reduce")
    assert table.version == "2.17.1, NCCL 22803"
    assert {row.root for row in table.rows} == {-1}
    assert table.rows[0].out_of_place is not None
    assert table.rows[0].out_of_place.wrong == 0


def test_extra_columns_are_named_by_the_heading(tmp_path: Path) -> None:
    heading = NEW_HEADING.replace("#wrong", "#wrong min max", 1) + " timestamp"
    rows = []
    for row in ROWS:
        words = row.split()
        rows.append(" ".join([*words[:9], "1.0", "99.0", *words[9:], "2025-04-03", "18:51:38"]))
    assert [r.out_of_place for r in read(tmp_path, new_log(rows, heading=heading)).rows] == [
        r.out_of_place for r in read(tmp_path, new_log(ROWS)).rows
    ]


def test_row_measured_in_place_only(tmp_path: Path) -> None:
    row = f"1024 256 float sum -1 {side(1024, 20.0)}"
    found = read(tmp_path, new_log([row])).rows[0]
    assert found.out_of_place is None
    assert found.in_place is not None
    assert found.in_place.time_us == 20.0


def test_one_side_not_available(tmp_path: Path) -> None:
    row = f"1024 256 float sum -1 {side(1024, 20.0)} N/A N/A N/A N/A"
    assert read(tmp_path, new_log([row])).rows[0].in_place is None


def test_lines_of_a_launcher(tmp_path: Path) -> None:
    tagged = "\n".join(f"[1,0]<stdout>:{line}" for line in new_log(ROWS).splitlines())
    assert len(read(tmp_path, tagged).rows) == 11
    assert len(read(tmp_path, "\n".join(f"0: {line}" for line in new_log(ROWS).splitlines())).rows) == 11


def test_other_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    info = "host:3442:3442 [0] NCCL INFO Launch mode Parallel"
    table = read(tmp_path, new_log([ROWS[0], info, ROWS[1], "", info, "WARNING: slow"]))
    assert (len(table.rows), table.passed_over) == (2, 3)


def test_log_cut_short_is_incomplete(tmp_path: Path) -> None:
    assert not read(tmp_path, new_log(ROWS).partition("# Avg")[0]).complete


def test_ranks_of_one_of_several_groups(tmp_path: Path) -> None:
    second = [line.replace("Group  0", "Group  1") for line in devices(2)[1:]]
    text = new_log(ROWS, ranks=2).replace("#        (B)", "\n".join([*second, "#        (B)"]))
    assert read(tmp_path, text).ranks == 2


def test_json_report(tmp_path: Path) -> None:
    table = read(tmp_path, report([result(1024, 20.0), result(2048, 21.0)]))
    assert (len(table.rows), table.ranks, table.operation, table.complete) == (2, 4, "all_reduce", True)
    assert table.rows[1].place == "results[1]"
    assert (table.rows[0].root, table.rows[0].out_of_place) == (-1, None)
    cpu = result(1024, 20.0)
    cpu["in_place"] = {"cpu_time": 5.0, "alg_bw": 0.2, "bus_bw": 0.3, "nwrong": None}
    timing = read(tmp_path, report([cpu])).rows[0].in_place
    assert timing == Timing(5.0, 0.2, 0.3, None)


CORRUPTED = [
    ("swallowed by a log line", f"host:1:1 [0] NCCL INFO comm {ROWS[1]}", "line 12: the row has"),
    ("log line inside", ROWS[1].replace(" sum", " host:1:1 [0] NCCL INFO x sum"), "line 12: the row has"),
    ("cut", ROWS[1][:-8], "line 12: the row has 11 values for 13 columns"),
    ("letters in a number", ROWS[1].replace("20.20", "2O.20", 1), "line 12: the row has '2O.20' in the column time"),
    ("shifted digits", ROWS[1].replace("20.20", "2.02", 1), "line 12: out_of_place algbw is 0.1 GB/s but 2048 bytes"),
    ("bytes and elements", ROWS[1].replace(" 512 ", " 500 "), "line 12: says 2048 bytes but 500 elements of float"),
    ("wrong results", ROWS[1].replace(" 0 ", " 3 ", 1), "line 12: 3 elements of the out_of_place result are wrong"),
    ("time 0", ROWS[1].replace("20.20", "0.00", 1), "line 12: out_of_place time is 0 us"),
    ("not finite", ROWS[1].replace("20.20", "nan", 1), "line 12: out_of_place time is nan"),
]


@pytest.mark.parametrize(("row", "told"), [case[1:] for case in CORRUPTED], ids=[case[0] for case in CORRUPTED])
def test_corrupted_row_is_named_with_its_line(tmp_path: Path, row: str, told: str) -> None:
    text = new_log([ROWS[0], row, ROWS[2]])
    with pytest.raises(InputRefusal) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(f"{tmp_path / 'run.log'}: {told}")
    skipping = read_nccl_tests(tmp_path / "run.log", "skip")
    assert [r.bytes for r in skipping.rows] == [1024, 4096]
    assert [s.place for s in skipping.skipped] == ["line 12"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello\n", "heading: no line names the columns"),
        (new_log([]), "rows: the table has no row"),
        (new_log(ROWS) + new_log(ROWS), "line 32: a second table begins; the first one's heading is line 9"),
        (OLD_HEADING + "\n", "rows: the table has no row"),
        (report([]), "results: the report has no row"),
        ('{"version": "1"}', "results"),
        (report([result(1024, 20.0, root="x")]), "results[0].root: is 'x'"),
        (report([result(1024, 20.0, in_place={"alg_bw": 1.0, "bus_bw": 1.0})]), "results[0].in_place: has neither"),
        (report([result(1024, 20.0, count=100)]), "results[0]: says 1024 bytes but 100 elements"),
        (report([result(1024, 20.0)])[:-40], "the JSON text ends too early"),
    ],
)
def test_refusals(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputRefusal) as refused:
        read(tmp_path, text)
    assert told in str(refused.value)
    assert str(tmp_path / "run.log") in str(refused.value)


def test_rank_table_that_stands_twice_counts_once(tmp_path: Path) -> None:
    twice = "\n".join([*devices(4), *devices(4)[1:]])
    assert read(tmp_path, new_log(ROWS).replace("\n".join(devices(4)), twice)).ranks == 4


def test_no_text_at_all(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes(b"# ok\n\xff\xfe\n")
    with pytest.raises(InputRefusal, match="line 2: is not UTF-8 text"):
        read_nccl_tests(tmp_path / "run.log")


def test_two_processes_that_print_at_once_are_refused(tmp_path: Path) -> None:
    lines = new_log(ROWS, ranks=1).splitlines()
    interleaved = "\n".join(line for pair in zip(lines, lines, strict=True) for line in pair)
    with pytest.raises(InputRefusal, match="line 12: a second table begins"):
        read(tmp_path, interleaved)
