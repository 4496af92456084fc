"""Hostile pickles: nothing in them runs, and none of them takes more memory or time than its size allows."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.flight_recorder.importer import import_flight_recorder
from commcanary.sources.flight_recorder.plain_pickle import plain_pickle

from ..fuzzing import INPUTS, fates_of_damaged, flipped
from .dumps import dump, entry, written


class Runs:
    """Pickled, it is an order to create a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self.path, "w"))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("place", ["whole", "entry", "key"])
def test_code_does_not_run(tmp_path: Path, protocol: int, place: str) -> None:
    trap = tmp_path / "trap"
    document: Any = Runs(str(trap))
    if place == "entry":
        document = dump([entry(0), document])
    elif place == "key":
        document = {("x", document): 1}
    path = tmp_path / "dump_rank_0.pkl"
    path.write_bytes(pickle.dumps(document, protocol))
    with pytest.raises(InputRefusal, match=r"dump_rank_0\.pkl"):
        import_flight_recorder([path])
    assert not trap.exists()


HOSTILE = [
    ("a global", b"\x80\x04cos\nsystem\n.", "GLOBAL"),
    ("a global from the stack", b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "STACK_GLOBAL"),
    ("an instance of old", b"\x80\x02(ios\nsystem\n.", "INST"),
    ("an object of old", b"\x80\x02(cos\nsystem\no.", "GLOBAL"),
    ("a new object", b"\x80\x02)\x81.", "NEWOBJ"),
    ("a state", b"\x80\x02}}b.", "BUILD"),
    ("an extension", b"\x80\x02\x82\x01.", "EXT1"),
    ("a persistent object", b"\x80\x02Pos.system\n.", "PERSID"),
    ("a persistent object from the stack", b"\x80\x02K\x01Q.", "BINPERSID"),
    ("a buffer outside", b"\x80\x05\x97.", "NEXT_BUFFER"),
    ("a place far into the memo", b"\x80\x02]r" + struct.pack("<I", 2**31 - 1) + b".", "where none can be"),
    ("a text of four gigabytes", b"\x80\x04X" + struct.pack("<I", 2**32 - 1) + b"x.", "damaged pickle"),
    ("a text of an exabyte", b"\x80\x04\x8d" + struct.pack("<Q", 2**60) + b"x.", "damaged pickle"),
    ("a number of two gigabytes", b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"1.", "LONG4|damaged"),
    ("a wide number", b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b".", "where none can be"),
    ("depth", b"\x80\x02" + b"]" * 5000 + b"a" * 4999 + b".", "nested more than 16 deep"),
    ("itself inside itself", b"\x80\x02]q\x00h\x00a.", "nested more than"),
    ("an empty stack", b"\x80\x02.", "damaged pickle"),
    ("a memo that is empty", b"\x80\x02h\x07.", "damaged pickle"),
    ("no end", b"\x80\x02]", "damaged pickle"),
    ("a frame beyond the end", b"\x80\x04\x95" + struct.pack("<Q", 2**40) + b"].", "damaged pickle"),
    ("a list as a key", b"\x80\x02}]K\x01s.", "damaged pickle"),
]


@pytest.mark.parametrize(("data", "told"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_hostile(data: bytes, told: str) -> None:
    with pytest.raises(InputRefusal, match=told):
        plain_pickle(data)


def test_few_bytes_that_stand_for_endless_data() -> None:
    """Each list holds the one before ten times: 12 levels are 10^12 values in 400 bytes."""
    data = b"\x80\x02]q\x00"
    for level in range(12):
        data += b"]q" + bytes([level + 1]) + b"(" + (b"h" + bytes([level])) * 10 + b"e"
    with pytest.raises(InputRefusal, match="stands for more than"):
        plain_pickle(data + b".")


@pytest.mark.parametrize("protocol", range(2, 6))
def test_plain_data_survive(protocol: int) -> None:
    document = {"a": [1, -(2**70), 2.5, None, True, "text"], "b": {"c": [["x"]]}, "t": [1, [2]]}
    assert plain_pickle(pickle.dumps({**document, "t": (1, (2,))}, protocol)) == document


@pytest.mark.parametrize("pickled", [True, False])
def test_mutated_pickles_and_json(tmp_path: Path, pickled: bool) -> None:
    path = written(tmp_path / f"dump_rank_0.{pickled}", dump([entry(n, elements=n + 1) for n in range(5)]), pickled)
    fates = fates_of_damaged(
        path,
        path.read_bytes(),
        lambda _: import_flight_recorder([path]),
        damage=flipped,
        inputs=INPUTS // 2,
        name=path.name,
    )
    assert min(fates.values()) > 5
