"""HTML pages: one template folder, everything escaped, and one way to write them."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.files import read_bytes
from commcanary.reporting import words
from commcanary.units import show_bytes, show_ratio

TEMPLATES = Path(__file__).parent / "templates"


def write_page(output: Path, template: str, **values: Any) -> None:
    """Render ``template`` with ``values`` and write the page to ``output`` atomically."""
    write_text(Path(output), _environment().get_template(template).render(**values))


def relative_link(path: str) -> str:
    """``path`` inside the campaign's folder as a link: quoted, so that it can name neither a scheme nor a host."""
    return quote(path.lstrip("/"), safe="/")


def breakable(text: str) -> Markup:
    """``text`` escaped, with a place to break a line after every underscore."""
    return Markup("_<wbr>").join(escape(part) for part in text.split("_"))


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "breakable": breakable,
        "bytes": show_bytes,
        "difference": words.difference,
        "change": words.change,
        "last_word": words.in_short,
        "latency": words.latency,
        "link": relative_link,
        "ms": words.milliseconds,
        "mark": lambda status: words.tone_of(status).mark,
        "number": words.number,
        "ratio": show_ratio,
        "seconds": words.seconds,
        "share": words.share,
        "tone": words.tone_of,
        "words": words.in_words,
    }
    script = read_bytes(TEMPLATES / "sort.js")
    environment.globals["count"] = words.count
    environment.globals["sort_script"] = Markup(script.decode())
    environment.globals["sort_script_hash"] = f"sha256-{b64encode(sha256(script).digest()).decode()}"
    return environment
