"""Every kind of artifact, found by the format that a file states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import format_of
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS
from commcanary.compile.search_ledger import SEARCH_LEDGER
from commcanary.errors import InputRefusal
from commcanary.judge.ablation import ABLATION_COSTS
from commcanary.judge.behavior import BEHAVIOR
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.null_calibration import NULL_CALIBRATION
from commcanary.judge.policy import POLICY_OUTCOME
from commcanary.judge.reconciliation import RECONCILIATION
from commcanary.judge.report_verification import REPORT_VERIFICATION
from commcanary.judge.source_verification import SOURCE_VERIFICATION
from commcanary.judge.statistics import DECISIONS
from commcanary.judge.study_document import OVERLAP_STUDY
from commcanary.replay.report import REPORT
from commcanary.sources.nccl_tests.calibration import CALIBRATION
from commcanary.stages.compare import COMPARISONS
from commcanary.stages.expectations import EXPECTATIONS
from commcanary.stages.replay import CELLS
from commcanary.targets.param_account import PARAM_ACCOUNT
from commcanary.timeline.overlap import OVERLAP
from commcanary.timeline.whatif import WHATIF

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.stored import Kind

KINDS: tuple[Kind[Any], ...] = (
    TRACE,
    CANARY,
    REPORT,
    COMPARISON,
    COMPARISONS,
    REPORT_VERIFICATION,
    SOURCE_VERIFICATION,
    BEHAVIOR,
    DECISIONS,
    POLICY_OUTCOME,
    CELLS,
    MANIFEST,
    SEALS,
    SEARCH_LEDGER,
    EXPECTATIONS,
    ABLATION_COSTS,
    NULL_CALIBRATION,
    PARAM_ACCOUNT,
    CALIBRATION,
    WHATIF,
    OVERLAP_STUDY,
    OVERLAP,
    RECONCILIATION,
)


def kind_of(path: Path) -> Kind[Any]:
    """The kind of the artifact at ``path``; raises ``InputRefusal`` for a format that is not ours."""
    stated = format_of(path)
    for kind in KINDS:
        if kind.format == stated:
            return kind
    known = ", ".join(kind.format for kind in KINDS)
    raise InputRefusal("format", f"is {stated!r}", f"known are {known}", file=str(path))
