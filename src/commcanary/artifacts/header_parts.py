"""The parts of a JSON document as texts, measured before any of them is decoded.

Decoded, a value takes ten times what its text does, so that a few megabytes can ask for all memory. What a part
holds is bounded by counting one sign of its text: commas for values, opening braces for rows. Signs inside strings
count too: the limits leave a factor of ten to what real jobs need.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeVar

import msgspec

from commcanary.artifacts.jsontext import decode
from commcanary.errors import InputRefusal

H = TypeVar("H", bound=msgspec.Struct)


class PartLimit(NamedTuple):
    """``most`` things of a part, each of which has one ``sign`` in its text (a list of n values has n - 1 commas)."""

    most: int
    things: str = "values"
    sign: bytes = b","


Limits = Mapping[str, tuple[PartLimit, ...]]
MAX_VALUES = 2**18
"""Values in a part of a document that has no limit of its own."""
_DEFAULT = (PartLimit(MAX_VALUES),)
_ABSENT = msgspec.Raw(b"")


def header_and_parts(
    data: bytes, header: type[H], limits: Limits | None, beside: tuple[str, ...] = ()
) -> tuple[H, dict[str, msgspec.Raw]]:
    """The typed header of a JSON document, and the texts of its fields ``beside`` the header, which may be long.

    ``limits`` are those of the header's fields; None leaves every one unbounded. Raises ``InputRefusal`` naming a
    field that is not known, one that holds too much, or the place of a wrong value.
    """
    parts = field_texts(data, header, beside)
    own = {name: parts.pop(name) for name in beside if name in parts}
    if limits is not None:
        check_parts(parts, limits)
    return decode(msgspec.json.encode(parts), header), own


def field_texts(data: bytes, document: type[msgspec.Struct], beside: tuple[str, ...] = ()) -> dict[str, msgspec.Raw]:
    """The texts of a document's own fields and of those ``beside`` it that are there, none of them copied.

    Raises ``InputRefusal`` where ``data`` is no JSON object, or has another field that ``document`` forbids.
    """
    texts = decode(data, _texts_of(document, beside))
    return {name: text for name, text in msgspec.structs.asdict(texts).items() if text is not _ABSENT}


def check_parts(parts: Mapping[str, msgspec.Raw], limits: Limits) -> None:
    """Raise ``InputRefusal`` naming the first part that holds more than its limit, ``MAX_VALUES`` where it has none."""
    for name, text in parts.items():
        for limit in limits.get(name, _DEFAULT):
            check_part(text, name, limit)


def check_part(text: msgspec.Raw, place: str, limit: PartLimit) -> None:
    """Raise ``InputRefusal`` where the part at ``place`` holds more than ``limit``."""
    count = bytes(text).count(limit.sign) + (limit.sign == b",")
    if count > limit.most:
        raise InputRefusal(
            place,
            f"holds {count:,} {limit.things}, more than the {limit.most:,} that are read",
            "no job of this size is known: check what wrote the file",
        )


@cache
def _texts_of(document: type[msgspec.Struct], beside: tuple[str, ...]) -> type[msgspec.Struct]:
    config = document.__struct_config__
    names = dict.fromkeys((*document.__struct_encode_fields__, *beside))
    if config.tag_field is not None:
        names[config.tag_field] = None
    return msgspec.defstruct(
        "Texts", [(name, msgspec.Raw, _ABSENT) for name in names], forbid_unknown_fields=config.forbid_unknown_fields
    )
