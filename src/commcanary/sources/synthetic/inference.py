"""A tensor-parallel-8 inference server: one prefill, then decode steps, two all-reduces a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.sources.synthetic.columns import lognormal_us, offsets, synthetic_trace, tails

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace

_RANKS = 8
_LAYERS = 16
_HIDDEN = 8192
_BYTES_PER_VALUE = 2
_PREFILL_TOKENS = 256
_DECODE_BATCH = 8
_VOCABULARY = 32_000
EVENTS_PER_STEP = 2 * _LAYERS + 1

# Medians in us: (compute before attention's all-reduce, before the MLP's, before the logits' all-gather)
_PREFILL_COMPUTE = (310.0, 540.0, 180.0)
_DECODE_COMPUTE = (22.0, 38.0, 30.0)


def inference(seed: int, events: int = 1000) -> Trace:
    """One prefill and as many decode steps as come closest to ``events`` collectives (33 a step)."""
    rng = np.random.default_rng(seed)
    steps = steps_of(events)
    signatures = [
        _signature("all_reduce", "prefill", _PREFILL_TOKENS * _HIDDEN),
        _signature("all_gather", "prefill", _VOCABULARY),
        _signature("all_reduce", "decode", _DECODE_BATCH * _HIDDEN),
        _signature("all_gather", "decode", _DECODE_BATCH * _VOCABULARY),
    ]
    step = np.array([0] * (2 * _LAYERS) + [1], np.int32)
    signature = np.concatenate([step, np.tile(step + 2, steps - 1)]).astype(np.int32)
    count = len(signature)
    decode = signature >= 2
    place = np.tile(np.array([0, 1] * _LAYERS + [2]), steps)
    median = np.where(decode, np.array(_DECODE_COMPUTE)[place], np.array(_PREFILL_COMPUTE)[place])
    before = lognormal_us(rng, median, 0.08)
    late = tails(rng, count)
    scale = np.where(decode, 1.5, 12.0) * np.where(late, 20.0, 1.0)
    overlap = np.where(decode, 6.0, 90.0) * rng.uniform(0.5, 1.5, count)
    pressure = np.where(decode, 0.45, 0.75) + np.where(late, 0.4, 0.0)
    return synthetic_trace(
        "tp8-inference",
        seed,
        [ProcessGroup("tp0", _RANKS)],
        signatures,
        signature,
        compute_before_us=before,
        offsets_ns=offsets(rng, np.full(count, _RANKS), scale),
        compute_overlap_us=overlap,
        compute_pressure=np.round(pressure, 3),
        busy_us=np.where(decode, 75.0, 2_600.0),
    )


def steps_of(events: int) -> int:
    """Steps that come closest to ``events`` collectives: the prefill, and one or more of decoding."""
    return max(2, round(events / EVENTS_PER_STEP))


def _signature(op: str, phase: str, values: int) -> Signature:
    return Signature(op=op, bytes=values * _BYTES_PER_VALUE, group=0, phase=phase, dtype="bfloat16")
