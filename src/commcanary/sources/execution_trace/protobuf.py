"""Protobuf's wire format, as far as Chakra needs it: fields of a message by number, messages that follow each other.

A message is a row of fields, each with a key (number and wire type) and a value: a variable-length number, four or
eight bytes, or bytes behind their length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE, EIGHT, LENGTH, FOUR = 0, 1, 2, 5
"""Wire types; 3 and 4 are groups, which proto3 does not have."""


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each message in ``data``, every one behind its length."""
    at = 0
    while at < len(data):
        length, start = number_at(data, at)
        if length > len(data) - start:
            raise InputRefusal(
                f"byte {at}",
                f"starts a message of {length} bytes, of which {len(data) - start} are there",
                "copy or export the file again",
            )
        yield start, data[start : start + length]
        at = start + length


def fields(data: bytes, place: str) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message; a value is a number without sign, or bytes."""
    at = 0
    while at < len(data):
        key, at = number_at(data, at, place)
        number, wire = key >> 3, key & 7
        if wire == VARIABLE:
            value, at = number_at(data, at, place)
            yield number, value
            continue
        if wire == LENGTH:
            length, at = number_at(data, at, place)
        elif wire in (EIGHT, FOUR):
            length = 8 if wire == EIGHT else 4
        else:
            raise InputRefusal(place, f"has a field of wire type {wire}", "give a Chakra trace (protobuf)")
        if number == 0 or length > len(data) - at:
            raise InputRefusal(place, f"ends inside field {number}", "copy or export the file again")
        part = data[at : at + length]
        yield number, part if wire == LENGTH else int.from_bytes(part, "little")
        at += length


def number_at(data: bytes, at: int, place: str = "text") -> tuple[int, int]:
    """The variable-length number at ``at`` and where it ends; seven bits a byte, the lowest first."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise InputRefusal(place, f"holds no number at byte {at}", "give a Chakra trace (protobuf)")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7


def signed(value: int) -> int:
    """A number of 64 bits read as two's complement."""
    return value - (1 << 64) if value >= 1 << 63 else value


def zigzag(value: int) -> int:
    """A number whose sign is its lowest bit."""
    return (value >> 1) ^ -(value & 1)
