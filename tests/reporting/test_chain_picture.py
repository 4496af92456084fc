"""The README's picture is what its script draws."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def test_the_picture_is_what_the_script_draws() -> None:
    drawn = runpy.run_path(str(IMAGES / "draw_chain.py"))["draw"]()
    assert (IMAGES / "chain.svg").read_text(encoding="utf-8") == drawn
    root = ElementTree.fromstring(drawn)
    assert root.attrib["role"] == "img"
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"import", "compile", "replay", "compare", "verify", "export"} <= words
