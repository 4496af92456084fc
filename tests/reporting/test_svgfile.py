"""SVG bytes: fixed, self-contained, described; and what may stand in a page."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from commcanary.errors import InputRefusal
from commcanary.reporting.drawing import Drawing, Sheet, house_style
from commcanary.reporting.svgfile import inline_svg, svg_bytes

SVG = "{http://www.w3.org/2000/svg}"


def drawn(name: str = "name", label: str = "a < b & c") -> bytes:
    with house_style():
        sheet = Sheet(1.5)
        axes = sheet.axes(0.5, 0.2, 4, 0.8)
        axes.plot([1, 2], [1, 2], marker="o")
        sheet.text(0.1, 0.3, label)
        return svg_bytes(name, Drawing(sheet.figure, "A title", 'Says "a" < b'))


def test_the_same_drawing_gives_the_same_bytes() -> None:
    assert drawn() == drawn()


def test_it_says_neither_when_nor_with_what_it_was_made() -> None:
    text = drawn().decode()
    assert "<metadata" not in text
    assert "date" not in text.lower()
    assert "matplotlib" not in text.lower()
    assert "<style" not in text


def test_ids_are_unique_start_with_the_name_and_every_reference_has_one() -> None:
    root = ElementTree.fromstring(drawn("trust"))
    ids = Counter(e.attrib["id"] for e in root.iter() if "id" in e.attrib)
    assert ids
    assert max(ids.values()) == 1
    assert all(i.startswith("trust-") for i in ids)
    attributes = " ".join(" ".join(f"{k}={v}" for k, v in e.attrib.items()) for e in root.iter())
    references = set(re.findall(r"url\(#([^)]+)\)|href=#(\S+)", attributes))
    assert references
    assert {a or b for a, b in references} <= set(ids)


def test_it_has_a_text_alternative() -> None:
    root = ElementTree.fromstring(drawn("trust"))
    assert root.attrib["role"] == "img"
    named = [root.find(f".//*[@id='{part}']") for part in root.attrib["aria-labelledby"].split()]
    assert [element.text for element in named if element is not None] == ["A title", 'Says "a" < b']


def test_text_stays_text_and_is_escaped() -> None:
    root = ElementTree.fromstring(drawn(label="<script>alert(1)</script> $x$"))
    assert "<script>alert(1)</script> $x$" in [element.text for element in root.iter(f"{SVG}text")]
    assert root.find(f".//{SVG}script") is None


def test_inline_has_no_declaration_and_no_namespace() -> None:
    text = inline_svg(drawn(), "figure.svg")
    assert text.startswith("<svg ")
    assert "xmlns" not in text
    assert "http" not in text


@pytest.mark.parametrize(
    ("inner", "place"),
    [
        ("<script>alert(1)</script>", "script"),
        ("<foreignObject/>", "foreignObject"),
        ('<g onclick="alert(1)"/>', "g"),
        ('<use href="other.svg#a"/>', "use"),
        ('<a xmlns:x="http://www.w3.org/1999/xlink" x:href="javascript:alert(1)"/>', "a"),
        ('<g style="fill: url(https://example.org/a)"/>', "g"),
        ("<style>@import 'x'</style>", "style"),
        ('<image href="#a"/>', "image"),
    ],
)
def test_what_could_run_or_load_is_not_taken_into_a_page(inner: str, place: str) -> None:
    data = f'<svg xmlns="http://www.w3.org/2000/svg">{inner}</svg>'.encode()
    with pytest.raises(InputRefusal) as caught:
        inline_svg(data, "figure.svg")
    assert (caught.value.place, caught.value.file) == (place, "figure.svg")


def test_what_is_no_svg_is_refused() -> None:
    with pytest.raises(InputRefusal, match="is no SVG"):
        inline_svg(b"<svg", "figure.svg")
