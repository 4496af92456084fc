"""Stage: profiles of three ways of one job -> the study of their overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.files import check_suffix, read_bytes, write_artifact
from commcanary.artifacts.jsontext import convert, decode
from commcanary.artifacts.stored import Stored
from commcanary.campaign.study_config import StudyConfig, study_files
from commcanary.judge.overlap_study import Correctness, check_correctness, study
from commcanary.judge.study_document import COMMUNICATION, COMPUTE, OVERLAP_STUDY, OVERLAPPED
from commcanary.judge.study_runs import Run
from commcanary.sources.files import source_files
from commcanary.sources.kineto.run_facts import run_facts
from commcanary.sources.kineto.timelines import read_timelines
from commcanary.stages.reading import naming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from commcanary.judge.study_document import OverlapStudy
    from commcanary.sources.kineto.settings import KinetoSettings


def overlap_study_stage(
    compute: Sequence[Path],
    communication: Sequence[Path],
    overlapped: Sequence[Path],
    output: Path,
    *,
    correctness: Path | None = None,
    ignored: Sequence[str] = (),
    settings: KinetoSettings | None = None,
) -> OverlapStudy:
    """Write the study of three ways of one job to ``output``; each way is one profile per rank and repeat.

    ``correctness`` is the job's own comparison of its results, ``ignored`` names compute kernels that belong to
    the communication.
    """
    check_suffix(output)
    ways = {COMPUTE: compute, COMMUNICATION: communication, OVERLAPPED: overlapped}
    runs = {name: [run for path in paths for run in _runs(path, name, settings)] for name, paths in ways.items()}
    right = None if correctness is None else _correctness(correctness)
    found = study(runs, right, frozenset(ignored))
    files = [path for paths in ways.values() for path in paths] + ([] if correctness is None else [correctness])
    found = msgspec.structs.replace(found, source_files=source_files(files))
    write_artifact(output, OVERLAP_STUDY, Stored(found))
    return found


def overlap_study_entry_stage(entry: Mapping[str, Any], files: Sequence[Path], output: Path) -> OverlapStudy:
    """Write the study of a campaign's ``entry`` (plain data as in the configuration), whose files are ``files``."""
    study_entry = convert(entry, StudyConfig)
    by_key = dict(zip(study_files(study_entry), files, strict=True))

    def profiles(way: str) -> list[Path]:
        return [path for key, path in by_key.items() if key.startswith(f"{way}[")]

    return overlap_study_stage(
        profiles(COMPUTE),
        profiles(COMMUNICATION),
        profiles(OVERLAPPED),
        output,
        correctness=by_key.get("correctness"),
        ignored=study_entry.ignore_kernels,
    )


def _runs(path: Path, way: str, settings: KinetoSettings | None) -> list[Run]:
    reads = read_timelines([path], settings, communicates=way != COMPUTE).reads
    facts = run_facts(path)
    by_name = dict(zip([read.timeline.name for read in reads], reads, strict=True))
    return [
        Run(
            str(path) if len(reads) == 1 else f"{path}({name})",
            read.timeline,
            fact.shapes,
            fact.peak_allocated,
            fact.peak_reserved,
            fact.counters,
        )
        for (name, read), fact in zip(sorted(by_name.items()), facts, strict=True)
    ]


def _correctness(path: Path) -> Correctness:
    with naming(path):
        found = decode(read_bytes(path), Correctness)
        check_correctness(found)
        return found
