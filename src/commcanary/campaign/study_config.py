"""A campaign's studies of three runs: one entry a job."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

import msgspec

Files = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class StudyConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Profiles of a job run three ways, one a rank and repeat; paths are relative to the configuration file.

    ``correctness`` is the job's comparison of its results, ``ignore_kernels`` name compute that belongs to
    the communication.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")]
    compute: Files
    communication: Files
    overlapped: Files
    correctness: str | None = None
    ignore_kernels: tuple[str, ...] = ()


_WAYS = ("compute", "communication", "overlapped")


def study_files(study: StudyConfig) -> dict[str, str]:
    """The files of a study, as configured, by the path of the key that names each."""
    found = {f"{key}[{number}]": name for key in _WAYS for number, name in enumerate(getattr(study, key))}
    return found if study.correctness is None else {**found, "correctness": study.correctness}


def study_without_folders(study: StudyConfig) -> StudyConfig:
    """``study`` with base names in place of the paths of its files."""
    correctness = None if study.correctness is None else PurePath(study.correctness).name
    named = {key: tuple(PurePath(name).name for name in getattr(study, key)) for key in _WAYS}
    return msgspec.structs.replace(study, correctness=correctness, **named)
