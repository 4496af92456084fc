"""Small canaries made from trace events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commcanary.artifacts.trace_exchange import read_exchange
from commcanary.compile.compiler import CompileSettings, compile_trace

if TYPE_CHECKING:
    from commcanary.artifacts.canary import Canary


def event(op: str = "all_reduce", size: int = 4096, **fields: Any) -> dict[str, Any]:
    """One trace event on ranks 0 and 1 with float32 elements, 100 us after the one before."""
    return {
        "op": op,
        "bytes": size,
        "ranks": 2,
        "group": "world",
        "phase": "step",
        "dtype": "float32",
        "gap_us": 100.0,
        **fields,
    }


def canary_of(*events: dict[str, Any]) -> Canary:
    """The lossless canary of these trace events."""
    text = json.dumps({"format": "commcanary.trace.v1", "events": events})
    return compile_trace(read_exchange(text.encode()), CompileSettings())
