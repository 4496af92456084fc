"""A profile's text -> the columns of its rank."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from commcanary.sources.containers import MemberNames
from commcanary.sources.kineto.rank_profile import RankProfile
from commcanary.sources.kineto.repair import repaired
from commcanary.sources.kineto.text import ProfileText

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

PROFILES = MemberNames("profiles", (".json",))


def read_profile(name: str, stream: BinaryIO, repair: bool = False) -> RankProfile:
    """Columns of the profile in ``stream``; raises ``InputRefusal`` where it cannot be one.

    ``repair`` escapes stray quotes first, with the whole text in memory; ``repaired_quotes`` counts them.
    """
    profile = RankProfile(name)
    if repair:
        fixed, profile.repaired_quotes = repaired(stream.read())
        stream = BytesIO(fixed)
    text = ProfileText(stream)
    before = 0
    with _collector_paused():
        for events in text.slices():
            profile.add(events, before)
            before += len(events)
    profile.adopt_kernels()
    profile.head = text.head
    return profile


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Decoded events hold no cycles, and looking for some again and again costs a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
