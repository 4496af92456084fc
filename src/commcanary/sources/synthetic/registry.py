"""The synthetic traces by name, as ``commcanary synth NAME`` and a campaign's ``source`` find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import UsageError
from commcanary.sources.synthetic.inference import inference
from commcanary.sources.synthetic.mixed import mixed
from commcanary.sources.synthetic.ranking_inversion import EVENTS, ranking_inversion

if TYPE_CHECKING:
    from collections.abc import Callable

    from commcanary.artifacts.trace import Trace

SEEDED: dict[str, Callable[[int, int], Trace]] = {
    "inference": inference,
    "mixed": mixed,
}
"""Traces of any size: name -> function of (seed, wanted number of events)."""

NAMES = (*SEEDED, "ranking-inversion")

DEFAULT_EVENTS = 1000
MAX_EVENTS = 20_000_000


def synthetic(name: str, seed: int, events: int | None) -> Trace:
    """The synthetic trace ``name`` of about ``events`` events (None: its usual size).

    Raises ``UsageError`` for an unknown name or an impossible size. The ranking inversion has one size and
    draws nothing.
    """
    if name == "ranking-inversion":
        if events not in (None, EVENTS):
            raise UsageError(f"ranking-inversion with {events} events; it always has {EVENTS}: leave the number out")
        return ranking_inversion()
    if name not in SEEDED:
        raise UsageError(f"no synthetic trace is called {name!r}; known are {', '.join(NAMES)}")
    wanted = DEFAULT_EVENTS if events is None else events
    if not 1 <= wanted <= MAX_EVENTS:
        raise UsageError(f"{wanted} events; give 1 to {MAX_EVENTS}")
    if not 0 <= seed < 2**63:
        raise UsageError(f"seed {seed}; give 0 to 2^63 - 1")
    return SEEDED[name](seed, wanted)
