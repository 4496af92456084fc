"""What all events of one signature share in their entries: operation, dtype, counts, root, ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.targets.param_counts import IN_PLACE, MESSAGES, SPLIT, Counts, Obstacle, element_counts
from commcanary.targets.param_format import PARAM_DTYPES, param_dtype

if TYPE_CHECKING:
    from commcanary.artifacts.events import ProcessGroup, Signature

EQUIVALENT = IN_PLACE | SPLIT | MESSAGES
"""Operations that PARAM replays as such."""


@dataclass(frozen=True, slots=True)
class Shape:
    """``dtype`` is PARAM's name; ``declared`` says that it is the user's, not the canary's."""

    signature: Signature
    ranks: int
    dtype: str
    declared: bool
    counts: Counts


def shape_of(signature: Signature, group: ProcessGroup, declared_dtype: str | None) -> Shape | Obstacle:
    """The shape of ``signature``'s entries, or why PARAM has no equivalent.

    ``declared_dtype`` (a PARAM name) stands in where the signature does not know its dtype.
    """
    s = signature
    if s.custom_op:
        return Obstacle("custom operation", "op", f"is the custom operation {s.op!r}", "PARAM cannot replay it")
    if s.op not in EQUIVALENT:
        return Obstacle("no equivalent operation", "op", f"is {s.op!r}", f"PARAM has {', '.join(sorted(EQUIVALENT))}")
    if s.op in MESSAGES and (s.sender_rank is None or s.receiver_rank is None):
        missing = "sender_rank" if s.sender_rank is None else "receiver_rank"
        return Obstacle("peer unknown", missing, "is unknown", "give sender_rank and receiver_rank in the trace")
    stated = s.dtype if s.dtype is not None else declared_dtype
    if stated is None:
        return Obstacle(
            "dtype unknown",
            "dtype",
            "is unknown, so bytes do not say how many elements",
            "name it with --dtype (float32, bfloat16, ...)",
        )
    dtype = param_dtype(stated)
    if dtype is None:
        known = ", ".join(PARAM_DTYPES)
        return Obstacle("dtype without a PARAM name", "dtype", f"is {stated!r}", f"PARAM knows {known}")
    counts = element_counts(s, group.size, dtype)
    if isinstance(counts, Obstacle):
        return counts
    return Shape(s, group.size, dtype, s.dtype is None, counts)
