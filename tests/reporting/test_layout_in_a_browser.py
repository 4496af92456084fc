"""The pages in headless Chromium at desk and phone width: nothing is wider than the window, and tables sort."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commcanary.reporting.campaign_page import write_campaign_page
from commcanary.reporting.index_page import write_index_page
from commcanary.reporting.timings_page import write_timings_page

from .test_index_page import sealed

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: apt-get install chromium")

_LOOK = """<!DOCTYPE html><body style="margin:0">
<iframe id="f" style="border:0;width:{width}px;height:4000px" src="{page}"></iframe><pre id="found"></pre><script>
f.onload = () => {{
  const page = f.contentDocument, root = page.documentElement, view = f.contentWindow;
  const press = (head, key) => head.dispatchEvent(new view.KeyboardEvent("keydown", {{key, cancelable: true}}));
  const sorted = (table, column) => [...table.tBodies[0].rows].filter((row) => !row.classList.contains("why"))
    .map((row) => row.cells[column]?.textContent.trim().replace(/\\s+/g, " ") ?? "");
  const columns = [...page.querySelectorAll("table")].flatMap((table) =>
    [...table.querySelectorAll("thead th")].map((head, column) => {{
      const before = sorted(table, column);
      head.click(); const up = sorted(table, column);
      head.click(); const down = sorted(table, column);
      press(head, "Enter"); const enter = sorted(table, column);
      press(head, " "); const space = sorted(table, column);
      press(head, "x");
      return {{head: head.textContent, before, up, down, enter, space, marked: head.getAttribute("aria-sort")}};
    }}));
  const texts = [...page.querySelectorAll("p, td, th")].filter((e) => e.getClientRects().length);
  const smallest = Math.min(...texts.map((e) => parseFloat(view.getComputedStyle(e).fontSize)));
  const hint = page.querySelector(".heads")?.getClientRects().length ?? null;
  const loaded = view.performance.getEntriesByType("resource").map((e) => e.name);
  const size = {{width: root.scrollWidth, height: root.scrollHeight}};
  found.textContent = JSON.stringify({{...size, columns, smallest, hint, loaded}});
}};
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    for name in ("one", "two"):
        campaign = sealed(results / name, f"Campaign {name}")
        write_campaign_page(campaign, campaign / "report.html")
        benchmarks = campaign / "benchmarks" / "replay"
        benchmarks.mkdir(parents=True)
        for workload, seconds in (("training", 12.5), ("long", 185.0), ("short", 3.25), ("middle", 62.0)):
            lines = f"s\th:m:s\tmax_rss\n{seconds}\t0:00:00\t{150.4 + seconds}\n"
            (benchmarks / f"{workload}.canary.0.tsv").write_text(lines)
        write_timings_page(campaign, campaign / "timings.html")
    write_index_page(results, results / "index.html")
    return results


def look(folder: Path, page: str, width: int, profile: Path) -> dict[str, Any]:
    """What a browser finds: the page's own width and height, and every column of every table as it sorts."""
    frame = folder / "look.html"
    frame.write_text(_LOOK.format(width=width, page=page))
    shown = [f"--window-size={max(width, 500)},2000", "--hide-scrollbars", "--virtual-time-budget=5000"]
    alone = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
    done = subprocess.run(
        [str(BROWSER), *alone, *shown, "--allow-file-access-from-files", "--dump-dom", frame.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = re.search(r'<pre id="found">(.+?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:]
    looked: dict[str, Any] = json.loads(html.unescape(found[1]))
    return looked


def number_of(text: str) -> float | None:
    """What a cell's text is worth: a number, minutes and seconds, or nothing."""
    minutes = re.match(r"(\d+) min (\d+) s", text)
    if minutes:
        return 60 * float(minutes[1]) + float(minutes[2])
    found = re.match(r"[+-]?\d+(\.\d+)?", text.replace(",", "").replace("\u2212", "-"))
    return float(found[0]) if found else None


def assert_sorted(column: dict[str, Any]) -> None:
    """Both directions: numbers by their value before cells without one, words in one order and in its reverse."""
    for texts, sign in ((column["up"], 1), (column["down"], -1)):
        numbers = [number_of(text) for text in texts]
        known = [value for value in numbers if value is not None]
        assert numbers[: len(known)] == sorted(known, key=lambda value: sign * value), column
        assert sorted(texts) == sorted(column["before"])
    words = [list(dict.fromkeys(t for t in column[way] if number_of(t) is None)) for way in ("up", "down")]
    assert words[0] == words[1][::-1], column


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", ["index.html", "one/report.html", "one/timings.html"])
def test_nothing_is_wider_than_the_window_and_tables_sort(page: str, width: int, folder: Path, tmp_path: Path) -> None:
    found = look(folder, page, width, tmp_path)
    assert found["width"] <= width
    assert found["height"] > 200
    assert found["smallest"] >= 11  # readable on a phone
    assert found["loaded"] == []
    assert len(found["columns"]) > 6
    for column in found["columns"]:
        assert_sorted(column)
        assert column["enter"] == column["up"]
        assert column["space"] == column["down"]
        assert column["marked"] == "descending"
    if page == "index.html":
        assert bool(found["hint"]) == (width == 1280)  # a phone shows no heads of columns to click on
