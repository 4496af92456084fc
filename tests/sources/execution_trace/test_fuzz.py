"""Damaged execution traces: refused by name or imported with the values that stand in the file, never anything else."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from commcanary.errors import CommCanaryError
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

from ..kineto.test_fuzz import mutated
from .traces import job, record, torch_node, torch_trace

INPUTS = int(os.environ.get("COMMCANARY_FUZZ_INPUTS", "400"))
ALONE = ExecutionTraceSettings(world_size=2, assume_default_group=True, ranks=(0,))


def refused_in_one_line(path: Path, settings: ExecutionTraceSettings) -> bool:
    """Whether ``path`` is refused by its name; anything but a refusal is an error."""
    try:
        import_execution_traces([path], settings)
    except CommCanaryError as refusal:
        return "\n" not in str(refusal) and path.name in str(refusal)
    return False


@pytest.mark.parametrize("which", ["pytorch", "chakra"])
def test_mutated_bytes(tmp_path: Path, which: str) -> None:
    if which == "chakra":
        text = job(0)
    else:
        nodes = [torch_node(2, "aten::mm", []), *(record(number, elements=number) for number in range(3, 12))]
        text = torch_trace(tmp_path / "whole.json", nodes).read_bytes()
    rng = random.Random(20261129)
    path = tmp_path / "mutated.0.et"
    outcomes = {True: 0, False: 0}
    for _ in range(INPUTS):
        path.write_bytes(mutated(rng, text))
        outcomes[refused_in_one_line(path, ALONE)] += 1
    assert min(outcomes.values()) > 10


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
        if refused_in_one_line(path, ALONE):
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
