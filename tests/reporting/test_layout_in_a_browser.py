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
  const page = f.contentDocument, root = page.documentElement, table = page.querySelector("table");
  const first = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
  const before = first(), head = table.querySelector("thead th");
  head.click(); const up = first(); head.click(); const down = first();
  const texts = [...page.querySelectorAll("p, td, th")].filter((e) => e.getClientRects().length);
  const smallest = Math.min(...texts.map((e) => parseFloat(f.contentWindow.getComputedStyle(e).fontSize)));
  const size = {{width: root.scrollWidth, height: root.scrollHeight}};
  found.textContent = JSON.stringify({{...size, before, up, down, smallest}});
}};
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    for name in ("one", "two"):
        campaign = sealed(results / name, f"Campaign {name}")
        write_campaign_page(campaign, campaign / "report.html")
        benchmark = campaign / "benchmarks" / "replay" / "training.canary.0.tsv"
        benchmark.parent.mkdir(parents=True)
        benchmark.write_text("s\th:m:s\tmax_rss\n12.5\t0:00:12\t150.4\n")
        write_timings_page(campaign, campaign / "timings.html")
    write_index_page(results, results / "index.html")
    return results


def look(folder: Path, page: str, width: int, profile: Path) -> dict[str, Any]:
    """What a browser finds: the page's own width and height, and the first column of its first table, sorted."""
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


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", ["index.html", "one/report.html", "one/timings.html"])
def test_nothing_is_wider_than_the_window_and_tables_sort(page: str, width: int, folder: Path, tmp_path: Path) -> None:
    found = look(folder, page, width, tmp_path)
    assert found["width"] <= width
    assert found["height"] > 200
    assert found["smallest"] >= 11  # readable on a phone
    assert found["up"] == sorted(found["before"])
    assert found["down"] == found["up"][::-1]
