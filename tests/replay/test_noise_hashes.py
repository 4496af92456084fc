"""Templated identities against json.dumps of the written-out identity, non-ASCII names and all."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from commcanary.artifacts.events import Events, ProcessGroup
from commcanary.replay import noise_hashes as module
from commcanary.replay.noise import canonical_json, hash_prefix, identity
from commcanary.replay.noise_hashes import noise_hashes
from commcanary.replay.occurrence import v4_occurrences

from .programs import events_of, kind, open_loop_programs


def independent_hash(events: Events, index: int, occurrence: int) -> int:
    """Written from the specification alone."""
    signature = events.signatures[events.signature[index]]
    group = events.groups[signature.group]
    offsets = events.offsets_ns.row(index)
    assert offsets is not None
    fields: dict[str, Any] = {
        "phase": signature.phase,
        "op": signature.op,
        "ranks": list(group.members),
        "group": group.name,
        "arrival_offsets_us": [round(ns / 1000, 9) for ns in offsets],
        "occurrence": occurrence,
    }
    for name in ("sender_rank", "receiver_rank", "tag", "channel"):
        if getattr(signature, name) is not None:
            fields[name] = getattr(signature, name)
    if events.message_sequence[index] >= 0:
        fields["message_sequence"] = int(events.message_sequence[index])
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def source_occurrences(events: Events) -> list[int]:
    seen: Counter[Any] = Counter()
    result = []
    for index in range(len(events)):
        s = events.signatures[events.signature[index]]
        group = events.groups[s.group]
        ends = (s.sender_rank, s.receiver_rank, s.tag, s.channel, int(events.message_sequence[index]))
        key = (s.phase, s.op, s.bytes, group.members, group.name, *ends, s.concurrent_groups, s.custom_op)
        result.append(seen[key])
        seen[key] += 1
    return result


@settings(deadline=None)
@given(open_loop_programs())
def test_hashes_and_occurrences_of_random_programs(events: Events) -> None:
    expected = source_occurrences(events)
    assert v4_occurrences(events).tolist() == expected
    hashes = noise_hashes(events, events.offsets_ns, v4_occurrences(events))
    assert hashes.tolist() == [independent_hash(events, i, n) for i, n in enumerate(expected)]


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0.0"),
        (1, "0.001"),
        (10, "0.01"),
        (100, "0.1"),
        (1000, "1.0"),
        (1521, "1.521"),
        (10**12, "1000000000.0"),
        (123_456_789_012_345, "123456789012.345"),
        (999_999_999_999_999, "999999999999.999"),
        (10**15, "1000000000000.0"),
    ],
)
def test_offsets_are_written_as_json_writes_them(ns: int, text: str) -> None:
    signature = kind("send", 1, phase="décode \U0001f40d", tag='"\\', channel="\n")
    group = ProcessGroup.of("集合", (3, 1))
    events = events_of([{"signature": signature, "offsets_ns": [0, ns], "message_sequence": 2**62}], (group,))
    who = identity(signature, group, [0, ns], 0, 2**62)
    assert f'"arrival_offsets_us":[0.0,{text}]'.encode() in canonical_json(who)
    assert canonical_json(who).isascii()
    found = noise_hashes(events, events.offsets_ns, v4_occurrences(events))
    assert found.tolist() == [hash_prefix(canonical_json(who))]


def test_many_small_buffers_give_the_same_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"signature": kind("broadcast", 8), "offsets_ns": [0, i]} for i in range(50)]
    events = events_of(rows, (ProcessGroup("g", 2),))
    whole = noise_hashes(events, events.offsets_ns, v4_occurrences(events))
    monkeypatch.setattr(module, "BUFFER_BYTES", 700)
    assert (noise_hashes(events, events.offsets_ns, v4_occurrences(events)) == whole).all()
    assert len(set(whole.tolist())) == 50


def test_bytes_and_concurrent_groups_are_no_part_of_the_identity() -> None:
    group = (ProcessGroup("g", 2),)
    small = events_of([{"signature": kind("broadcast", 8)}], group)
    large = events_of([{"signature": kind("broadcast", 9, concurrent_groups=4)}], group)
    hashes = [noise_hashes(e, e.offsets_ns, v4_occurrences(e))[0] for e in (small, large)]
    assert hashes[0] == hashes[1]
