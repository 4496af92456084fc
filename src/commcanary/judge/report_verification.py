"""The document of a report verification."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.judge.checks import Check

REPORT_VERIFICATION_FORMAT = "commcanary.report_verification.v1"

MODEL_RECOMPUTED = "model_recomputed"
FAILED = "failed"

REPORT_CHECKS = (
    "canary",
    "simulation_model",
    "replay_protocol",
    "backend",
    "workload",
    "canary_summary",
    "metrics",
    "by_phase",
    "by_op",
    "calibration",
    "samples",
)
"""The eleven checks, in the order of the document."""

LABELS = "labels"
"""The line after them: ``not_checkable`` where the configuration bears texts that nothing can recompute."""


class ReportVerification(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="format",
    tag=REPORT_VERIFICATION_FORMAT,
):
    """``status`` is model_recomputed or failed. ``report`` and ``canary`` are content ids.

    ``samples`` says what the samples check rests on: ``stored`` in the report, or its ``digest`` alone.
    """

    status: str
    report: str
    canary: str
    samples: str
    checks: tuple[Check, ...]


REPORT_VERIFICATION = document_kind("report verification", REPORT_VERIFICATION_FORMAT, ReportVerification)
"""The report verification as an artifact kind."""
