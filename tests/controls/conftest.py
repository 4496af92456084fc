"""Small traces with every column in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace import Trace, TraceHeader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GROUPS = (ProcessGroup("tp", 2), ProcessGroup("dp", (0, 2)))
SIGNATURES = (
    Signature(op="all_reduce", bytes=1024, group=0, phase="decode"),
    Signature(op="all_gather", bytes=4096, group=0, phase="prefill"),
    Signature(op="all_reduce", bytes=65536, group=1, phase="decode"),
)


def build_trace(
    gap_us: Sequence[int],
    skew_us: Sequence[int | None] | None = None,
    overlap_us: Sequence[int | None] | None = None,
    before_us: Sequence[int | None] | None = None,
    pressure: Sequence[float] | None = None,
    signature: Sequence[int] | None = None,
    message_sequence: Sequence[int] | None = None,
    consumer: Sequence[int] | None = None,
) -> Trace:
    count = len(gap_us)

    def times(values: Sequence[int | None] | None, default: int) -> np.ndarray:
        given = [None if default == UNKNOWN else default] * count if values is None else values
        return np.array([UNKNOWN if v is None else v * 1000 for v in given], np.int64)

    skews = [0] * count if skew_us is None else skew_us
    plain = np.full(count, UNKNOWN, np.int64)
    events = Events(
        groups=GROUPS,
        signatures=SIGNATURES,
        signature=np.array([0] * count if signature is None else signature, np.int32),
        gap_ns=np.array(gap_us, np.int64) * 1000,
        offsets_ns=Ragged.of([None if s is None else [0, s * 1000] for s in skews]),
        compute_before_ns=times(before_us, UNKNOWN),
        rank_compute_before_ns=Ragged.unknown(count),
        compute_overlap_ns=times(overlap_us, 0),
        compute_pressure=np.array([0.5] * count if pressure is None else pressure, np.float64),
        observed_exposed_ns=plain,
        message_sequence=plain if message_sequence is None else np.array(message_sequence, np.int64),
        consumer=plain if consumer is None else np.array(consumer, np.int64),
        compute_uncertain=np.zeros(count, np.bool_),
    )
    return Trace.of(TraceHeader(workload={"name": "by hand"}), events)


@pytest.fixture(scope="session")
def trace_of() -> Callable[..., Trace]:
    """Builds a trace from columns in us, None where unknown; what is not given is plain."""
    return build_trace
