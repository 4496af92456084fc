"""Merkle trees over leaves in order.

    node = sha256(0x01 + left + right); a node without a partner moves up unchanged

Leaves are digests that their maker took with another first byte, so that no leaf can pass for a node.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def merkle_top(leaves: Sequence[bytes]) -> bytes:
    """The top node over one or more ``leaves``."""
    nodes = list(leaves)
    while len(nodes) > 1:
        paired = [hashlib.sha256(b"\x01" + a + b).digest() for a, b in zip(nodes[::2], nodes[1::2], strict=False)]
        nodes = paired + nodes[len(paired) * 2 :]
    return nodes[0]
