"""Damaged execution traces: refused by name or imported with the values that stand in the file, never anything else."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

from ..fuzzing import INPUTS, fates_of_damaged, refused
from .traces import job, record, torch_node, torch_trace

ALONE = ExecutionTraceSettings(world_size=2, assume_default_group=True, ranks=(0,))


@pytest.mark.parametrize("which", ["pytorch", "chakra"])
def test_mutated_bytes(tmp_path: Path, which: str) -> None:
    if which == "chakra":
        text = job(0)
    else:
        nodes = [torch_node(2, "aten::mm", []), *(record(number, elements=number) for number in range(3, 12))]
        text = torch_trace(tmp_path / "whole.json", nodes).read_bytes()
    path = tmp_path / "mutated.0.et"
    fates = fates_of_damaged(path, text, lambda _: import_execution_traces([path], ALONE), name=path.name)
    assert min(fates.values()) > 10


def test_mutated_sizes_are_those_of_the_file(tmp_path: Path) -> None:
    rng = random.Random(7)
    path = tmp_path / "et.json"
    for _ in range(INPUTS // 8):
        nodes = [record(number, elements=number) for number in range(3, 8)]
        for attribute in rng.sample(nodes[rng.randrange(5)]["attrs"], 2):
            attribute["value"] = rng.choice(
                [None, -1, 0, 1, 2, 2**63, 2**64, 1.5, "", "0", "Half", "wait", [], {}, True]
            )
        torch_trace(path, nodes)
        if refused(lambda: import_execution_traces([path], ALONE), path.name):
            continue
        trace = import_execution_traces([path], ALONE).trace
        expected = []
        for node in json.loads(path.read_text())["nodes"]:
            said = {a["name"]: a["value"] for a in node["attrs"]}
            if said["collective_name"] == "wait":
                continue  # moves nothing, whatever its sizes say
            elements = max(said["in_msg_nelems"], said["out_msg_nelems"])
            if elements:
                expected.append(elements * {"Float": 4, "Half": 2}[said["dtype"]])
        assert sorted(trace.events.signatures[i].bytes for i in trace.events.signature) == sorted(expected)
