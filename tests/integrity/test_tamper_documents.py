"""The tamper matrix of the documents that campaigns and exports write: who notices what, kind by kind.

A lazy forger, who leaves the stated content id, is refused by whatever reads the file, and the refusal names the
file and ``content_id``. A careful forger writes a document that is right in itself. Then what notices is a command
that makes the document again from its inputs (MADE_AGAIN), or, where the document itself is what was declared or
found first, ``campaign verify`` alone: it holds every file against the seal and makes it again (SEALED).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.integrity.filled import filled
from tests.integrity.tampering import tried

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import json_document, read_artifact, write_artifact
from commcanary.artifacts.stored import Kind, Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.controls.registry import make_control
from commcanary.errors import CommCanaryError
from commcanary.judge.ablation import ABLATION_COSTS, ablation_costs
from commcanary.judge.compare import compare
from commcanary.judge.policy import POLICY_OUTCOME, Policy, judged_by
from commcanary.judge.reconcile import reconcile
from commcanary.judge.reconciliation import RECONCILIATION
from commcanary.judge.reference import Reference
from commcanary.judge.statistics import DECISIONS, decision_statistics
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.replay.report import Replayer
from commcanary.sources.synthetic.registry import synthetic
from commcanary.stages.kinds import KINDS
from commcanary.targets.param import ParamSettings, export_param
from commcanary.targets.param_account import PARAM_ACCOUNT

Mutations = Callable[[Any], Iterator[tuple[str, Any]]]

NAMES = ("baseline", "congested", "low_latency")
IN_THE_OTHER_MATRIX = {
    "trace",
    "canary",
    "report",
    "comparison",
    "source verification",
    "report verification",
    "behavior verification",
    "overlap",  # tests/integrity/test_overlap_tamper.py
}
SEALED = {
    "comparison index",
    "cell index",
    "manifest",
    "seal",
    "behavior search ledger",
    "expectations",
    "null calibration",
    "calibration",
    "what-if",
    "overlap study",
}
"""Kinds that only ``campaign verify``, or the command that made them given the same inputs again, can catch."""


@cache
def chain() -> dict[str, Any]:
    trace = synthetic("mixed", 3, 30)
    made = make_control(trace, "frequency")
    reports = {}
    for side, source in (("source", trace), ("represented", made)):
        replayer = Replayer(compile_trace(source, CompileSettings()), "scheduler-v4")
        reports[side] = {name: replayer.report(NAMED[name], Protocol()) for name in NAMES}
    compared = {
        side: {name: compare(found["baseline"], found[name]) for name in NAMES[1:]} for side, found in reports.items()
    }
    canary = compile_trace(trace, CompileSettings())
    return {
        "compared": compared,
        "reference": Reference(trace, "scheduler-v4", [NAMED[name] for name in NAMES], Protocol()),
        "account": export_param(canary, ParamSettings()).account,
    }


def decisions_again(header: Any) -> Any:
    compared = chain()["compared"]
    return decision_statistics(
        "frequency", compared["source"], compared["represented"], runs=1, tie_band_points=header.tie_band_points
    )


def policy_again(header: Any) -> Any:
    compared = chain()["compared"]
    return judged_by(header.policy, decision_statistics("frequency", *compared.values(), runs=1))


def ablations_again(header: Any) -> Any:
    return ablations_made_again(tuple(cost.ablation for cost in header.costs), header.tolerances)


@cache
def ablations_made_again(names: tuple[str, ...], tolerances: Any) -> Any:
    return ablation_costs(chain()["reference"], names, tolerances)


@cache
def reconciled() -> Any:
    whole = synthetic("mixed", 3, 30)
    return reconcile({"whole": whole, "less": whole.derived(np.arange(29, dtype=np.int64), "window")})


MADE_AGAIN: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], str]] = {
    # kind: (the honest document, made again with the settings that a document states, the command)
    DECISIONS.name: (
        lambda: decision_statistics("frequency", *chain()["compared"].values(), runs=1),
        decisions_again,
        "campaign verify",
    ),
    POLICY_OUTCOME.name: (
        lambda: judged_by(Policy(), decision_statistics("frequency", *chain()["compared"].values(), runs=1)),
        policy_again,
        "campaign verify",
    ),
    ABLATION_COSTS.name: (
        lambda: ablation_costs(chain()["reference"], ["arrival_skew", "noise"]),
        ablations_again,
        "campaign verify",
    ),
    RECONCILIATION.name: (lambda: reconciled(), lambda header: reconciled(), "reconcile"),
    PARAM_ACCOUNT.name: (lambda: chain()["account"], lambda header: chain()["account"], "export-param"),
}


def documents() -> dict[str, Kind[Any]]:
    return {kind.name: kind for kind in KINDS if kind.name not in IN_THE_OTHER_MATRIX}


def honest(kind: Kind[Any]) -> Stored[Any]:
    if kind.name in MADE_AGAIN:
        return Stored(MADE_AGAIN[kind.name][0]())
    return Stored(msgspec.convert(filled(kind.header), kind.header))


def who_notices(kind: Kind[Any], stored: Stored[Any], path: Path, forge: Callable[[], None]) -> str:
    try:
        forge()
        read = read_artifact(path, kind)
    except CommCanaryError as refusal:
        return "refused" if str(refusal) else "UNNOTICED"
    if read.content_id == stored.content_id:
        return "says_the_same"
    if kind.name in SEALED:
        return "campaign verify"  # whatever is not the sealed content
    try:
        again = MADE_AGAIN[kind.name][1](read.header)
    except CommCanaryError:
        return "refused"
    # a document that its own settings give is the honest one of another policy: the manifest says which was declared
    return "honest_rerun" if again == read.header else MADE_AGAIN[kind.name][2]


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("name", sorted(documents()))
def test_nothing_false_survives(mutations: Mutations, name: str, suffix: str, tmp_path: Path) -> None:
    kind, path = documents()[name], tmp_path / f"forged{suffix}"
    stored = honest(kind)
    document = json_document(kind, stored)
    document.pop("content_id")

    def lazy(changed: Any) -> None:
        if suffix == ".json":
            path.write_bytes(canonical_json({**changed, "content_id": stored.content_id}))
        else:
            headed(path, changed, stored.content_id)

    def careful(changed: Any) -> None:
        write_artifact(path, kind, kind.from_json(canonical_json(changed)))

    outcomes: Counter[str] = Counter()
    attempts = [(place, changed, forge) for place, changed in mutations(document) for forge in (lazy, careful)]
    for place, changed, forge in tried(attempts, 240):
        found = who_notices(kind, stored, path, lambda c=changed, f=forge: f(c))  # type: ignore[misc]
        outcomes[found] += 1
        assert found != "UNNOTICED", place
        if forge is lazy:
            assert found in ("refused", "says_the_same"), place
    print(f"{name} {suffix}: {dict(outcomes)}")  # with -s: who noticed how many
    # leaving out a setting that is its default says the same; another setting, kept consistently, is a run of its own
    assert outcomes["refused"] > 0.4 * sum(outcomes.values())
    assert outcomes["honest_rerun"] <= 0.1 * sum(outcomes.values())


def headed(path: Path, header: Any, content_id: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = {b"commcanary.header": canonical_json(header), b"commcanary.content_id": content_id.encode()}
    pq.write_table(pa.table({}).replace_schema_metadata(metadata), path)


@pytest.mark.parametrize("name", sorted(documents()))
def test_the_honest_document_is_not_accused(name: str, tmp_path: Path) -> None:
    kind = documents()[name]
    stored = honest(kind)
    for suffix in (".json", ".parquet"):
        path = tmp_path / f"honest{suffix}"
        write_artifact(path, kind, stored)
        read = read_artifact(path, kind)
        assert read.content_id == stored.content_id
        if name in MADE_AGAIN:
            assert MADE_AGAIN[name][1](read.header) == read.header


def test_every_kind_is_in_a_matrix() -> None:
    """A new kind of artifact says who notices when it is changed, or this fails."""
    assert {kind.name for kind in KINDS} == IN_THE_OTHER_MATRIX | set(MADE_AGAIN) | SEALED
