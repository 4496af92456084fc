"""``captured``: a command run under the recorder -> the trace of its job."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_bytes, write_text
from commcanary.errors import CommCanaryError, StorageRefusal
from commcanary.sources.capture.importer import Captured, merge_shards
from commcanary.sources.capture.launch import run_recorded, shards_in

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKSUMS = "SHA256SUMS"


def captured(
    command: Sequence[str],
    beside: Path,
    workload_name: str | None = None,
    auto: bool = False,
    preserve_on_failure: Path | None = None,
) -> Captured:
    """Run ``command`` and merge what its processes recorded.

    The shards lie in a new folder in ``beside``, which all hosts of the job must share, and are gone afterwards.
    Where anything fails, they are copied to ``preserve_on_failure`` first. Raises as ``run_recorded`` and
    ``merge_shards`` do, and ``StorageRefusal``, before the command runs, for a folder that cannot be made.
    """
    if preserve_on_failure is not None:
        _made(preserve_on_failure)
    with _session_folder(beside) as name:
        folder = Path(name)
        try:
            return merge_shards(run_recorded(command, folder, auto), workload_name)
        except CommCanaryError:
            if preserve_on_failure is not None:
                _preserve(folder, preserve_on_failure)
            raise


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_be_made(folder, error) from error


def _session_folder(beside: Path) -> tempfile.TemporaryDirectory[str]:
    _made(beside)
    try:
        return tempfile.TemporaryDirectory(prefix=".capture-", dir=beside)
    except OSError as error:
        raise _cannot_be_made(beside, error) from error


def _cannot_be_made(folder: Path, error: OSError) -> StorageRefusal:
    found = f"is no folder that can be written to ({error.strerror or error})"
    return StorageRefusal("", found, "name another; the command did not run", file=str(folder))


def _preserve(folder: Path, kept: Path) -> None:
    """Copy the shards and write their checksums beside them, as ``sha256sum -c`` reads them."""
    lines = []
    for shard in shards_in(folder):
        data = shard.read_bytes()
        write_bytes(kept / shard.name, data)
        lines.append(f"{hashlib.sha256(data).hexdigest()}  {shard.name}\n")
    write_text(kept / CHECKSUMS, "".join(lines))
