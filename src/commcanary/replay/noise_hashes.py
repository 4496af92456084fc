"""The noise hashes of whole columns: canonical JSON written by a template, then SHA-256."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from commcanary.replay.kernel_text import write_identities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, Ragged, Signature

BUFFER_BYTES = 1 << 24
DIGITS = 20
"""The most characters that an int64 takes."""


def noise_hashes(events: Events, offsets_ns: Ragged, occurrence: NDArray[np.int64]) -> NDArray[np.uint64]:
    """uint64[n]: ``noise.hash_prefix`` of each event's canonical identity, in source order.

    ``offsets_ns`` holds one list per event (zeros where arrival skew is ablated).
    """
    middles = _Texts([_middle(events, signature) for signature in events.signatures])
    tails = _Texts([_tail(events, signature) for signature in events.signatures])
    longest = (
        (offsets_ns.lengths + 2) * (DIGITS + 5)
        + 100
        + middles.lengths[events.signature]
        + tails.lengths[events.signature]
    )
    ends = np.cumsum(longest)
    result = np.empty(len(events), np.uint64)
    first = 0
    while first < len(events):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + BUFFER_BYTES, side="right")))
        text = np.empty(ends[last - 1] - done, np.uint8)
        bounds = np.empty(last - first + 1, np.int64)
        write_identities(
            first,
            offsets_ns.values,
            offsets_ns.bounds,
            events.signature,
            events.message_sequence,
            occurrence,
            middles.text,
            middles.bounds,
            tails.text,
            tails.bounds,
            text,
            bounds,
        )
        result[first:last] = _hash_each(text, bounds)
        first = last
    return result


def _hash_each(text: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    view = text.data
    sha256 = hashlib.sha256
    edges = bounds.tolist()
    digests = b"".join([sha256(view[begin:end]).digest() for begin, end in pairwise(edges)])
    return np.frombuffer(digests, dtype=">u8")[::4].astype(np.uint64)


class _Texts:
    """One byte string per signature, laid end to end."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.lengths = np.array([len(text) for text in texts], dtype=np.int64)
        self.bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])
        self.text = np.frombuffer(b"".join(texts), dtype=np.uint8)


def _middle(events: Events, signature: Signature) -> bytes:
    """What stands between the offsets and the numbers that vary from event to event."""
    fields = {"group": events.group_of(signature).name}
    if signature.channel is not None:
        fields["channel"] = signature.channel
    return b"]," + _members(fields)


def _tail(events: Events, signature: Signature) -> bytes:
    """What stands after those numbers."""
    fields: dict[str, object] = {
        "op": signature.op,
        "phase": signature.phase,
        "ranks": events.group_of(signature).members,
    }
    for name in ("sender_rank", "receiver_rank", "tag"):
        value = getattr(signature, name)
        if value is not None:
            fields[name] = value
    return b"," + _members(fields) + b"}"


def _members(fields: object) -> bytes:
    """Canonical JSON of an object without its braces."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()[1:-1]
