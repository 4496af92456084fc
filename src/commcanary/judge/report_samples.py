"""The samples of a report as one row a run, checked against what the report states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.content import table_digest
from commcanary.errors import IntegrityRefusal, UnknownValueRefusal
from commcanary.replay.report import samples_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.stored import Stored
    from commcanary.replay.report import ReportHeader
    from commcanary.replay.samples import Samples


def run_count(header: ReportHeader) -> int:
    """Number of (seed, iteration) runs that the report's protocol states."""
    return len(header.replay_protocol.seeds) * header.replay_protocol.iterations


def bound_samples(stored: Stored[ReportHeader]) -> Samples | None:
    """The samples of a report, None where it was stored without.

    Raises IntegrityRefusal where they are not those whose digest the header states, or not one per run and
    event.
    """
    if stored.table is None:
        return None
    header = stored.header
    found = table_digest(stored.table)
    if found != header.samples_digest:
        raise IntegrityRefusal(
            "samples_digest",
            f"states {header.samples_digest[:12]} but the samples hash to {found[:12]}",
            "replay the canary again",
        )
    wanted = run_count(header) * header.canary.source_events
    if stored.table.num_rows != wanted:
        raise IntegrityRefusal(
            "samples",
            f"{stored.table.num_rows} rows where seeds x iterations x events make {wanted}",
            "replay the canary again",
        )
    return samples_of(stored.table)


def needed_samples(stored: Stored[ReportHeader], what_for: str) -> Samples:
    """``bound_samples``, refused where the report was stored without."""
    samples = bound_samples(stored)
    if samples is None:
        raise UnknownValueRefusal(
            "samples",
            f"the report holds none, and {what_for} needs them",
            "replay to .parquet, or to .json with --include-samples",
        )
    return samples


def by_run(values: NDArray[np.float64], runs: int) -> NDArray[np.float64]:
    """float64[runs, events]."""
    return np.reshape(values, (runs, -1))
