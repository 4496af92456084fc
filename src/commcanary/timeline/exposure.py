"""What a collective costs the one who waits for it: a direct tail, and the slowdown of compute beside it.

With completion c, the consumer's time u without the collective and u' >= u with its interference, the consumer
goes on at max(c, u'). Its delay against u is

    max(c, u') - u  =  max(0, c - u')  +  (u' - u)
                       direct tail        slowdown

so that no moment counts twice: while the consumer still computes more slowly it does not wait as well.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exposure:
    """Delay of one consumer in the unit of its inputs: ``tail`` it waited, ``slowdown`` it computed longer."""

    tail: float
    slowdown: float

    @property
    def total(self) -> float:
        """All that the collective cost this consumer."""
        return self.tail + self.slowdown


def exposure(completion: float, consumer_alone: float, consumer: float) -> Exposure:
    """The exposure of a collective that completes at ``completion``.

    ``consumer_alone`` is when its consumer would need the result without it, ``consumer`` when it does beside
    it; all on one clock, in one unit.
    """
    return Exposure(max(0.0, completion - consumer), consumer - consumer_alone)
