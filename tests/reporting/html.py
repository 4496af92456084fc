"""A page taken apart: its text, links, ids and tags."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from commcanary.reporting import pages

SORT = (Path(pages.__file__).parent / "templates" / "sort.js").read_text(encoding="utf-8")
BLOCKS = {"td", "th", "tr", "p", "dt", "dd", "li", "caption", "section", "h1", "h2", "h3", "figcaption"}


class Page(HTMLParser):
    """Tags with their attributes in order, and the text outside style and title of figures."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.statuses: list[tuple[str, str | None]] = []
        self._open: list[str] = []
        self._status: list[str] | None = None
        self._depth = 0
        self._link: str | None = None
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        if tag in BLOCKS:
            self.words.append(" ")
        self._open.append(tag)
        if "status" in attributes.get("class", "").split():
            self._status, self._link, self._depth = [], None, len(self._open)
        if tag == "a" and self._status is not None:
            self._link = attributes["href"]

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open[-1] != tag:
            self._open.pop()
        if self._status is not None and len(self._open) == self._depth:
            self.statuses.append((" ".join("".join(self._status).split()), self._link))
            self._status = None
        if self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts.append(data)
        if {"style", "script"} & set(self._open):
            return
        self.words.append(data)
        if self._status is not None:
            self._status.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def has_only_its_own_script(self) -> bool:
        """Whether the script that sorts tables is the only one."""
        return self.scripts == [SORT] and len(self.all("script")) == 1

    @property
    def links(self) -> list[str]:
        return [attributes["href"] for attributes in self.all("a")]
