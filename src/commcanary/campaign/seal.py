"""The seal of a finished campaign: the digest of every output and one Merkle root over them.

    line = hex SHA-256 of the file + two spaces + its path from the campaign's folder + newline
    leaf = sha256(0x00 + line);  node = sha256(0x01 + left + right), without a partner it moves up unchanged

Lines are sorted by path, byte by byte, and are ``seal.sha256`` as ``sha256sum -c`` reads it: the root can be
recomputed from that file alone.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.merkle import merkle_top
from commcanary.campaign.receipts import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEAL_FORMAT = "commcanary.seal.v1"


class SealedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One output: path from the campaign's folder, size in bytes, hex SHA-256."""

    path: str
    bytes: int
    sha256: str

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


SEALS = document_kind("seal", SEAL_FORMAT, Seal)


def seal_of(campaign: str, manifest: str, results: Path, paths: Iterable[str]) -> Seal:
    """The seal over ``paths`` in ``results``; raises ``StorageRefusal`` for one that cannot be read."""
    files = _sealed(results, paths)
    history = _sealed(results, (f"manifests/{path.name}" for path in (results / "manifests").glob("[0-9]*-*.json")))
    return Seal(campaign, manifest, root_of(files), files, history)


def _sealed(results: Path, paths: Iterable[str]) -> tuple[SealedFile, ...]:
    return tuple(
        SealedFile(path, (results / path).stat().st_size, file_sha256(results / path))
        for path in sorted(paths, key=str.encode)
    )


def root_of(files: Iterable[SealedFile]) -> str:
    """Hex Merkle root over the lines of ``files`` (see the module text)."""
    return merkle_top([hashlib.sha256(b"\x00" + file.line.encode()).digest() for file in files]).hex()


def sums_of(files: Iterable[SealedFile]) -> str:
    """The text of ``seal.sha256``."""
    return "".join(file.line for file in files)
