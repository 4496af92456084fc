"""A Merkle root over fixed segments of source rows: binds a canary to its source, order included.

    leaf  = sha256(0x00 + table digest of rows [4096 i, 4096 (i + 1)) of the trace table)
    node  = sha256(0x01 + left + right); a node without a partner moves up unchanged
    root  = sha256(0x02 + canonical JSON of the header's groups + top node)

The group column of a row points into the header's groups, so the root covers them too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.content import table_digest
from commcanary.artifacts.merkle import merkle_top

if TYPE_CHECKING:
    from commcanary.artifacts.stored import Stored
    from commcanary.artifacts.trace import TraceHeader

SEGMENT_EVENTS = 4096
LEAF_PREFIX = 16
"""Hex digits of a leaf that a canary keeps to name the segment that differs."""


@dataclass(frozen=True)
class Commitment:
    """Hex Merkle root, and the hex leaf of every segment."""

    root: str
    leaves: tuple[str, ...]

    @property
    def named_segments(self) -> tuple[str, ...]:
        """What a canary keeps of the leaves: nothing where the root alone names the only segment."""
        return tuple(leaf[:LEAF_PREFIX] for leaf in self.leaves) if len(self.leaves) > 1 else ()


def commit(stored: Stored[TraceHeader]) -> Commitment:
    """The commitment to the rows and groups of a trace."""
    leaves = [
        hashlib.sha256(b"\x00" + bytes.fromhex(table_digest(stored.table_of(start, SEGMENT_EVENTS)))).digest()
        for start in range(0, stored.rows, SEGMENT_EVENTS)
    ]
    groups = canonical_json(list(stored.header.groups))
    root = hashlib.sha256(b"\x02" + groups + merkle_top(leaves)).hexdigest()
    return Commitment(root, tuple(leaf.hex() for leaf in leaves))
