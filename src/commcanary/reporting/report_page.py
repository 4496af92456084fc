"""One replay report as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.reporting.pages import write_page
from commcanary.reporting.ran import PARAMETERS

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.replay.report import ReportHeader
    from commcanary.replay.schedule_summary import ScheduleSummary

MOST_ROWS = 32
"""Ranks, and parts of the critical path, that the page lists."""


def write_report_page(header: ReportHeader, output: Path) -> None:
    """Write configuration, metrics and breakdowns of a report to ``output``, and its schedule where it has one."""
    write_page(
        output,
        "report.html.jinja",
        header=header,
        parameters=[(label, getattr(header.backend, field)) for field, label in PARAMETERS.items()],
        run=[("exposed latency", header.metrics), ("queue wait", header.queue_wait)],
        phases=[(row.name, row) for row in header.by_phase],
        operations=[(row.name, row) for row in header.by_op],
        schedule=header.schedule,
        **({} if header.schedule is None else _schedule(header.schedule)),
    )


def _schedule(schedule: ScheduleSummary) -> dict[str, Any]:
    """What the template shows of the first run: shares in percent of its makespan."""
    run = schedule.runs[0]
    whole = run.makespan_us or 1.0
    shares = [
        (rank, *(100 * us / whole for us in times))
        for rank, *times in zip(schedule.ranks, run.busy_us, run.exposed_us, run.idle_us, strict=True)
    ]
    shown = sorted(sorted(shares, key=lambda row: row[1])[:MOST_ROWS])
    parts = run.critical_path.parts
    return {
        "run_schedule": run,
        "rank_shares": shown,
        "ranks_left_out": len(shares) - len(shown),
        "path_parts": [(part, 100 * part.total_us / whole) for part in parts[:MOST_ROWS]],
        "parts_left_out": max(0, len(parts) - MOST_ROWS),
    }
