"""One result of a campaign, made again from what it follows from and held against the file that lies there."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import writing_only_under
from commcanary.artifacts.files import SUFFIXES, read_artifact
from commcanary.errors import CommCanaryError, Refusal
from commcanary.stages.kinds import kind_of
from commcanary.stages.same_values import difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commcanary.stages.derivations import Derivation


def derived_again(derivation: Derivation, results: Path) -> Iterator[str]:
    """What differs, a line each, where the outputs of ``derivation`` in ``results`` are made again.

    Outputs that are not there are passed over.
    """
    outputs = [path for path in derivation.outputs if (results / path).is_file()]
    if not outputs:
        return
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            with writing_only_under(scratch):
                derivation.make(results, scratch)
        except Exception as error:  # whatever a forged input does to a stage, other differences must be told
            why = str(error) if isinstance(error, CommCanaryError) else f"{type(error).__name__} ({error})"
            yield from (f"{path}: cannot be derived again: {why}" for path in outputs)
            yield from unreadable(outputs, results)
            return
        for path in outputs:
            try:
                found = difference(scratch / path, results / path)
            except Refusal as refusal:
                yield f"{path}: {_without_file(refusal)}"
            else:
                if found:
                    yield f"{path}: derived again it differs: {found}"


def unreadable(paths: Iterable[str], results: Path) -> Iterator[str]:
    """Of ``paths`` those artifacts that cannot be read, each with why; what is no artifact is passed over."""
    for path in paths:
        if (results / path).suffix not in SUFFIXES or not (results / path).is_file():
            continue
        try:
            kind = kind_of(results / path)
        except Refusal as refusal:
            if _is_artifact(path):
                yield f"{path}: {_without_file(refusal)}"
            continue
        try:
            read_artifact(results / path, kind)
        except Refusal as refusal:
            yield f"{path}: {_without_file(refusal)}"


def _is_artifact(path: str) -> bool:
    return not path.startswith("tables/") and not path.endswith("/param.json")


def _without_file(refusal: Refusal) -> str:
    return ": ".join(part for part in (refusal.place, refusal.found) if part)
