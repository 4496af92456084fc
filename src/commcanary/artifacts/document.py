"""Documents: artifacts that are a typed header and no table (verdicts, manifests)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from commcanary.artifacts.header_parts import header_and_parts
from commcanary.artifacts.stored import Kind, Stored

if TYPE_CHECKING:
    from commcanary.artifacts.stored import JsonDocument

H = TypeVar("H", bound=msgspec.Struct)


def document_kind(name: str, format_name: str, header: type[H]) -> Kind[H]:
    """The artifact kind of documents of type ``header``, whose tag must be ``format_name``."""

    def to_json(stored: Stored[H]) -> JsonDocument:
        document: JsonDocument = msgspec.to_builtins(stored.header)
        return document

    def from_json(data: bytes) -> Stored[H]:
        return Stored.decoded(header_and_parts(data, header, None, ("content_id",))[0])

    return Kind(name, format_name, header, None, to_json, from_json)
