"""Mutated profiles: refused by name or imported with the values that stand in the file, never anything else."""

from __future__ import annotations

import copy
import gzip
import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings

from ..fuzzing import INPUTS, mutated, refused
from .profiles import group, info, kernel, profile, record, span, written

if TYPE_CHECKING:
    from pathlib import Path

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"


def nccl_profile() -> dict[str, Any]:
    job = info(rank=0, world=4, groups=[group("0", [0, 1, 2, 3], "default_pg"), group("1", [0, 2], "dp")])
    events: list[dict[str, Any]] = [span("## forward ##", "user_annotation", 90, 250)]
    for number in range(6):
        at, ids = 100 + 40 * number, {"External id": number + 1}
        on = {"name": "1", "ranks": "[0, 2]", "size": 2} if number % 2 else {"ranks": "[0, 1, 2, 3]", "size": 4}
        events.append(span("c10d::allreduce_", "cpu_op", at - 2, 20, 5))
        events.append(record(ts=at, dur=10, elements=100 + number, tid=5, Seq=number, **on, **ids))
        events.append(kernel(NCCL, at + 500, 20, 20, **ids, correlation=50 + number))
        events.append(kernel("gemm", at + 505, 10, 7, correlation=90 + number))
    events.append(record("wait", ts=400, elements=0, dtype="Byte", ranks="[]", size=1, name=None))
    return profile(events, distributedInfo=job, baseTimeNanoseconds=1_790_857_026_000_000_000)


def strictly_json(text: bytes) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


@pytest.mark.parametrize("which", ["nccl", "gloo"])
def test_mutated_bytes(tmp_path: Path, gloo_ddp: list[Path], which: str) -> None:
    if which == "nccl":
        text = json.dumps(nccl_profile(), indent=1).encode()
    else:
        whole = json.loads(gzip.decompress(gloo_ddp[0].read_bytes()))
        named = ("c10d", "gloo", "forward", "backward")
        whole["traceEvents"] = [e for e in whole["traceEvents"] if e["name"].startswith(named)][:120]
        text = json.dumps(whole, indent=1).encode()
    rng = random.Random(20261129)
    path = tmp_path / "mutated.json"
    outcomes = {"refused": 0, "imported": 0}
    for _ in range(INPUTS):
        data = mutated(rng, text)
        path.write_bytes(data)
        if refused_in_one_line(path, KinetoSettings(on_error=rng.choice(["stop", "skip"]))):
            outcomes["refused"] += 1
        else:
            assert strictly_json(data)
            outcomes["imported"] += 1
    assert min(outcomes.values()) > 20  # both happen, so the test looks at both


@pytest.mark.parametrize("share", range(0, 100, 9))
def test_truncated_anywhere(tmp_path: Path, share: int) -> None:
    text = json.dumps(nccl_profile())
    path = written(tmp_path / "cut.json", text[: len(text) * share // 100])
    with pytest.raises(InputRefusal, match=r"cut\.json"):
        import_kineto([path])


NUMBERS: list[Any] = [-1, 0, 1, 2, 3, 7, 2**31, 2**63, 2**64, 1.5, 1e17]
TEXTS: list[Any] = [
    "",
    "0",
    "1",
    "dp",
    "[0, 2]",
    "[2, 0]",
    "[0]",
    "[]",
    "[0, 1, ..., 3]",
    "Float",
    "Half",
    "broadcast",
    "wait",
    "send",
]
odd = st.sampled_from([None, True, [], [0, 1], [[5]], {}, {"a": 1}, *NUMBERS, *TEXTS])


def refused_in_one_line(path: Path, chosen: KinetoSettings | None = None) -> bool:
    """Whether ``path`` is refused; anything but a refusal is an error."""
    return refused(lambda: import_kineto([path], chosen))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_fields(tmp_path: Path, data: st.DataObject) -> None:
    """Any field of any event and of the job may hold anything: what is imported is what a plain reading gives."""
    document = copy.deepcopy(nccl_profile())
    targets = [document, document["distributedInfo"], *document["traceEvents"]]
    for _ in range(data.draw(st.integers(1, 2))):
        target = data.draw(st.sampled_from(targets))
        if data.draw(st.booleans()) and isinstance(target.get("args"), dict):
            target = target["args"]
        if not target or not isinstance(target, dict):
            continue
        key = data.draw(st.sampled_from(sorted(target)))
        if data.draw(st.booleans()):
            target[key] = data.draw(odd)
        else:
            del target[key]
    path = written(tmp_path / "p.json", document)
    if refused_in_one_line(path):
        return
    trace = import_kineto([path]).trace
    rows = [trace.events.signatures[i] for i in trace.events.signature]
    seen = sorted((r.op, r.bytes, r.dtype, trace.events.groups[r.group].members) for r in rows)
    assert seen == sorted(plain_reading(document))


OPS = {"allreduce": "all_reduce", "broadcast": "broadcast"}
SIZES = {"Float": ("float32", 4), "Half": ("float16", 2)}
MEMBERS = {"[0, 1, 2, 3]": (0, 1, 2, 3), "[0, 2]": (0, 2), "[2, 0]": (2, 0), "[0]": (0,), "[0, 1]": (0, 1)}


def plain_reading(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The calls of the document, read record by record without any of the importer's code."""
    calls = []
    config = document["distributedInfo"].get("pg_config")
    known = {str(g["pg_name"]): tuple(g["ranks"]) for g in config} if isinstance(config, list) else {}
    for event in document["traceEvents"]:
        if event.get("name") != "record_param_comms" or event.get("ph") != "X" or event.get("cat") != "cpu_op":
            continue
        args = event.get("args") or {}
        collective = args.get("Collective name")
        if collective in ("wait", "barrier", "init"):
            continue
        if collective is None and "In msg nelems" not in args:
            continue
        elements = max(args["In msg nelems"], args["Out msg nelems"])
        if elements == 0:
            continue
        dtype, size = SIZES[args["dtype"]]
        listed = args.get("Process Group Ranks")
        ranks = tuple(listed) if isinstance(listed, list) else MEMBERS.get(listed)
        ranks = ranks or known.get(str(args.get("Process Group Name"))) or (0,)
        calls.append((OPS.get(str(collective), collective), elements * size, dtype, ranks))
    return calls
