"""The seal of a finished campaign: the digest of every output and one Merkle root over them.

    line = hex SHA-256 of the file + two spaces + its path from the campaign's folder + newline
    leaf = sha256(0x00 + line);  node = sha256(0x01 + left + right), without a partner it moves up unchanged

Lines are sorted by path, byte by byte, and are ``seal.sha256`` as ``sha256sum -c`` reads it: the root can be
recomputed from that file alone.
"""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.merkle import merkle_top
from commcanary.campaign.links import inside
from commcanary.campaign.receipts import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEAL_FORMAT = "commcanary.seal.v1"

_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
"""Names of a campaign joined by slashes: relative, normal, without ``..`` on any system that unpacks them."""


class SealedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One output: path from the campaign's folder, size in bytes, hex SHA-256.

    Raises ``ValueError`` for a path that could lead out of the folder, which decoding makes a refusal.
    """

    path: str
    bytes: int
    sha256: str

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"path {self.path!r} is none that a campaign writes, relative and without '..'")

    @property
    def line(self) -> str:
        """The file's line in ``seal.sha256``."""
        return f"{self.sha256}  {self.path}\n"


class Seal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=SEAL_FORMAT):
    """``manifest`` is the content id of the manifest in force; ``files`` are sorted by path.

    ``history`` is what ``manifests/`` held. The root leaves it out, so that it stays what the results are.
    """

    campaign: str
    manifest: str
    merkle_root: str
    files: tuple[SealedFile, ...]
    history: tuple[SealedFile, ...]

    def __post_init__(self) -> None:
        for before, file in (*pairwise(self.files), *pairwise(self.history)):
            if before.path.encode() >= file.path.encode():
                raise ValueError(f"{file.path} stands after {before.path}: paths are sorted, each once")


SEALS = document_kind("seal", SEAL_FORMAT, Seal)


def seal_of(campaign: str, manifest: str, results: Path, paths: Iterable[str]) -> Seal:
    """The seal over ``paths`` in ``results``; raises ``Refusal`` for one that cannot be read or lies elsewhere."""
    files = _sealed(results, paths)
    history = _sealed(results, (f"manifests/{path.name}" for path in (results / "manifests").glob("[0-9]*-*.json")))
    return Seal(campaign, manifest, root_of(files), files, history)


def _sealed(results: Path, paths: Iterable[str]) -> tuple[SealedFile, ...]:
    named = ((path, inside(results, path)) for path in sorted(paths, key=str.encode))
    return tuple(SealedFile(path, file.stat().st_size, file_sha256(file)) for path, file in named)


def root_of(files: Iterable[SealedFile]) -> str:
    """Hex Merkle root over the lines of ``files`` (see the module text)."""
    return merkle_top([hashlib.sha256(b"\x00" + file.line.encode()).digest() for file in files]).hex()


def sums_of(files: Iterable[SealedFile]) -> str:
    """The text of ``seal.sha256``."""
    return "".join(file.line for file in files)
