"""Links and text that cannot leave their place, and templates that travel with the package."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.reporting.pages import TEMPLATES, breakable, relative_link


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("w/canary/reports/baseline.parquet", "w/canary/reports/baseline.parquet"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("//example.org/x", "example.org/x"),
        ('a" onclick="x', "a%22%20onclick%3D%22x"),
        ("a b#c?d", "a%20b%23c%3Fd"),
    ],
)
def test_a_link_stays_inside_the_folder(path: str, link: str) -> None:
    assert relative_link(path) == link


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_no_path_becomes_a_scheme_a_host_or_an_attribute(path: str) -> None:
    link = relative_link(path)
    assert not link.startswith("/")
    assert not set(link) & set(":\"'<>&? #")


def test_breaking_places_do_not_undo_escaping() -> None:
    assert breakable("a_<b>_c") == "a_<wbr>&lt;b&gt;_<wbr>c"


def test_templates_lie_in_the_package() -> None:
    assert {path.name for path in TEMPLATES.iterdir()} >= {"campaign.html.jinja", "report.html.jinja", "page.css"}
    assert TEMPLATES.parent.name == "reporting"
