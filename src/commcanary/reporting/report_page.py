"""One replay report as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.reporting.pages import write_page
from commcanary.reporting.ran import PARAMETERS

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.replay.report import ReportHeader


def write_report_page(header: ReportHeader, output: Path) -> None:
    """Write configuration, metrics and breakdowns of a report to ``output``."""
    write_page(
        output,
        "report.html.jinja",
        header=header,
        parameters=[(label, getattr(header.backend, field)) for field, label in PARAMETERS.items()],
        run=[("exposed latency", header.metrics), ("queue wait", header.queue_wait)],
        phases=[(row.name, row) for row in header.by_phase],
        operations=[(row.name, row) for row in header.by_op],
    )
