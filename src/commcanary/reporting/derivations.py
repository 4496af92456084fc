"""What the reporting of a sealed campaign can be derived from again: wide table, figures and pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commcanary.campaign.layout import FIGURES
from commcanary.reporting.campaign_page import write_campaign_page
from commcanary.reporting.figures import draw_figures
from commcanary.reporting.overlap_page import write_page_of
from commcanary.reporting.wide import write_wide_table
from commcanary.stages.derivations import Derivation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commcanary.campaign.plan import Plan


def reporting_derivations(plan: Plan) -> Iterator[Derivation]:
    """One each for the wide table, the figures, the campaign's page and the page of every measurement of ``plan``."""
    yield Derivation(("tables/wide.csv",), _wide)
    yield Derivation(tuple(f"figures/{name}.svg" for name in FIGURES), _figures)
    yield Derivation(("report.html",), _page)
    for measurement in plan.overlaps:
        yield Derivation((f"overlap/{measurement}.html",), partial(_overlap_page, measurement))


def _wide(results: Path, scratch: Path) -> None:
    write_wide_table(results / "tables" / "cells.parquet", scratch / "tables" / "wide.csv")


def _figures(results: Path, scratch: Path) -> None:
    draw_figures(results / "tables", scratch / "figures")


def _page(results: Path, scratch: Path) -> None:
    write_campaign_page(results, scratch / "report.html")


def _overlap_page(measurement: str, results: Path, scratch: Path) -> None:
    write_page_of(results / "overlap" / f"{measurement}.json", scratch / "overlap" / f"{measurement}.html")
