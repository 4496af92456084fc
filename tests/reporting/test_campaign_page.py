"""The campaign's page: what it answers, in which order, and that it stands alone."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal, Refusal
from commcanary.reporting.campaign_page import write_campaign_page

from .campaigns import CELL_ROWS, CONFIG, EXPORT_ROWS, REPRESENTATION_ROWS, write_campaign
from .html import Page
from .rows import (
    Row,
    ablation_row,
    calibration_row,
    cell_row,
    compared_row,
    inversion_rows,
    representation_row,
    write_tables,
)

if TYPE_CHECKING:
    from pathlib import Path


def source(folder: Path) -> str:
    write_campaign_page(folder, folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return source(write_campaign(tmp_path_factory.mktemp("campaign")))


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_sections_stand_in_the_order_in_which_a_reader_asks(page: Page) -> None:
    sections = [attributes["id"] for attributes in page.all("section")]
    assert sections == ["ran", "regressed", "trusted", "sizes", "exports"]
    jumps = [link for link in page.links if link.startswith("#")]
    assert list(dict.fromkeys(jumps)) == [
        "#trusted",
        "#ran",
        "#regressed",
        "#sizes",
        "#exports",
    ]


def test_the_inversion_is_the_first_figure_and_every_figure_is_described(page: Page) -> None:
    figures = page.all("svg")
    assert [figure["aria-labelledby"].split("-")[0] for figure in figures] == [
        "inversion",
        "regressions",
        "latency",
        "trust",
        "sizes",
    ]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for figure in figures:
        assert figure["role"] == "img"
        assert set(figure["aria-labelledby"].split()) <= set(ids)
    assert len(page.all("figcaption")) == len(figures)


def test_the_page_stands_alone(text: str, page: Page) -> None:
    assert "http:" not in text
    assert "https:" not in text
    assert not re.search(r"\bsrc\s*=", text)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert page.has_only_its_own_script
    assert not {"link", "iframe", "img", "object", "embed", "base", "form"} & {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_every_verdict_and_status_links_to_its_file(page: Page) -> None:
    linked = [link for _, link in page.statuses if link]
    comparisons = [link for link in linked if re.fullmatch(r"[\w-]+/[\w-]+/comparisons/[\w-]+\.json", link)]
    behaviors = [link for link in linked if re.fullmatch(r"[\w-]+/[\w-]+/behavior\.json", link)]
    policies = [link for link in linked if re.fullmatch(r"[\w-]+/[\w-]+/policy\.json", link)]
    assert len(comparisons) + len(behaviors) + len(policies) == len(linked)
    assert set(policies) == {row["policy"] for row in REPRESENTATION_ROWS}
    compared = {row["comparison"] for row in CELL_ROWS if row["verdict"]}
    assert set(comparisons) == compared
    assert set(behaviors) == {row["behavior"] for row in REPRESENTATION_ROWS}
    unlinked = {word for word, link in page.statuses if not link and re.search(r"\b(warn|unverified)$", word)}
    assert unlinked <= {"▲ 1 behaviorally unverified"}


def test_reports_canaries_and_exports_are_linked(page: Page) -> None:
    expected = {str(row["report"]) for row in CELL_ROWS if row["method"] == "canary"}
    expected |= {str(row["canary"]) for row in REPRESENTATION_ROWS}
    expected |= {str(row[name]) for row in EXPORT_ROWS for name in ("param", "account")}
    assert expected | {"manifest.json", "tables/cells.csv"} <= set(page.links)


def test_what_was_run_is_said(page: Page) -> None:
    for words in (
        "A small campaign",
        "Kineto profiles rank0.json.gz; clock shared",
        "compute_overlap_us = 0",
        "scheduler-v4 (version 4)",
        "c0dec0dec0de",
        "10cc10cc10cc",
        "341,271 B",
        "p99 +15 % and 1 us",
    ):
        assert words in page.text


def test_what_regressed_is_said_with_all_three_changes(page: Page) -> None:
    assert "training against baseline" in page.text
    assert "p99 regression 50.0% exceeds 15.0%" in page.text
    congested = re.search(r"congested ✕ fail (.*?) report", page.text)
    assert congested is not None
    assert congested[1].split()[:9] == ["225.000", "+50.0", "%", "150.000", "+50.0", "%", "75.000", "+50.0", "%"]


def test_a_control_that_says_otherwise_is_pointed_out(page: Page) -> None:
    assert "✓ pass p99 +2.0 %; unlike the canary" in page.text


def test_trust_shows_separate_facts_and_what_was_not_expected(page: Page) -> None:
    assert "This control passes the behaviour and ranking checks" in page.text
    assert "median_us is 12.616 where the source has 127.284" in page.text
    assert "not as expected: behaviorally verified" in page.text
    assert "assumed: compute_overlap_us=0" in page.text
    assert "0 % alike 1 decision: 1 false alarms, 0 missed" in page.text
    assert "✕ fail false positives" in page.text
    assert "Not as expected: ranking-inversion as isolated." in page.text
    assert "97.5 % of pairs, tau‑b 0.95" in page.text


def test_sizes_say_their_direction(page: Page) -> None:
    assert "3,608 B → 1,412 B 2.56x smaller" in page.text
    assert "4,000 B → 4,520 B 1.13x LARGER" in page.text


def test_exports_are_said(page: Page) -> None:
    assert "3 barrier: no size" in page.text
    assert "comms_trace_replay (8b87afd): 90 of 97 entries" in page.text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    evil = "<script>alert('x')</script>"
    config = copy.deepcopy(CONFIG) | {"title": evil}
    cell_rows: list[Row] = [row | {"first_reason": evil} for row in CELL_ROWS]
    cell_rows.append(
        cell_row("training", "canary", '"><img src=x onerror=alert(1)>', 5.0, report="javascript:alert(1)")
    )
    representation_rows: list[Row] = [row | {"first_failure": evil} for row in REPRESENTATION_ROWS]
    exports: list[Row] = [row | {"skipped_why": evil} for row in EXPORT_ROWS]
    page = Page(source(write_campaign(tmp_path, config, cell_rows, representation_rows, exports)))
    assert page.has_only_its_own_script
    assert not {"img"} & {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not [link for link in page.links if ":" in link]
    assert page.text.count(evil) >= 4


def test_one_configuration_alone(tmp_path: Path) -> None:
    rows: list[Row] = [row for row in CELL_ROWS if row["configuration"] == row["baseline"]]
    page = Page(source(write_campaign(tmp_path, cell_rows=rows)))
    assert "none, only the baseline was run" in page.text
    assert "Only the baseline was run: there is nothing to compare it with." in page.text


def test_empty_tables(tmp_path: Path) -> None:
    page = Page(source(write_campaign(tmp_path, cell_rows=[], representation_rows=[], export_rows=[])))
    assert "This workload has no canary among its representations" in page.text
    assert "Nothing was exported" in page.text


def test_unknown_facts_are_not_rounded_up(tmp_path: Path) -> None:
    unknown: Row = dict.fromkeys(
        (
            "source_status",
            "ranking_agreement",
            "decision_agreement",
            "kendall_tau_b",
            "canary_json_bytes",
            "behavior",
            "canary",
            "timing_mode",
            "assumptions",
            "first_failure",
        )
    )
    rows = [representation_row("training", "canary", None, false_positives=0, false_negatives=None, **unknown)]
    cell_rows: list[Row] = [cell_row("training", "canary", "baseline", 5.0, hidden_pct=None, queue_wait_p99_us=None)]
    page = Page(source(write_campaign(tmp_path, cell_rows=cell_rows, representation_rows=rows)))
    assert ("○ not stated", None) in page.statuses
    assert "no agreement stated, tau‑b –" in page.text
    assert "none decided 1 decision: 0 false alarms, – missed" in page.text


@pytest.mark.parametrize("name", ["manifest.json", "tables/exports.parquet", "figures/trust.svg"])
def test_a_missing_part_is_refused_and_no_page_is_left(tmp_path: Path, name: str) -> None:
    folder = write_campaign(tmp_path)
    (folder / name).unlink()
    with pytest.raises(Refusal, match=name.rpartition("/")[2]):
        write_campaign_page(folder, folder / "report.html")
    assert not (folder / "report.html").exists()


def test_a_figure_that_could_run_something_is_refused(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path)
    (folder / "figures" / "trust.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    with pytest.raises(InputRefusal, match="does not belong in a figure"):
        write_campaign_page(folder, folder / "report.html")


def test_the_same_folder_gives_the_same_page(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path)
    assert source(folder) == source(folder)


def test_ablations_and_calibrations_are_shown_where_the_campaign_has_them(tmp_path: Path, page: Page) -> None:
    headings = ("What each aspect of the workload is worth", "Can the gate be trusted at this size?")
    assert not any(heading in page.text for heading in headings)
    folder = write_campaign(tmp_path)
    rows = [calibration_row("training", "plain"), calibration_row("training", "confidence", expected_outcome="trusted")]
    ablated = [ablation_row("training", "arrival_skew")]
    write_tables(folder, CELL_ROWS, REPRESENTATION_ROWS, EXPORT_ROWS, ablated, rows)
    shown = Page(source(folder))
    assert all(heading in shown.text for heading in headings)
    assert "40 of 60" in shown.text
    assert "95 % interval 54.1 to 77.3 %, at most 5 % declared" in shown.text
    assert "not as expected: trusted" in shown.text
    assert "ranking-inversion as isolated, gate of training as canary." in shown.text
    assert {"training/ablations.json", "training/canary/null_calibration.json"} <= set(shown.links)


@pytest.mark.parametrize(
    ("declared", "said"),
    [(None, "No outcome was declared."), ("failed", "All as expected: 1 declared outcome.")],
)
def test_what_was_not_declared_did_not_come_out_as_expected(declared: str | None, said: str, tmp_path: Path) -> None:
    row = representation_row("training", "canary", "failed", expected_status=declared)
    shown = Page(source(write_campaign(tmp_path, representation_rows=[row])))
    assert said in shown.text


def test_a_searched_canary_is_no_control(tmp_path: Path) -> None:
    row = representation_row("training", "smallest", "behaviorally_verified", method="searched")
    folder = write_campaign(tmp_path, representation_rows=[*REPRESENTATION_ROWS, row])
    assert "it is verified like a canary" not in source(folder)


def test_the_first_table_says_which_control_passes(text: str) -> None:
    first = text.split("<table", 1)[1].split("</table>")[0]
    rows = [Page(row).text for row in first.split("<tr>")[2:]]
    named = ("training canary ", "training cluster (control) ")
    named += ("ranking-inversion canary ", "ranking-inversion isolated (control) ")
    assert all(row.startswith(name) for row, name in zip(rows, named, strict=True))
    assert "this control passes behaviour and ranking" in rows[1]
    assert rows[3].endswith("not as expected")
    assert not any("control passes" in rows[number] for number in (0, 2, 3))


def test_the_makespan_is_a_column_where_the_model_has_one(tmp_path: Path) -> None:
    rows = [
        cell_row("training", "canary", "baseline", 50.0, makespan_us=1000.0),
        compared_row("training", "canary", "congested", 75.0, "fail", 50.0) | {"makespan_us": 1234.5},
        *inversion_rows(),
    ]
    folder = write_campaign(tmp_path, cell_rows=rows)
    write_campaign_page(folder, folder / "report.html")
    text = Page((folder / "report.html").read_text(encoding="utf-8")).text
    assert text.count("makespan (us)") == 1  # the ranking inversion's model has none
    assert "1,234.500 +23.4 %" in text


def test_measurements_of_overlap_are_linked(tmp_path: Path) -> None:
    entry = {"name": "job", "source": {"profiles": ["a.json", "b.json"]}, "against": "before"}
    before = {"name": "before", "source": {"profiles": ["c.json"]}}
    page = Page(source(write_campaign(tmp_path, {**CONFIG, "overlap": [before, entry]})))
    assert {"overlap/job.html", "overlap/before.html", "#overlap"} <= set(page.links)
    assert "job: 2 profiles, against before" in page.text
