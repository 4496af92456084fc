"""How many elements a rank's tensors hold, as PARAM's basic trace counts them.

An event's ``bytes`` is the full size S of nccl-tests, which the replay model's factors assume too:

| operation | bytes | elements in | elements out |
|---|---|---|---|
| all_reduce, broadcast | the tensor | S | S |
| all_gather | everything gathered | S / n | S |
| reduce_scatter | everything scattered | S | S / n |
| all_to_all | all that a rank sends | S | S |
| send, recv, point_to_point | the message | S | S |

n is the number of ranks and S is counted in elements. Element counts that the canary knows come first and
must agree with ``bytes``; otherwise S is ``bytes`` over the size of an element. Nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.targets.param_format import PARAM_DTYPES

if TYPE_CHECKING:
    from commcanary.artifacts.events import Signature

IN_PLACE = frozenset({"all_reduce", "broadcast"})
MESSAGES = frozenset({"send", "recv", "point_to_point"})
SPLIT = frozenset({"all_gather", "reduce_scatter", "all_to_all"})
"""Operations whose full size must be divisible by the number of ranks."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an event has no entry: a short ``reason`` to count by, and the field, finding and remedy."""

    reason: str
    field: str
    found: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Elements of one rank's input and output tensors."""

    into: int
    out: int


def element_counts(signature: Signature, ranks: int, dtype: str) -> Counts | Obstacle:
    """Elements per rank of ``signature`` on ``ranks`` ranks; ``dtype`` is a PARAM name."""
    op, size = signature.op, PARAM_DTYPES[dtype]
    stated = _stated_full_counts(signature, ranks)
    if len(stated) > 1:
        return _uneven(signature, ranks)
    full = stated.pop() if stated else signature.bytes // size
    if full * size != signature.bytes:
        return _disagreement(signature, full, dtype, known=_known(signature))
    if op in SPLIT and full % ranks:
        return Obstacle(
            "not divisible by the ranks",
            "bytes",
            f"is {signature.bytes}, that is {full} elements, which {ranks} ranks cannot share evenly",
            "PARAM would drop the remainder or need splits that a canary does not keep",
        )
    if op == "all_gather":
        return Counts(full // ranks, full)
    if op == "reduce_scatter":
        return Counts(full, full // ranks)
    return Counts(full, full)


def _known(signature: Signature) -> bool:
    return signature.in_elements is not None or signature.out_elements is not None


def _stated_full_counts(signature: Signature, ranks: int) -> set[int]:
    """The full size in elements after each count that the canary states: one value where they agree."""
    into, out = signature.in_elements, signature.out_elements
    if signature.op in MESSAGES and (into == 0) != (out == 0):
        # the end that only sends has no output tensor, the end that only receives no input tensor
        return {count for count in (into, out) if count}
    if into is not None and signature.op == "all_gather":
        into *= ranks
    if out is not None and signature.op == "reduce_scatter":
        out *= ranks
    return {count for count in (into, out) if count is not None}


def _uneven(signature: Signature, ranks: int) -> Obstacle:
    found = f"is {signature.in_elements} beside out_elements {signature.out_elements} on {ranks} ranks"
    return Obstacle(
        "uneven element counts",
        "in_elements",
        found,
        "uneven shares need the split of every rank, which a canary does not keep",
    )


def _disagreement(signature: Signature, full: int, dtype: str, *, known: bool) -> Obstacle:
    size = PARAM_DTYPES[dtype]
    if known:
        return Obstacle(
            "bytes and element counts disagree",
            "bytes",
            f"is {signature.bytes}, but {full} elements of {dtype} are {full * size}",
            "declare the right dtype, or import the trace again",
        )
    return Obstacle(
        "bytes are no whole number of elements",
        "bytes",
        f"is {signature.bytes}, no multiple of the {size} bytes of {dtype}",
        "declare the right dtype",
    )
