"""Stage: report and canary -> report verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.judge.report_verification import REPORT_VERIFICATION
from commcanary.judge.verify_report import verify_report
from commcanary.stages.reading import naming, read_canary, read_report

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.judge.report_verification import ReportVerification


def verify_report_stage(report_path: Path, canary_path: Path, output: Path) -> ReportVerification:
    """Recompute a report from its canary and write what agrees; a failure is evidence and is written too."""
    check_suffix(output)
    report, canary = read_report(report_path), read_canary(canary_path)
    with naming(report_path):
        verification = verify_report(report, canary)
    write_artifact(output, REPORT_VERIFICATION, Stored(verification))
    return verification
