"""The words of PARAM's basic trace: entries, operations and element types.

``PARAM_DTYPES`` is what train/comms/pt knows (compared in lower case); a name outside it ends the replay
with a KeyError. Two of our names are not in it although the type is: int64 is ``long``, int16 ``short``.
The 8-bit floats, the wider unsigned integers and complex numbers have no PARAM name at all.
"""

from __future__ import annotations

from typing import Any

Entry = dict[str, Any]
"""One element of the array: plain JSON."""

SENDS = frozenset({"send", "isend"})
RECEIVES = frozenset({"recv", "irecv"})
SIZED_COLLECTIVES = frozenset(
    {
        "all_reduce",
        "reduce",
        "broadcast",
        "all_gather",
        "all_gather_base",
        "gather",
        "reduce_scatter",
        "reduce_scatter_base",
        "scatter",
        "all_to_all",
        "all_to_all_single",
        "all_to_allv",
    }
)
UNSIZED = frozenset({"wait", "barrier", "batch_isend_irecv"})
REPLAYED = SIZED_COLLECTIVES | SENDS | RECEIVES | UNSIZED
"""The operations that train/comms/pt replays."""

PARAM_DTYPES = {
    "float": 4,
    "float32": 4,
    "float16": 2,
    "half": 2,
    "bfloat16": 2,
    "float64": 8,
    "double": 8,
    "int": 4,
    "int32": 4,
    "long": 8,
    "short": 2,
    "char": 1,
    "int8": 1,
    "byte": 1,
    "uint8": 1,
    "bool": 1,
}
"""PARAM's name of an element type -> bytes per element."""

_RENAMED = {"int64": "long", "int16": "short"}


def param_dtype(name: str) -> str | None:
    """PARAM's name of the element type that a trace calls ``name``; None where PARAM has none."""
    lowered = name.lower()
    named = _RENAMED.get(lowered, lowered)
    return named if named in PARAM_DTYPES else None
