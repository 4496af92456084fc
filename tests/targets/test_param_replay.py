"""Real replays with gloo: PARAM_CHECKOUT names a checkout of facebookresearch/param at 1e115ff, PARAM_PYTHON
an interpreter that has torch, numpy, pydot and intervaltree.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commcanary.targets.param import ParamSettings, export_param
from commcanary.targets.param_check import replayed_on, verdicts

from .canaries import canary_of, event
from .param_runs import replay

CHECKOUT, PYTHON = os.environ.get("PARAM_CHECKOUT"), os.environ.get("PARAM_PYTHON")
pytestmark = pytest.mark.skipif(
    not (CHECKOUT and PYTHON), reason="PARAM_CHECKOUT and PARAM_PYTHON do not name a checkout of PARAM"
)

ENDS = {"sender_rank": 0, "receiver_rank": 1}
EVERY_OPERATION = [
    event(),
    event(size=8192, dtype="bfloat16", consumed_by="exchange"),
    event("all_gather"),
    event("reduce_scatter", dtype="int64"),
    event("broadcast", 1024, root_rank=1),
    event("broadcast", 1024),
    event("all_to_all", id="exchange"),
    event("point_to_point", **ENDS),
    event("send", 2048, **ENDS),
    event("recv", 2048, **ENDS),
    event(size=64, group="second", id="end"),
]
LATER_MESSAGE = [event("point_to_point", **ENDS, consumed_by="end"), event(id="end")]


def written(folder, events):
    export = export_param(canary_of(*events), ParamSettings())
    path = folder / "trace.json"
    path.write_bytes(export.array)
    return path, list(export.entries)


def expected(entries, *, waits=True):
    return [{op: n for op, n in replayed_on(entries, rank).items() if waits or op != "wait"} for rank in range(2)]


def run(trace, folder, *options, launcher=True):
    return replay(str(PYTHON), Path(str(CHECKOUT)), trace, folder, 2, *options, launcher=launcher)


@pytest.mark.parametrize(("options", "waits"), [((), True), (("--use-timestamp",), True), (("--z", "1"), False)])
def test_every_exported_entry_is_replayed(tmp_path, options, waits):
    trace, entries = written(tmp_path, EVERY_OPERATION)
    replayed = run(trace, tmp_path, *options)
    assert replayed.codes == [0, 0], replayed.stderr
    assert replayed.replayed == expected(entries, waits=waits)
    sizes = {(r["req"], r["in_msg_size"], r["out_msg_size"]) for r in replayed.records[0] if "in_msg_size" in r}
    assert sizes == {
        (e["req"], e["in_msg_size"], e["out_msg_size"]) for e in entries if "dtype" in e and e["comms"] != "recv"
    }


def test_without_the_launcher_nothing_is_replayed(tmp_path):
    trace, entries = written(tmp_path, EVERY_OPERATION)
    replayed = run(trace, tmp_path, launcher=False)
    assert all(code for code in replayed.codes)
    assert all("use_device_time" in text for text in replayed.stderr)
    assert verdicts(entries)[0].replays == 0


def test_a_later_message_is_replayed_in_blocking_mode_only(tmp_path):
    trace, entries = written(tmp_path, LATER_MESSAGE)
    assert run(trace, tmp_path / "blocking", "--z", "1").replayed == expected(entries, waits=False)
    standing = run(trace, tmp_path / "free")
    assert standing.codes == [None, None]


def test_an_unknown_operation_is_skipped_without_a_word(tmp_path):
    trace, entries = written(tmp_path, [event(), event("all_gather")])
    strange = [e | {"comms": "all_gather_coalesced"} if e["comms"] == "all_gather" else e for e in entries]
    trace.write_text(json.dumps(strange))
    replayed = run(trace, tmp_path)
    assert replayed.codes == [0, 0]
    assert replayed.replayed == [{"all_reduce": 1, "wait": 2}] * 2
