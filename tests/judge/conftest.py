"""Reports and a trace written by hand, so that every number in them is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from commcanary.artifacts.content import table_digest
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace_exchange import read_exchange
from commcanary.replay.configuration import Configuration
from commcanary.replay.metrics import ExposedMetrics, LatencySummary, NamedSummary, latency_summary, summarise
from commcanary.replay.report import (
    CanaryIdentity,
    CanarySummary,
    ModelIdentity,
    ReplayProtocol,
    ReportHeader,
    samples_of,
    samples_table,
)
from commcanary.replay.samples import Samples
from commcanary.replay.schedule_summary import CriticalPath, PathPart, RunSchedule, ScheduleSummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.trace import Trace

Row = tuple[float, float, float]


def scheduled(*makespans_us: float) -> ScheduleSummary:
    """A schedule of one rank that computes all the time, one run per makespan."""
    return ScheduleSummary(
        ranks=(0,),
        runs=tuple(
            RunSchedule(
                makespan_us=us,
                busy_us=(us,),
                exposed_us=(0.0,),
                idle_us=(0.0,),
                critical_path=CriticalPath(1, (PathPart(0, "compute", 1, us, us),), (), "e" * 64),
            )
            for us in makespans_us
        ),
    )


def named(name: str, row: Row) -> NamedSummary:
    return NamedSummary(name, 10, *row, max_us=row[2], mean_us=row[0])


def report(
    run: Row = (100.0, 200.0, 300.0),
    hidden: float = 50.0,
    phases: dict[str, Row] | None = None,
    ops: dict[str, Row] | None = None,
    canary: str = "a" * 64,
    makespans: tuple[float, ...] | None = None,
    **protocol: Any,
) -> Stored[ReportHeader]:
    """A report whose summaries are given as (median, p95, p99); ``makespans`` one a run, None without a schedule."""
    said = {"seeds": (7,), "iterations": 1, "ablations": (), "quantile_method": "linear", **protocol}
    assumptions = said.pop("assumptions", {})
    version = said.pop("version", "4")
    header = ReportHeader(
        canary=CanaryIdentity(canary, 10),
        simulation_model=ModelIdentity("scheduler-v4", version),
        replay_protocol=ReplayProtocol(**said),
        backend=Configuration(),
        workload={"name": "by hand"},
        canary_summary=CanarySummary(10, 1, 10, 1, 1, "lossless_timing", "full_source", "c" * 64, {}),
        assumptions=assumptions,
        metrics=ExposedMetrics(
            10,
            *run,
            max_us=run[2],
            mean_us=run[0],
            communication_hidden_pct=hidden,
            arrival_skew_median_us=0.0,
            arrival_skew_p95_us=0.0,
            arrival_skew_max_us=0.0,
            avg_rank_wait_median_us=0.0,
        ),
        queue_wait=LatencySummary(10, 0.0, 0.0, 0.0, 0.0, 0.0),
        by_phase=tuple(named(n, r) for n, r in (phases or {}).items()),
        by_op=tuple(named(n, r) for n, r in (ops or {}).items()),
        calibration=None,
        schedule=None if makespans is None else scheduled(*makespans),
        samples_digest="d" * 64,
    )
    return Stored(header)


def sampled(
    runs: np.ndarray,
    seeds: tuple[int, ...],
    hidden_us: float = 0.0,
    canary: Canary | None = None,
    makespans: tuple[float, ...] | None = None,
) -> Stored[ReportHeader]:
    """A report with samples: exposed latencies float64[runs, events], one run per seed.

    With ``canary`` it is of that one, and has its phases and operations.
    """
    exposed = runs.ravel().astype(np.float64)
    zeros = np.zeros_like(exposed)
    table = samples_table(Samples(exposed, exposed + hidden_us, zeros, zeros, zeros))
    summary = latency_summary(exposed)
    plain = report(
        (summary.median_us, summary.p95_us, summary.p99_us),
        hidden=round(float(100 * hidden_us * len(exposed) / (exposed.sum() + hidden_us * len(exposed))), 2),
        seeds=seeds,
        makespans=makespans,
    ).header
    changes: dict[str, Any] = {
        "canary": CanaryIdentity("a" * 64, runs.shape[1]),
        "samples_digest": table_digest(table),
    }
    if canary is not None:
        parts = summarise(samples_of(table), canary.events)
        changes |= {"canary": CanaryIdentity(canary.content_id, runs.shape[1])}
        changes |= {"by_phase": parts.by_phase, "by_op": parts.by_op}
    return Stored(msgspec.structs.replace(plain, **changes), table)


@pytest.fixture(scope="session")
def report_of() -> Callable[..., Stored[ReportHeader]]:
    return report


@pytest.fixture(scope="session")
def sampled_report() -> Callable[..., Stored[ReportHeader]]:
    return sampled


def exchange(events: int = 24) -> Trace:
    """A small trace with two phases, two groups, point-to-point messages, links and a message without skew."""
    rows = []
    for i in range(events):
        row: dict[str, Any] = {
            "op": ("all_reduce", "all_gather", "all_reduce", "point_to_point")[i % 4],
            "bytes": 1024 * (1 + i % 2),
            "ranks": 4 if i % 4 < 2 else [0, 2],
            "group": "tp" if i % 4 < 2 else "pp",
            "phase": "decode" if i % 3 else "prefill",
            "gap_us": 20.0 + (i * 7) % 11,
            "compute_before_us": 3.5 + i % 5,
            "compute_overlap_us": 5.0 * (i % 3),
            "compute_pressure": 0.5 + 0.25 * (i % 2),
            "observed_exposed_us": 10.0 + i,
        }
        ranks = [0, 1, 2, 3] if i % 4 < 2 else [0, 2]
        row["rank_arrival_us"] = {str(r): (r * (i % 5)) * 0.5 for r in ranks}
        if i % 4 == 3:
            row |= {"sender_rank": 0, "receiver_rank": 2, "tag": "t", "channel": "c", "message_sequence": i // 4}
        rows.append(row)
    return read_exchange(
        msgspec.json.encode({"format": "commcanary.trace.v1", "workload": {"name": "small"}, "events": rows})
    )


@pytest.fixture(scope="session")
def small_trace() -> Trace:
    return exchange()


@pytest.fixture(scope="session")
def small_trace_of() -> Callable[[int], Trace]:
    return exchange
