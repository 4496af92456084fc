"""One shard as it stands in its file: what one process recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.files import read_bytes
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.repeated_keys import check_keys
from commcanary.artifacts.stored import SourceFile
from commcanary.errors import InputRefusal, Refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

LARGEST = 2**60
"""36 years in ns: sums of two such numbers fit into int64."""

Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
OrUnknown = Annotated[int, msgspec.Meta(ge=-1, le=LARGEST)]
Offset = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
Bytes = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Unknown keys are refused."""


class Clock(_Strict, frozen=True):
    """The monotonic clock of a process; ``offset_ns`` added to its times gives rank 0's, to within ``error_ns``."""

    id: Text
    offset_ns: Offset | None
    error_ns: Count | None


class Group(_Strict, frozen=True):
    """A process group that the process is a member of."""

    name: Text
    ranks: Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)]


class CallKey(_Strict, frozen=True):
    """All of a call but its times, as ``commcanary.capture.recorder.CallKey``."""

    op: Text
    bytes: Bytes
    in_elements: OrUnknown
    out_elements: OrUnknown
    dtype: Text | None
    group: Count
    root: Count | None
    reduction: Text | None
    peer: OrUnknown | None
    tag: Text | None
    phase: Text
    device: Text


class Columns(_Strict, frozen=True):
    """One entry per call, in order of issue; times in ns of the process's clock, -1 unknown."""

    key: tuple[OrUnknown, ...]
    issue: tuple[Count, ...]
    wait: tuple[OrUnknown, ...]
    done: tuple[OrUnknown, ...]
    before: tuple[OrUnknown, ...]
    overlap: tuple[OrUnknown, ...]
    early: tuple[Literal[0, 1], ...]


class LeftOut(_Strict, frozen=True):
    """Calls that are no records, counted by reason, and the time spent in them."""

    rule: Text
    fate: Literal["skipped", "unknown"]
    reason: Text
    count: Count
    ns: Count


class ShardFile(_Strict, frozen=True, tag_field="format", tag="commcanary.capture-shard.v1"):
    """The JSON document of a shard."""

    session: Text
    rank: Count
    world_size: OrUnknown
    backend: str | None
    conflict: str | None
    clock: Clock
    groups: tuple[Group, ...]
    keys: tuple[CallKey, ...]
    records: Count
    columns: Columns
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class Shard:
    """A shard and its columns as int64[n], without the calls that raised (key -1)."""

    file: SourceFile
    path: Path
    said: ShardFile
    key: Ints
    issue: Ints
    wait: Ints
    done: Ints
    before: Ints
    overlap: Ints
    early: Ints

    def __len__(self) -> int:
        return len(self.key)

    @property
    def rank(self) -> int:
        """Global rank of the process."""
        return self.said.rank


def read_shard(path: Path) -> Shard:
    """The shard at ``path``; raises ``InputRefusal`` naming the file and the first place that no shard has."""
    import hashlib

    try:
        data = read_bytes(path)
        said = decode(data, ShardFile)
        check_keys(data)
        _check(said)
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__
    columns = {name: np.asarray(getattr(said.columns, name), np.int64) for name in Columns.__struct_fields__}
    taken = np.flatnonzero(columns["key"] != UNKNOWN)
    order = taken[np.argsort(columns["issue"][taken], kind="stable")]
    file = SourceFile(path.name, len(data), hashlib.sha256(data).hexdigest())
    return Shard(file, path, said, **{name: column[order] for name, column in columns.items()})


def _check(said: ShardFile) -> None:
    remedy = "the file is not as the recorder wrote it: capture again"
    for name in Columns.__struct_fields__:
        column = getattr(said.columns, name)
        if len(column) != said.records:
            raise InputRefusal(f"columns.{name}", f"has {len(column)} entries for {said.records} records", remedy)
    if max(said.columns.key, default=-1) >= len(said.keys):
        raise InputRefusal("columns.key", f"names key {max(said.columns.key)} of {len(said.keys)}", remedy)
    for number, group in enumerate(said.groups):
        if len(set(group.ranks)) < len(group.ranks):
            raise InputRefusal(f"groups[{number}].ranks", "name a rank twice", remedy)
        if said.rank not in group.ranks:
            raise InputRefusal(f"groups[{number}].ranks", f"lack the shard's own rank {said.rank}", remedy)
    for number, key in enumerate(said.keys):
        if key.group >= len(said.groups):
            raise InputRefusal(f"keys[{number}].group", f"is {key.group} of {len(said.groups)} groups", remedy)
        members = said.groups[key.group].ranks
        if key.root is not None and key.root not in members:
            raise InputRefusal(f"keys[{number}].root", f"is {key.root}, which is not in its group", remedy)
        if (
            key.op in ("send", "recv")
            and number in said.columns.key
            and (key.peer not in members or key.peer == said.rank)
        ):
            raise InputRefusal(
                f"keys[{number}].peer",
                f"is {key.peer} in a {key.op} of rank {said.rank}",
                "a message needs another rank of its group at its other end; wait for receives from any rank",
            )
    for name in ("wait", "done"):
        for row, (issue, at) in enumerate(zip(said.columns.issue, getattr(said.columns, name), strict=True)):
            if UNKNOWN < at < issue:
                raise InputRefusal(f"columns.{name}[{row}]", f"is {at}, before its issue at {issue}", remedy)
