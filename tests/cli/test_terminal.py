"""What a file holds cannot steer the terminal: one line each, nothing raw, nothing endless."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.cli.main import run
from commcanary.errors import InputRefusal, UsageError, one_line

EVIL = "\x1b]0;owned\x07\r\n\x9b31m\u202etxt\ud800"


@given(st.text(st.characters(), max_size=300), st.integers(20, 100))
def test_a_line_is_printable_and_about_as_long_as_it_may_be(text: str, longest: int) -> None:
    said = one_line(text, longest)
    assert said.isprintable()
    assert len(said) <= 10 * (longest + 40), "an escape has ten characters at most"
    if text.isprintable() and len(text) <= longest:
        assert said == text


def test_refusals_are_one_printable_line() -> None:
    said = str(InputRefusal(f"events[0].{EVIL}", f"{EVIL} is no operation", "give one", file=f"t{EVIL}.json"))
    assert said.isprintable()
    assert "\\x1b]0;owned\\x07" in said
    long = str(InputRefusal("op", "x" * 10**6 + " is no operation", "give one"))
    assert len(long) < 1200
    assert long.endswith("is no operation; give one")


def printed(capfd: pytest.CaptureFixture[str]) -> str:
    said = capfd.readouterr()
    text = said.out + said.err
    assert text
    assert all(line.isprintable() for line in text.split("\n")), text
    return text


def test_names_in_a_file_are_printed_escaped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name, group = "work\x1b[2J\u202e[red]", "g\r\x9b[bold]"
    event: dict[str, Any] = {"op": "all_reduce", "bytes": 8, "ranks": [0, 1], "group": group, "phase": "p\nq\x1b"}
    document = {"format": "commcanary.trace.v1", "workload": {"name": name}, "events": [event]}
    trace, canary = tmp_path / "t.json", tmp_path / "c.json"
    trace.write_text(json.dumps(document))
    assert run(["show", str(trace)]) == 0
    said = printed(capfd)
    assert "[bold]" in said, "Rich's markup is text like any other"
    assert "\\x1b" in said
    assert run(["compile", str(trace), "-o", str(canary)]) == 0
    printed(capfd)


def test_a_name_of_two_lines_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "t.x\ny"]) == 2
    assert printed(capfd).count("\n") == 1
    assert run(["synth", "a\x1b[2J", "-o", "o.json"]) == 2
    assert printed(capfd).count("\n") == 1
    assert run(["\x1b[2J"]) == 2
    assert printed(capfd).count("\n") == 1


def test_a_corrupt_export_is_refused_in_printable_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.sqlite"
    with sqlite3.connect(file) as made:
        made.execute('CREATE TABLE "NVTX\x1b_EVENTS" (text TEXT)')
    made.close()
    whole = file.read_bytes()
    for cut in (whole[:50], whole[:100] + bytes(range(256)) * 16, whole):
        file.write_bytes(cut)
        assert run(["import-nsys", str(file), "-o", str(tmp_path / "t.json")]) == 3
        assert printed(capfd).count("\n") == 1


def test_a_usage_error_is_printable(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "c.json", "-o", "o.json", "--assume", "\x1b=1", "--model", "\x1b"]) in (2, 3)
    printed(capfd)
    assert not one_line(str(UsageError(EVIL)), 100).count("\n")
