"""Stage: reports -> comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.judge.compare import compare
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.thresholds import Thresholds
from commcanary.stages.reading import naming, read_canary, read_report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.judge.comparison import Comparison

COMPARISONS_FORMAT = "commcanary.comparisons.v1"


class ComparisonEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One comparison of a representation: its candidate, file name, verdict and content id."""

    configuration: str
    comparison: str
    verdict: str
    content_id: str


class ComparisonIndex(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=COMPARISONS_FORMAT
):
    """The comparisons of one representation against its baseline, in the order of the configurations."""

    baseline: str
    comparisons: tuple[ComparisonEntry, ...]


COMPARISONS = document_kind("comparison index", COMPARISONS_FORMAT, ComparisonIndex)


def compare_stage(
    baseline_path: Path,
    candidate_path: Path,
    output: Path,
    thresholds: Thresholds,
    *,
    allow_mismatch: bool = False,
    confidence: float | None = None,
    canary_path: Path | None = None,
) -> Comparison:
    """Compare two reports and write the verdict; a failing verdict is evidence and is written too."""
    check_suffix(output)
    baseline, candidate = read_report(baseline_path), read_report(candidate_path)
    canary = None if canary_path is None else read_canary(canary_path)
    with naming(candidate_path):
        comparison = compare(
            baseline, candidate, thresholds, allow_mismatch=allow_mismatch, confidence=confidence, canary=canary
        )
    write_artifact(output, COMPARISON, Stored(comparison))
    return comparison


def compare_batch_stage(
    reports: Path,
    configurations: Sequence[str],
    output: Path,
    baseline: str,
    thresholds: Mapping[str, Any],
    *,
    confidence: float | None,
) -> ComparisonIndex:
    """Compare the reports of ``configurations`` in the folder ``reports`` against the ``baseline`` configuration's.

    ``confidence`` is the level of bootstrap intervals over runs, None for none. Comparisons are ``NAME.json``
    beside ``output``, their index.
    """
    limits = convert(thresholds, Thresholds)
    entries = []
    for configuration in configurations:
        if configuration == baseline:
            continue
        path = output.with_name(f"{configuration}.json")
        before, after = (reports / f"{name}.parquet" for name in (baseline, configuration))
        comparison = compare_stage(before, after, path, limits, confidence=confidence)
        content_id = Stored(comparison).content_id
        entries.append(ComparisonEntry(configuration, path.name, comparison.verdict, content_id))
    index = ComparisonIndex(baseline, tuple(entries))
    write_artifact(output, COMPARISONS, Stored(index))
    return index
