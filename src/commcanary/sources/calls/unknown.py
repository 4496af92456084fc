"""Which fields of a trace some event does not know, with the reason that its source gives for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.events import REDUCING, ROOTED, UNKNOWN
from commcanary.sources.calls.phase_names import UNKNOWN_PHASE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events

NO_PRESSURE = "not measured; rows carry the format's usual 0.5"


def unknown_fields(events: Events, start_ns: NDArray[np.int64], reasons: Mapping[str, str]) -> dict[str, str]:
    """The ``reasons`` of those fields that some event lacks; compute pressure and concurrency are measured by none."""
    signatures = events.signatures
    lacking = {
        "start_us": bool((start_ns == UNKNOWN).any()),
        "gap_us": bool((start_ns == UNKNOWN).any()),
        "rank_arrival_us": not bool(events.offsets_ns.known.all()),
        "compute_before_us": bool((events.compute_before_ns == UNKNOWN).any()),
        "rank_compute_before_us": not bool(events.rank_compute_before_ns.known.all()),
        "compute_overlap_us": bool((events.compute_overlap_ns == UNKNOWN).any()),
        "observed_exposed_us": bool((events.observed_exposed_ns == UNKNOWN).any()),
        "phase": any(s.phase == UNKNOWN_PHASE for s in signatures),
        "reduction_op": any(s.reduction_op is None and s.op in REDUCING for s in signatures),
        "root_rank": any(s.root_rank is None and s.op in ROOTED for s in signatures),
        "dtype": any(s.dtype is None for s in signatures),
        "in_elements": any(s.in_elements is None for s in signatures),
        "out_elements": any(s.out_elements is None for s in signatures),
        "compute_pressure": True,
        "concurrent_groups": len({s.group for s in signatures}) > 1,
    }
    told = dict(reasons)
    told.setdefault("compute_pressure", NO_PRESSURE)
    told["concurrent_groups"] = "not derived; rows carry 1"
    return {field: reason for field, reason in told.items() if lacking[field]}
