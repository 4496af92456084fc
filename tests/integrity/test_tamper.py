"""The tamper matrix: every leaf of every artifact kind is changed, in both containers, and something notices.

A lazy forger changes the file; a careful one also recomputes every digest that a forger could. Two classes of
changes may survive, by name:

    UNREFERRED      a change to a source trace that nothing else refers to (notes, fields that are ignored)
    HONEST_RERUN    what is exactly the artifact of other settings or labels: a consistent re-run of the chain
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from tests.integrity.tampering import tried

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import json_document, read_artifact, write_artifact
from commcanary.artifacts.stored import Kind, Stored
from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_exchange import TRACE, read_exchange
from commcanary.artifacts.trace_table import from_stored, to_stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import CommCanaryError, Refusal
from commcanary.judge.behavior import BEHAVIOR
from commcanary.judge.compare import compare
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.reference import Reference
from commcanary.judge.report_verification import REPORT_VERIFICATION
from commcanary.judge.source_verification import SOURCE_VERIFICATION
from commcanary.judge.verify_behavior import verify_behavior
from commcanary.judge.verify_report import verify_report
from commcanary.judge.verify_source import verify_source
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.replay.report import REPORT, Replayer

Mutations = Callable[[Any], Iterator[tuple[str, Any]]]

UNREFERRED, HONEST_RERUN = "unreferred", "honest_rerun"
FIVE = tuple(NAMED.values())
PROTOCOL = Protocol()


def exchange(shift: int = 0) -> bytes:
    rows = [
        {
            "op": "all_reduce" if i % 3 else "all_gather",
            "bytes": 4096,
            "ranks": 2,
            "group": "tp",
            "phase": "decode",
            "gap_us": 20.0 + 5 * (i % 2) + shift,
            "rank_arrival_us": {"0": 0.0, "1": 1.5 + i},
            "compute_before_us": 3.0 + i,
            "compute_overlap_us": 4.0 * (i % 2),
            "compute_pressure": 0.5 + 0.25 * (i % 2),
            "observed_exposed_us": 12.0 + i,
            "dtype": "float32",
            "metadata": {"step": i},
        }
        for i in range(6)
    ]
    document = {"format": "commcanary.trace.v1", "workload": {"name": "w"}, "system": {"gpu": "none"}, "events": rows}
    return canonical_json({**document, "notes": {"who": "test"}})


@dataclass(frozen=True)
class Chain:
    """One honest chain of artifacts."""

    trace: Trace
    canary: Canary
    reports: tuple[Stored[Any], Stored[Any]]

    @classmethod
    def of(cls, trace: Trace, settings: CompileSettings) -> Chain:
        canary = compile_trace(trace, settings)
        replayer = Replayer(canary, "scheduler-v4")
        return cls(trace, canary, tuple(replayer.report(NAMED[n], PROTOCOL) for n in ("baseline", "congested")))


TRACE_ONE, TRACE_TWO = read_exchange(exchange()), read_exchange(exchange(shift=3))
LOSSLESS = Chain.of(TRACE_ONE, CompileSettings())
CLOSED = Replayer(LOSSLESS.canary, "closed-loop-v1").report(NAMED["baseline"], Protocol(seeds=(7, 8)))
BOUNDED = Chain.of(TRACE_ONE, CompileSettings(timing_sample_limit=1, budget={"max_gap_error_us": 5.0}))
REFERENCE = Reference(TRACE_ONE, "scheduler-v4", FIVE[:2], PROTOCOL)
SOURCE_VERIFIED = verify_source(TRACE_ONE, BOUNDED.canary)
REPORT_VERIFIED = verify_report(LOSSLESS.reports[0], LOSSLESS.canary)


# --- what notices a change: each returns the place that it names, or None


def check_trace(stored: Stored[Any]) -> str | None:
    return _failed(verify_source(from_stored(stored), LOSSLESS.canary).checks)


def check_canary(stored: Stored[Any]) -> str | None:
    return _failed(verify_source(TRACE_ONE, Canary(stored)).checks)


def check_report(stored: Stored[Any]) -> str | None:
    return _failed(verify_report(stored, LOSSLESS.canary).checks)


def check_comparison(stored: Stored[Any]) -> str | None:
    return None if compare(*LOSSLESS.reports, stored.header.thresholds) == stored.header else "compare run again"


def check_source_verification(stored: Stored[Any]) -> str | None:
    return None if stored.header == SOURCE_VERIFIED else "verify-source run again"


def check_report_verification(stored: Stored[Any]) -> str | None:
    return None if stored.header == REPORT_VERIFIED else "verify-report run again"


def check_behavior(stored: Stored[Any]) -> str | None:
    header = stored.header
    again = behavior_made_again(
        header.protocol, tuple(c.configuration for c in header.configurations), header.tolerances
    )
    return None if again == header else "verify-behavior run again"


@cache
def behavior_made_again(protocol: Any, configurations: Any, tolerances: Any) -> Any:
    drawn = Protocol(protocol.seeds, protocol.iterations, protocol.ablations)
    return verify_behavior(Reference(TRACE_ONE, protocol.model, configurations, drawn), LOSSLESS.canary, tolerances)


def _failed(checks: tuple[Any, ...]) -> str | None:
    return next((f"{check.name} {check.place}" for check in checks if not check.passed), None)


# --- what may survive


def honest_canary(stored: Stored[Any]) -> bool:
    compiler = stored.header.compiler
    settings = CompileSettings(compiler.timing_sample_limit, compiler.quantum_ns, compiler.fidelity_budget)
    return compile_trace(TRACE_ONE, settings).content_id == stored.content_id


def honest_report(stored: Stored[Any]) -> bool:
    header = stored.header
    protocol = Protocol(header.replay_protocol.seeds, header.replay_protocol.iterations)
    again = Replayer(LOSSLESS.canary, header.simulation_model.name).report(header.backend, protocol)
    own_words = header.backend.label != "simulated-nccl" or header.backend.name not in (None, *NAMED)
    said = verify_report(stored, LOSSLESS.canary).checks[-1]
    assert (said.name, said.status) == ("labels", "not_checkable" if own_words else "pass")
    return again.content_id == stored.content_id and again.header.backend == header.backend


def unreferred(stored: Stored[Any]) -> bool:
    return bool(stored.content_id == TRACE_ONE.content_id)


@dataclass(frozen=True)
class Case:
    kind: Kind[Any]
    stored: Stored[Any]
    check: Callable[[Stored[Any]], str | None]
    other_table: Stored[Any] | None = None
    may_survive: tuple[str, Callable[[Stored[Any]], bool]] | None = None


def rerun(stored: Stored[Any]) -> bool:
    """A verdict that its own settings reproduce exactly: ``check`` has just made it again."""
    return True


CASES = {
    "trace": Case(TRACE, to_stored(TRACE_ONE), check_trace, to_stored(TRACE_TWO), (UNREFERRED, unreferred)),
    "canary": Case(
        CANARY,
        LOSSLESS.canary.stored,
        check_canary,
        compile_trace(TRACE_TWO, CompileSettings()).stored,
        (HONEST_RERUN, honest_canary),
    ),
    "bounded canary": Case(CANARY, BOUNDED.canary.stored, check_canary, None, (HONEST_RERUN, honest_canary)),
    "report": Case(REPORT, LOSSLESS.reports[0], check_report, LOSSLESS.reports[1], (HONEST_RERUN, honest_report)),
    "closed-loop report": Case(REPORT, CLOSED, check_report, None, (HONEST_RERUN, honest_report)),
    "comparison": Case(COMPARISON, Stored(compare(*LOSSLESS.reports)), check_comparison, None, (HONEST_RERUN, rerun)),
    "source verification": Case(SOURCE_VERIFICATION, Stored(SOURCE_VERIFIED), check_source_verification),
    "report verification": Case(
        REPORT_VERIFICATION,
        Stored(REPORT_VERIFIED),
        check_report_verification,
    ),
    "behavior": Case(
        BEHAVIOR,
        Stored(verify_behavior(REFERENCE, LOSSLESS.canary)),
        check_behavior,
        None,
        (HONEST_RERUN, rerun),
    ),
}


# --- the forgers


def document_of(case: Case) -> dict[str, Any]:
    document = json_document(case.kind, case.stored)
    document.pop("content_id", None)
    return document


def forged_by_hand(case: Case, document: Any, path: Path) -> None:
    """The lazy forger: the content id still says what the file was."""
    if path.suffix == ".json":
        stated = {"content_id": case.stored.content_id} if case.kind.states_content_id else {}
        path.write_bytes(canonical_json({**document, **stated}))
        return
    table = case.stored.table
    assert table is not None
    metadata = {
        b"commcanary.header": canonical_json(document),
        b"commcanary.content_id": case.stored.content_id.encode(),
    }
    pq.write_table(table.replace_schema_metadata(metadata), path)


def forged_with_care(case: Case, document: Any, path: Path) -> None:
    """The careful forger: the mutated document, read as it stands and written with every digest right."""
    stored = case.kind.from_json(canonical_json(document))
    if case.kind is REPORT and stored.table is not None:
        stored = Stored(stored.header, stored.table)
        digest = stored.table_digest
        stored = Stored(msgspec.structs.replace(stored.header, samples_digest=digest), stored.table)
    write_artifact(path, case.kind, stored)


def verdict(case: Case, make: Callable[[], None], path: Path) -> str:
    """Who noticed, or the class of survivor. Anything else is a hole."""
    try:
        make()
        stored = read_artifact(path, case.kind)
        place = case.check(stored)
    except Refusal as refusal:
        return "refused" if refusal.place or refusal.found else "UNNOTICED"
    except CommCanaryError as error:
        return "refused" if str(error) else "UNNOTICED"
    if place is not None:
        return "verdict"
    if case.kind.states_content_id and stored.content_id == case.stored.content_id:
        return "says_the_same"
    if case.may_survive is not None and case.may_survive[1](stored):
        return case.may_survive[0]
    return "UNNOTICED"


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("name", CASES)
def test_nothing_false_survives(mutations: Mutations, name: str, suffix: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / f"forged{suffix}"
    outcomes: Counter[str] = Counter()
    holes = []
    attempts = [(place, document, forged_with_care) for place, document in mutations(document_of(case))]
    if suffix == ".json":
        attempts += [(place, document, forged_by_hand) for place, document in mutations(document_of(case))]
    elif case.stored.table is not None:
        header = msgspec.to_builtins(case.stored.header)
        attempts += [(place, document, forged_by_hand) for place, document in mutations(header)]
    for place, document, forge in tried(attempts, 300):
        found = verdict(case, lambda d=document, f=forge: f(case, d, path), path)
        outcomes[found] += 1
        if found == "UNNOTICED":
            holes.append(f"{place} ({forge.__name__})")
    if case.other_table is not None:
        spliced = Stored(case.stored.header, case.other_table.table)
        found = verdict(case, lambda: write_artifact(path, case.kind, spliced), path)
        outcomes[found] += 1
        if found not in ("refused", "verdict"):
            holes.append("table of another artifact")
    print(f"{name} {suffix}: {dict(outcomes)}")  # with -s: who noticed how many
    assert not holes, holes[:20]
    assert outcomes["refused"] + outcomes["verdict"] > 0.9 * sum(outcomes.values())


def test_the_matrix_is_large(mutations: Mutations) -> None:
    assert sum(sum(1 for _ in mutations(document_of(case))) for case in CASES.values()) >= 2000


@pytest.mark.parametrize("name", CASES)
def test_the_honest_artifact_is_not_accused(name: str, tmp_path: Path) -> None:
    for suffix in (".json", ".parquet"):
        path = tmp_path / f"honest{suffix}"
        write_artifact(path, CASES[name].kind, CASES[name].stored)
        assert CASES[name].check(read_artifact(path, CASES[name].kind)) is None
