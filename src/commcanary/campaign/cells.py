"""The cells of a campaign as they lie in its folder: done, failed, missing or stale.

A cell is done while its report is the one that its receipt names, and was made from the canary that lies
there, under the settings of the plan, by the code of today.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import read_artifact
from commcanary.campaign.layout import report_file
from commcanary.campaign.links import is_own_file
from commcanary.campaign.logs import LAST_WORD, last_words
from commcanary.campaign.provenance import code_digest
from commcanary.campaign.receipts import REPLAY, cell_id, cell_settings, file_sha256, read_receipt
from commcanary.errors import IntegrityRefusal, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commcanary.campaign.plan import Cell, Plan

DONE, FAILED, MISSING, STALE = "done", "failed", "missing", "stale"
_CHAIN = ("trace", "represent", "search", "compile", "replay")


@dataclass(frozen=True)
class CellState:
    """One cell; ``why`` says what is wrong unless it is done."""

    cell: Cell
    state: str
    why: str = ""


def cell_states(plan: Plan, results: Path) -> Iterator[CellState]:
    """The state of every expected cell of ``plan`` in the folder ``results``."""
    code = code_digest("commcanary.stages.replay")
    canaries: dict[tuple[str, str], str | Refusal] = {}
    for cell in plan.cells():
        place = (cell.workload, cell.representation)
        if place not in canaries:
            canaries[place] = _canary_id(results.joinpath(*place, "canary.parquet"))
        yield _state(plan, results, cell, canaries[place], code)


def refuse_incomplete(plan: Plan, results: Path) -> None:
    """Raise ``IntegrityRefusal``, naming the first cells, unless every expected cell is done."""
    states = list(cell_states(plan, results))
    wrong = [state for state in states if state.state != DONE]
    if wrong:
        named = "; ".join(f"{state.cell} is {state.state} ({state.why})" for state in wrong[:3])
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise IntegrityRefusal(
            "cells",
            f"{len(wrong)} of {len(states)} are not done: {named}{more}",
            "run the campaign again",
            file=str(results),
        )


def reopen(plan: Plan, results: Path) -> None:
    """Remove the indexes of representations with a cell that is not done, so that the engine makes it again.

    The engine watches the indexes only: reports are no outputs of its rules.
    """
    if not any(results.glob("*/*/reports/index-*.json")):
        return
    wrong = {(s.cell.workload, s.cell.representation) for s in cell_states(plan, results) if s.state != DONE}
    for place in sorted(wrong):
        for index in results.joinpath(*place, "reports").glob("index-*.json"):
            index.unlink(missing_ok=True)


def _canary_id(path: Path) -> str | Refusal:
    try:
        return read_artifact(path, CANARY).content_id
    except Refusal as refusal:
        return refusal


def _failed_logs(results: Path, workload: str, representation: str) -> list[Path]:
    """Logs of the stages behind a representation's cells that end in a failure."""
    names = (f"{workload}.log", f"{workload}.{representation}.log", f"{workload}.{representation}.[0-9]*.log")
    logs = (log for stage in _CHAIN for name in names for log in sorted((results / "logs" / stage).glob(name)))
    return [log for log in logs if is_own_file(results, log) and last_words(log) not in ([], [LAST_WORD])]


def _state(plan: Plan, results: Path, cell: Cell, canary: str | Refusal, code: str) -> CellState:
    report = results / report_file(cell.workload, cell.representation, cell.configuration)
    if not report.is_file():
        failed = _failed_logs(results, cell.workload, cell.representation)
        if failed:
            return CellState(cell, FAILED, f"{failed[0].relative_to(results)}: {last_words(failed[0])[-1]}")
        return CellState(cell, MISSING, "not made yet")
    why = _stale(plan, report, cell, canary, code)
    return CellState(cell, STALE, why) if why else CellState(cell, DONE)


def _stale(plan: Plan, report: Path, cell: Cell, canary: str | Refusal, code: str) -> str | None:
    if isinstance(canary, Refusal):
        return f"its canary cannot be read ({canary.found})"
    receipt = read_receipt(report)
    if receipt is None:
        return "it has no receipt"
    configuration = next(c for c in plan.configurations(cell.workload) if c.name == cell.configuration)
    assumptions = plan.workload(cell.workload).assume
    settings = cell_settings(configuration, plan.protocol(cell.workload), plan.model(cell.workload), assumptions)
    inputs = {"canary": canary}
    if receipt.output_sha256 != file_sha256(report):
        return "the file is not the one that its receipt names"
    if receipt.cell == cell_id(REPLAY, inputs, settings, code):
        return None
    if receipt.inputs != inputs:
        return "made from another canary"
    return "made by other code" if receipt.code != code else "made under other settings"
