"""Stage: trace and canary -> source verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.judge.source_verification import SOURCE_VERIFICATION
from commcanary.judge.verify_source import verify_source
from commcanary.stages.reading import naming, read_canary, read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.judge.source_verification import SourceVerification


def verify_source_stage(trace_path: Path, canary_path: Path, output: Path) -> SourceVerification:
    """Check a canary against its source and write what agrees; a failure is evidence and is written too."""
    check_suffix(output)
    trace, canary = read_trace(trace_path), read_canary(canary_path)
    with naming(canary_path):
        verification = verify_source(trace, canary)
    write_artifact(output, SOURCE_VERIFICATION, Stored(verification))
    return verification
