"""SVG as bytes that depend on the drawing alone, with a text alternative, ready to stand in a page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import matplotlib as mpl

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from commcanary.reporting.drawing import Drawing

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_FONTS = "system-ui, 'DejaVu Sans', Arial, sans-serif"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def svg_bytes(name: str, drawing: Drawing) -> bytes:
    """The drawing as SVG: no date, fixed ids that start with ``name``, a title and a description."""
    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        drawing.figure.savefig(stream, format="svg", metadata={"Date": None})
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(stream.getvalue())
    _remove(root, "metadata", "style")
    _rename_references(root, name)
    root.attrib.update(
        {
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-description",
            "style": f"stroke-linejoin: round; stroke-linecap: butt; font-family: {_FONTS}",
        }
    )
    for tag, text in (("desc", drawing.description), ("title", drawing.title)):
        element = ElementTree.Element(
            f"{{{_SVG}}}{tag}", {"id": f"{name}-{'title' if tag == 'title' else 'description'}"}
        )
        element.text = text
        root.insert(0, element)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def inline_svg(data: bytes, file: str) -> str:
    """The ``<svg>`` element of an SVG file, to stand inside an HTML page.

    Raises ``InputRefusal`` for what could run or load something: a figure of ours holds neither.
    """
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputRefusal("", f"is no SVG ({error})", "draw the figures again", file=file) from error
    for element in root.iter():
        element.tag = str(element.tag).removeprefix(f"{{{_SVG}}}")
        for attribute, value in element.attrib.items():
            outside = attribute.endswith("href") and not value.startswith("#")
            outside = outside or any(not found.startswith("#") for found in re.findall(r"url\(\s*([^)]*)", value))
            if outside or attribute.lower().startswith("on"):
                raise InputRefusal(element.tag, f"has {attribute}={value!r}", "draw the figures again", file=file)
        if element.tag in ("script", "foreignObject", "style", "image"):
            raise InputRefusal(element.tag, "does not belong in a figure", "draw the figures again", file=file)
    return ElementTree.tostring(root, encoding="unicode")


def _remove(root: ElementTree.Element, *tags: str) -> None:
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in {f"{{{_SVG}}}{tag}" for tag in tags}]:
            parent.remove(child)


def _rename_references(root: ElementTree.Element, name: str) -> None:
    """Number the ids that something refers to and drop the others: several figures share one page."""
    used: dict[str, str] = {}
    for element in root.iter():
        references = [element.attrib.get(_HREF, "")[1:], *_REFERENCE.findall(" ".join(element.attrib.values()))]
        for reference in references:
            if reference:
                used.setdefault(reference, f"{name}-{len(used)}")
    for element in root.iter():
        if (identity := element.attrib.pop("id", None)) in used:
            element.set("id", used[str(identity)])
        if (href := element.attrib.pop(_HREF, None)) is not None:
            element.set("href", f"#{used[href[1:]]}")
        for attribute, value in element.attrib.items():
            element.set(attribute, _REFERENCE.sub(lambda match: f"url(#{used[match[1]]})", value))
        if "style" in element.attrib:
            element.set("style", element.attrib["style"].replace("'DejaVu Sans', sans-serif", _FONTS))
