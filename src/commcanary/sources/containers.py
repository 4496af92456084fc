"""What files hold that people have: one text, plain or gzip, or tar and tar.gz with a text per member.

What a file is says its first bytes, not its name. Which members of an archive are read says the importer, by name.
"""

from __future__ import annotations

import gzip
import tarfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar, cast

from commcanary.artifacts.files import check_file
from commcanary.artifacts.input_limit import check_input_bytes, max_input_bytes
from commcanary.errors import InputRefusal, Refusal
from commcanary.sources.files import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = TypeVar("Read")

_GZIP = b"\x1f\x8b"
_TAR_AT = 257
_TAR = b"ustar"


class Member(NamedTuple):
    """An open text: its name in the archive or that of its file, and how refusals ``shown`` it to the user."""

    name: str
    shown: str
    stream: BinaryIO

    @property
    def base(self) -> str:
        """Its name without folders."""
        return Path(self.name).name


class MemberNames(NamedTuple):
    """How members end that an importer reads, each also with ``.gz`` behind it; none: whatever their names.

    ``what`` they hold, in a word or two for refusals.
    """

    what: str
    endings: tuple[str, ...] = ()

    def take(self, name: str) -> bool:
        """Whether a member is read. Hidden ones are what file managers leave beside the files, never the files."""
        base = Path(name).name
        return not base.startswith(".") and (not self.endings or base.removesuffix(".gz").endswith(self.endings))

    def __str__(self) -> str:
        """``.json or .json.gz file``."""
        *more, last = [f"{ending}{packed}" for ending in self.endings for packed in ("", ".gz")] or [""]
        return f"{', '.join(more)} or {last} file" if more else "file"


def read_members(path: Path, names: MemberNames, read: Callable[[Member], Read]) -> list[Read]:
    """What ``read`` makes of the text in ``path``, or of each member of an archive in the order of their names.

    Raises ``Refusal`` naming the file and the member.
    """
    found = []
    with reading(path):
        for member in _members(path, names):
            try:
                found.append(read(member))
            except Refusal as refusal:
                raise refusal.in_file(member.shown) from refusal.__cause__
    return found


def _members(path: Path, names: MemberNames) -> Iterator[Member]:
    check_file(path)
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("rb"))
        stream = _unzipped(raw, stack)
        if not _is_tar(stream):
            yield Member(path.name, str(path), _bounded(stream))
            return
        raw.seek(0)
        with _sound_numbers():
            archive = stack.enter_context(tarfile.open(fileobj=_unzipped(raw, stack)))
            files = [member for member in archive if member.isfile()]  # links lead out of an archive
        members = sorted((member for member in files if names.take(member.name)), key=lambda member: member.name)
        if not members:
            raise InputRefusal("", f"the archive holds no {names}", f"pack the {names.what}")
        for member in members:
            content = archive.extractfile(member)
            assert content is not None  # only regular files get here
            text = _bounded(_unzipped(cast("BinaryIO", content), stack))
            yield Member(member.name, f"{path}({member.name})", text)


@contextmanager
def _sound_numbers() -> Iterator[None]:
    """``tarfile`` trips over numbers in headers that no position can be: such an archive is damaged."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise tarfile.ReadError(str(error)) from error


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
        check_input_bytes(self._given, "decompressed, the text has at least")
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
