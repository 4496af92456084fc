"""The synthetic traces by name, as ``commcanary synth NAME`` and a campaign's ``source`` find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import UsageError
from commcanary.sources.synthetic.inference import inference
from commcanary.sources.synthetic.mixed import mixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from commcanary.artifacts.trace import Trace

SYNTHETIC: dict[str, Callable[[int, int], Trace]] = {
    "inference": inference,
    "mixed": mixed,
}
"""Name -> function of (seed, wanted number of events)."""

MAX_EVENTS = 20_000_000


def synthetic(name: str, seed: int, events: int) -> Trace:
    """The synthetic trace ``name``; raises ``UsageError`` for an unknown name or an impossible size."""
    if name not in SYNTHETIC:
        raise UsageError(f"no synthetic trace is called {name!r}; known are {', '.join(SYNTHETIC)}")
    if not 1 <= events <= MAX_EVENTS:
        raise UsageError(f"{events} events; give 1 to {MAX_EVENTS}")
    if not 0 <= seed < 2**63:
        raise UsageError(f"seed {seed}; give 0 to 2^63 - 1")
    return SYNTHETIC[name](seed, events)
