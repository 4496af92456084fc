"""The noise of scheduler-v4, defined in plain Python: an event's identity, its hash, jitter and tail.

The identity depends on the canary alone, so its hash is computed once and serves every configuration,
seed and iteration. ``noise_hashes`` computes the same hashes for whole columns.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

from commcanary.replay.splitmix import uniform
from commcanary.units import r9, us_from_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.artifacts.events import ProcessGroup, Signature


def canonical_json(value: Any) -> bytes:
    """UTF-8 JSON: keys sorted, no spaces, non-ASCII escaped, shortest-repr floats, no NaN or infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def identity(
    signature: Signature,
    group: ProcessGroup,
    offsets_ns: Sequence[int],
    occurrence: int,
    message_sequence: int | None,
) -> dict[str, Any]:
    """The noise identity: what a v4 event is, its arrivals included; bytes are not part of it.

    ``occurrence`` counts the earlier events with the same v4 compile key, in source order.
    """
    optional = {
        "sender_rank": signature.sender_rank,
        "receiver_rank": signature.receiver_rank,
        "message_sequence": message_sequence,
        "tag": signature.tag,
        "channel": signature.channel,
    }
    return {
        "phase": signature.phase,
        "op": signature.op,
        "ranks": list(group.members),
        "group": group.name,
        "arrival_offsets_us": [r9(us_from_ns(ns)) for ns in offsets_ns],
        "occurrence": occurrence,
    } | {name: value for name, value in optional.items() if value is not None}


def hash_prefix(text: bytes) -> int:
    """The first 8 bytes, big endian, of the SHA-256 of ``text``."""
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


def noise_us(counter: int, skew_us: float, pressure: float, concurrent_groups: int, *, tails: bool) -> float:
    """Jitter in -0.45 to 0.90 us, plus, where the second draw says so, an exponential tail.

    ``pressure`` is the effective P (0 to 1.5), ``concurrent_groups`` at least 1.
    """
    jitter = -0.45 + 1.35 * uniform(counter, 0)
    tail_probability = min(0.35, 0.015 + skew_us / 180 + 0.035 * pressure + 0.04 * (concurrent_groups - 1))
    if not tails or uniform(counter, 1) > tail_probability:
        return jitter
    scale = 3.5 + 8 * pressure + 0.08 * skew_us
    return jitter + -math.log(max(1e-15, 1 - uniform(counter, 2))) * scale
