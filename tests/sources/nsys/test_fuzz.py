"""Damaged exports: refused by name or imported with the values that stand in the file, never anything else."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from commcanary.sources.nsys.importer import import_nsys
from commcanary.sources.nsys.settings import NsysSettings

from ..fuzzing import INPUTS, fates_of_damaged, flipped, refused
from .exports import two_ranks

if TYPE_CHECKING:
    from pathlib import Path

ODD: list[Any] = [
    None,
    -1,
    0,
    1,
    2,
    59,
    75,
    2**31,
    2**62,
    -(2**62),
    2**63 - 1,
    1.5,
    "",
    "0",
    "ncclAllReduce",
    b"",
    b"\xff" * 48,
]


def test_mutated_bytes(tmp_path: Path) -> None:
    whole = two_ranks(tmp_path / "whole.sqlite").read_bytes()
    path = tmp_path / "mutated.sqlite"

    def read(rng: random.Random) -> None:
        import_nsys([path], NsysSettings(on_error=rng.choice(["stop", "skip"])))

    fates = fates_of_damaged(path, whole, read, damage=flipped, inputs=INPUTS // 2, name=path.name)
    assert min(fates.values()) > 10


def plain_reading(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Collectives (not messages) per rank, straight from the tables: operation and bytes of the larger side."""
    words = {"ncclAllGather": ("all_gather", 2), "ncclAllReduce": ("all_reduce", 1)}
    found = []
    for name, text, blob in connection.execute(
        "SELECT s.value, e.text, e.binaryData FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
        "WHERE e.eventType = 59 AND e.binaryData IS NOT NULL"
    ):
        word = words.get(name if text is None else text)
        if word is None:
            continue
        number = int.from_bytes(blob[8:16], "little")
        offset = connection.execute(
            "SELECT offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES WHERE schemaId = ? AND name LIKE 'Message size%'", (number,)
        ).fetchone()[0]
        size = int.from_bytes(blob[32 + (offset or 0) :][:8], "little")
        if size:
            found.append((word[0], size * word[1]))
    return sorted(found)


COLUMNS = {
    "NVTX_EVENTS": ["start", "end", "eventType", "text", "globalTid", "textId", "domainId", "binaryData"],
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": ["domainId", "schemaId", "idx", "type", "name", "offset"],
    "CUPTI_ACTIVITY_KIND_KERNEL": ["start", "end", "deviceId", "correlationId", "globalPid", "demangledName"],
    "CUPTI_ACTIVITY_KIND_RUNTIME": ["start", "globalTid", "correlationId"],
    "StringIds": ["value"],
}


@pytest.mark.parametrize("seed", range(4))
def test_mutated_values(tmp_path: Path, seed: int) -> None:
    """Any value of any table may be anything; sizes of what is imported are those of a plain reading."""
    rng = random.Random(seed)
    whole = two_ranks(tmp_path / "whole.sqlite").read_bytes()
    path = tmp_path / "mutated.sqlite"
    outcomes = {True: 0, False: 0}
    for _ in range(INPUTS // 8):
        path.write_bytes(whole)
        with closing(sqlite3.connect(path)) as connection:
            for _ in range(rng.choice([1, 1, 2])):
                table = rng.choice(sorted(COLUMNS))
                column = rng.choice(COLUMNS[table])
                row = rng.choice([r for (r,) in connection.execute(f"SELECT rowid FROM {table}")])
                try:
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (rng.choice(ODD), row))
                except sqlite3.IntegrityError:
                    continue
            connection.commit()
            gone = refused(lambda: import_nsys([path]), path.name)
            outcomes[gone] += 1
            if not gone:
                trace = import_nsys([path]).trace
                rows = [trace.events.signatures[i] for i in trace.events.signature]
                seen = [(r.op, r.bytes) for r in rows if r.op in ("all_gather", "all_reduce")]
                assert sorted(seen * 2) == plain_reading(connection)  # both ranks call each
    assert min(outcomes.values()) > 5
