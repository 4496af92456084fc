"""Profiles out of the files that people have: plain JSON, gzip, tar and tar.gz with a profile per member.

What a file is says its first bytes, not its name.
"""

from __future__ import annotations

import gzip
import tarfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from commcanary.artifacts.files import check_file
from commcanary.artifacts.input_limit import check_input_bytes, max_input_bytes
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

_GZIP = b"\x1f\x8b"
_TAR_AT = 257
_TAR = b"ustar"


def profiles_in(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """Name and open text of each profile in ``path``, members of an archive in the order of their names."""
    check_file(path)
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("rb"))
        stream = _unzipped(raw, stack)
        if _is_tar(stream):
            raw.seek(0)
            archive = stack.enter_context(tarfile.open(fileobj=_unzipped(raw, stack)))
            members = sorted((m for m in archive if _is_profile(m)), key=lambda member: member.name)
            if not members:
                raise InputRefusal("", "the archive holds no .json or .json.gz file", "pack the profiles")
            for member in members:
                content = archive.extractfile(member)
                assert content is not None  # only regular files get here
                yield member.name, _bounded(_unzipped(cast("BinaryIO", content), stack))
        else:
            yield path.name, _bounded(stream)


class _Bounded:
    """A stream that gives no more bytes than an input may have, decompressed."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = max_input_bytes() + 1
        self._given = 0

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes; raises ``BudgetRefusal`` where the limit is passed."""
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        self._given += len(data)
        check_input_bytes(self._given, "decompressed, the profile has at least")
        return data


def _bounded(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", _Bounded(stream))


def _unzipped(stream: BinaryIO, stack: ExitStack) -> BinaryIO:
    start = stream.read(2)
    stream.seek(0)
    if start != _GZIP:
        return stream
    return cast("BinaryIO", stack.enter_context(gzip.GzipFile(fileobj=stream)))


def _is_tar(stream: BinaryIO) -> bool:
    start = stream.read(512)
    stream.seek(0)
    return start[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR


def _is_profile(member: tarfile.TarInfo) -> bool:
    name = Path(member.name).name
    return member.isfile() and name.endswith((".json", ".json.gz")) and not name.startswith(".")
