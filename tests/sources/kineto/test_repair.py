"""``--repair`` fixes stray quotes that have one reading, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.repair import repaired
from commcanary.sources.kineto.settings import KinetoSettings

from .profiles import info, profile, record, written

if TYPE_CHECKING:
    from pathlib import Path

FIXED = [
    ('"name": "{"device": "cpu"}(12): run", "pid": 1', '"name": "{\\"device\\": \\"cpu\\"}(12): run", "pid": 1', 4),
    ('"a": "x"y", "b": 1', '"a": "x\\"y", "b": 1', 1),
    ('"a": "say "hi"",', '"a": "say \\"hi\\"",', 2),
    ('"a": ["u", "v"], "b": "p "q" r"}', '"a": ["u", "v"], "b": "p \\"q\\" r"}', 2),
]


@pytest.mark.parametrize(("line", "fixed", "count"), FIXED)
def test_quotes_inside_values_are_escaped(line: str, fixed: str, count: int) -> None:
    assert repaired(line.encode()) == (fixed.encode(), count)


NOT_FIXED = [
    '"a": "p "q, "b": 1',
    '"a": "C:\\Users", "b": 1',
    '"a": "x", "b": oops',
    '"a": "x',
    '"a": NaN, "b": "c"',
    '\ttid": 0,',
]


@pytest.mark.parametrize("line", NOT_FIXED)
def test_other_faults_are_refused(line: str) -> None:
    with pytest.raises(InputRefusal, match="line 2: is not JSON"):
        repaired(f"{{\n{line}\n}}".encode())


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8) | st.integers() | st.lists(st.text(max_size=4))))
def test_sound_text_is_left_as_it_is(value: dict[str, object]) -> None:
    text = json.dumps(profile([{"ph": "M", "name": "x", "args": value}]), indent=2).encode()
    assert repaired(text) == (text, 0)


@example(["", ",", "", ":"])  # looks like an empty description and a member without a name
@given(st.lists(st.text("ab {}[]:,", max_size=5), min_size=2, max_size=4))
def test_a_repaired_description_is_the_one_that_was_meant_or_refused(parts: list[str]) -> None:
    """Descriptions whose quotes look like JSON's own may be refused or read as JSON, never changed elsewhere."""
    meant = '"'.join(parts)
    line = f'"rank": 7, "desc": "{meant}", "name": "allreduce", "n": 5'
    try:
        fixed, _ = repaired(line.encode())
    except InputRefusal:
        return
    value = json.loads(b"{" + fixed + b"}")
    assert (value["rank"], value["name"], value["n"]) == (7, "allreduce", 5)


def test_repair_is_asked_for_and_noted(tmp_path: Path) -> None:
    events = [record(**{"Process Group Description": "dp@tp@"})]
    text = json.dumps(profile(events, distributedInfo=info()), indent=1).replace("dp@tp@", 'dp "tp"')
    path = written(tmp_path / "p.json", text)
    with pytest.raises(InputRefusal, match=r"line .* column .*--repair"):
        import_kineto([path])
    trace = import_kineto([path], KinetoSettings(repair=True)).trace
    assert len(trace) == 1
    assert trace.header.notes["repaired_quotes"] == {"p.json": 2}


def test_the_file_that_torch_wrote(shared_traces: Path) -> None:
    path = shared_traces / "kineto" / "torch2.14_cpu_rpc_INVALID_JSON_pgdesc_quotes.pt.trace.json"
    fixed, count = repaired(path.read_bytes())
    assert count == 2
    described = [e["args"].get("Process Group Description") for e in json.loads(fixed)["traceEvents"] if "args" in e]
    assert 'desc "quoted" / back' in described
