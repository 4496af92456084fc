"""Files that ask for more than they are: memory and time of the whole process, measured in a child of its own."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commcanary.artifacts.trace_columns import TRACE_SCHEMA

BASE_MB = 256
LONGEST_S = 5.0
CHILD = """
import resource, sys
from commcanary.cli.main import run
code = run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
# not ru_maxrss: that of a child begins at its parent's
peak_kb = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("\\nmeasured", code, int(peak_kb) / 1024, used.ru_utime + used.ru_stime)
"""
MEGA = 2**20

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel does not say how much")


def measured(arguments: list[str]) -> tuple[int, float, float, str]:
    """Exit code, largest resident MB, CPU seconds and stderr of one command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    code, memory_mb, seconds = done.stdout.rsplit("measured", 1)[1].split()
    return int(code), float(memory_mb), float(seconds), done.stderr


def trace_text(row: str, size: int) -> bytes:
    rows = ",".join([row] * (size // (len(row) + 1)))
    return f'{{"format":"commcanary.trace.v1","events":[{rows}]}}'.encode()


def trace_of(rows: Iterable[str]) -> bytes:
    return f'{{"format":"commcanary.trace.v1","events":[{",".join(rows)}]}}'.encode()


def one_row(fields: str) -> bytes:
    return f'{{"format":"commcanary.trace.v1","events":[{{"op":"broadcast","bytes":1,{fields}}}]}}'.encode()


def parquet(columns: dict[str, pa.Array], rows: int) -> bytes:
    """A trace in Parquet of ``rows`` equal rows, with some columns of one's own."""
    plain = {"op": "broadcast", "phase": "p", "bytes": 1, "group": 0, "gap_ns": 0, "compute_pressure": 0.5}
    plain |= {"compute_uncertain": False, "concurrent_groups": 1, "custom_op": False}
    table = [
        columns[field.name] if field.name in columns else pa.repeat(pa.scalar(plain.get(field.name), field.type), rows)
        for field in TRACE_SCHEMA
    ]
    header = {"format": "commcanary.trace.v1", "groups": [{"name": "default", "ranks": 1}]}
    sink = pa.BufferOutputStream()
    made = pa.table(table, names=TRACE_SCHEMA.names)
    with pq.ParquetWriter(sink, made.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(made)
        writer.add_key_value_metadata({"commcanary.header": json.dumps(header)})
    return bytes(sink.getvalue())


def long_texts() -> bytes:
    """One string of 8 MB that each of 65,536 rows has: 512 GB of text in a file of some KB."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2**16, np.int32)), ["x" * 8 * MEGA])
    return parquet({"phase": texts}, len(texts))


def spaces() -> bytes:
    return gzip.compress(b'{"traceEvents":[' + b" " * 256 * MEGA, 9)


SOURCE = '{"name":"","bytes":1,"sha256":""}'
ROW = '{"op":"broadcast","bytes":1,"ranks":1}'
BOMBS: dict[str, tuple[str, Callable[[], bytes], list[str], str]] = {
    # name: (file, its bytes, command, what the refusal says)
    "rows that say little": ("t.json", lambda: trace_text(ROW, 6 * MEGA), ["compile"], ""),
    "very many rows that say little": ("t.json", lambda: trace_text(ROW, 30 * MEGA), ["compile"], ""),
    "very many rows, the last of them wrong": (
        "t.json",
        lambda: trace_text(ROW, 30 * MEGA)[:-2] + b"," + ROW.replace("1}", "0}").encode() + b"]}",
        ["compile"],
        "].ranks: is 0",
    ),
    "one row of numbers": (
        "t.json",
        lambda: one_row(f'"ranks":[{"0," * 4 * MEGA}1]'),
        ["compile"],
        f"].ranks: names {4 * MEGA + 1} ranks; a group has at most {MEGA}",
    ),
    "one row of very many ranks": (
        "t.json",
        lambda: one_row(f'"ranks":[{"0," * 12 * MEGA}1]'),
        ["show"],
        f"].ranks: names {12 * MEGA + 1} ranks; a group has at most {MEGA}",
    ),
    "one row of very many times": (
        "t.json",
        lambda: one_row(f'"ranks":1,"rank_arrival_us":[{"0," * 12 * MEGA}1]'),
        ["show"],
        f"].rank_arrival_us: has {12 * MEGA + 1} times for 1 ranks",
    ),
    "arrays in metadata": (
        "t.json",
        lambda: f'{{"format":"commcanary.trace.v1","events":[{ROW}],"notes":{{"a":[{"[]," * 2 * MEGA}1]}}}}'.encode(),
        ["show"],
        "",
    ),
    "objects in metadata": (
        "t.json",
        lambda: f'{{"format":"commcanary.trace.v1","events":[{ROW}],"notes":{{"a":[{"{}," * MEGA}1]}}}}'.encode(),
        ["show"],
        "",
    ),
    "another operation in every row": (
        "t.json",
        lambda: trace_of(f'{{"op":"send","bytes":{number},"ranks":2}}' for number in range(1, 2**18)),
        ["show"],
        "events[131072]: brings the trace to more than 131,072 different operations",
    ),
    "as many groups as there may be": (
        "t.json",
        lambda: trace_of(f'{{"op":"send","bytes":1,"ranks":[{number}]}}' for number in range(2**15)),
        ["show"],
        "",
    ),
    "a header of coverage": (
        "t.json",
        lambda: one_row(f'"ranks":1}}],"coverage":[{"{}," * 4 * MEGA}{{}}],"x":[{{"y":1'),
        ["show"],
        "coverage: holds 4,194,305 rows, more than the 131,072",
    ),
    "a header of keys": (
        "t.json",
        lambda: one_row(f'"ranks":1}}],{json.dumps(dict.fromkeys(range(MEGA), 0))[1:-1]},"x":[{{"y":1'),
        ["show"],
        "top level: brings the trace to more than 65,536 different keys",
    ),
    "as many sources as there may be": (
        "t.json",
        lambda: one_row(f'"ranks":1}}],"source_files":[{",".join([SOURCE] * 2**17)}],"x":[{{"y":1'),
        ["show"],
        "",
    ),
    "ranks that are not written out": (
        "t.json",
        lambda: trace_text('{"op":"broadcast","bytes":1,"ranks":1048576}', 60_000),
        ["compile"],
        "an arrival time for every rank",
    ),
    "a few ranks that are not written out": (
        "t.json",
        # 2 million arrivals: 16 MB of times, 150 MB at the peak
        lambda: trace_text('{"op":"broadcast","bytes":1,"ranks":1048576}', 90),
        ["compile"],
        "an arrival time for every rank",
    ),
    "a canary of small numbers": (
        "c.json",
        lambda: f'{{"format":"commcanary.canary.v1","timing":{{"gap":[{"1," * 4 * MEGA}1]}}}}'.encode(),
        ["replay"],
        "",
    ),
    "a program that doubles": (
        "c.json",
        lambda: json.dumps(
            {"format": "commcanary.canary.v1", "program": [[-2 - n, 2] for n in range(20_000)]}
        ).encode(),
        ["replay"],
        "",
    ),
    "a report of small numbers": (
        "r.json",
        lambda: f'{{"format":"commcanary.report.v1","samples":{{"exposed_us":[{"1," * 4 * MEGA}1]}}}}'.encode(),
        ["show"],
        "",
    ),
    "a thousand million rows": (
        "t.parquet",
        lambda: more_rows(parquet({}, 64), 2**30),
        ["compile"],
        "",
    ),
    "one long text, many times": ("t.parquet", long_texts, ["compile"], "decoded, the strings have"),
    "a profile of spaces": (
        "p.json.gz",
        spaces,
        ["import-kineto"],
        "more than",
    ),
    "YAML": ("y.yaml", lambda: ("- " * 400_000).encode(), ["campaign", "run"], ""),
}


def doubling(rules: int) -> bytes:
    return json.dumps([[-2 - number, 2] for number in range(rules)]).encode()


def more_rows(data: bytes, rows: int) -> bytes:
    """The file with every count of 64 in its footer made ``rows`` (a Thrift integer grows: so does the footer)."""
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    number, value = bytearray(), 2 * rows
    while value >= 0x80:
        number.append(value & 0x7F | 0x80)
        value >>= 7
    number.append(value)
    changed = footer.replace(b"\x16\x80\x01", b"\x16" + bytes(number))
    assert changed != footer
    return data[: -8 - size] + changed + len(changed).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(("name", "make", "command", "told"), BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_no_larger_than_it_looks(
    tmp_path: Path, name: str, make: Callable[[], bytes], command: list[str], told: str
) -> None:
    file = tmp_path / name
    file.write_bytes(make())
    decompressed = file.stat().st_size
    output = [] if command[0] in ("show", "campaign") else ["-o", str(tmp_path / "out.json")]
    limit = ["--max-input-bytes", str(64 * MEGA)] if name != "c.json" else []
    code, memory_mb, seconds, complained = measured([*command, str(file), *output, *limit])
    assert code in (0, 3)
    if code == 3:
        assert complained.count("\n") == 1
        assert "internal fault" not in complained
        assert list(tmp_path.iterdir()) == [file]
    assert told in complained
    assert memory_mb < BASE_MB + 4 * decompressed / MEGA
    assert seconds < LONGEST_S * max(1.0, decompressed / (8 * MEGA))
