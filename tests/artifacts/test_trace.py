"""One trace, one numbering: however a source listed its groups and signatures."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from commcanary.artifacts.trace import Trace
from commcanary.sources.synthetic.registry import synthetic


def test_equal_groups_and_signatures_listed_twice_are_one() -> None:
    """Every event gets a signature and a group of its own, all equal to those of the shape it has."""
    whole = synthetic("inference", 7, 66)
    events = whole.events
    count = len(events)
    scattered = replace(
        events,
        groups=tuple(events.groups[events.signatures[code].group] for code in events.signature),
        signatures=tuple(
            msgspec.structs.replace(events.signatures[code], group=at) for at, code in enumerate(events.signature)
        ),
        signature=np.arange(count, dtype=np.int32),
    )
    again = Trace.of(whole.header, scattered, whole.start_ns, whole.ids, whole.metadata)
    assert len(scattered.groups) == 66
    assert len(again.events.groups) == len(set(events.groups))
    assert len(again.events.signatures) == len(set(events.signatures))
    assert again.content_id == whole.content_id


def test_an_unused_group_is_dropped() -> None:
    whole = synthetic("inference", 7, 66)
    unused = msgspec.structs.replace(whole.events.groups[0], name="unused")
    more = replace(whole.events, groups=(*whole.events.groups, unused))
    again = Trace.of(whole.header, more, whole.start_ns, whole.ids, whole.metadata)
    assert again.header.groups == whole.header.groups
    assert again.content_id == whole.content_id
