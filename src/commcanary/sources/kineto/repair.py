"""Repair of one fault: quotes inside a string value that the profiler did not escape.

Before July 2026 it wrote names and descriptions as they were. A line of a profile is repaired only if it is
no part of a JSON document as it stands. Then each string value ends at the first quote after which the rest
of the line reads as JSON; all quotes before that one belong to the value. A value never swallows what looks like the
next member (a comma, a key and a colon), and keys are never touched. What has no such reading is refused.
"""

from __future__ import annotations

import re

import msgspec

from commcanary.errors import InputRefusal

_BETWEEN_STRINGS = re.compile(rb"(?:[\s,:{}\[\]]|-?\d[\d.eE+-]*|true|false|null)*")
_MAY_END = re.compile(rb'"\s*(?:,\s*"[^"\\]*"\s*:|,?\s*$|[}\]])')
_NEXT_MEMBER = re.compile(rb',\s*"[^"\\]*"\s*:')
_WRAPPERS = (
    *((before, after) for before in (b"{", b"", b"[") for after in (b"}", b"", b"]", b"}}", b"]}", b"}]")),
    (b'{"":[', b""),  # the end of the event array and what follows it
)
_MOST_TRIES = 10_000


def repaired(text: bytes) -> tuple[bytes, int]:
    """``text`` with the quotes inside string values escaped, and how many were.

    Raises ``InputRefusal`` naming the first line that has no reading.
    """
    count = 0
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        if b'"' not in line or _is_part_of_json(line):
            continue
        fixed = _Reading(line).repaired()
        if fixed is None:
            raise InputRefusal(
                f"line {number + 1}",
                "is not JSON, and escaping quotes in its values does not make it so",
                "correct the line by hand, or export the profile again",
            )
        count += len(fixed) - len(line)
        lines[number] = fixed
    return b"\n".join(lines), count


def _is_part_of_json(line: bytes) -> bool:
    """Whether a line of a pretty-printed document, completed on both sides, is JSON."""
    inside = line.strip().removesuffix(b",")
    return any(_is_json(before + inside + after) for before, after in _WRAPPERS)


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


class _Reading:
    """The search for the ends of a line's strings, first ends first."""

    def __init__(self, line: bytes) -> None:
        self._line = line
        self._tries = 0

    def repaired(self) -> bytes | None:
        """The line with inner quotes escaped, None where no reading is JSON."""
        return self._from(0, b"")

    def _from(self, position: int, before: bytes) -> bytes | None:
        self._tries += 1
        if self._tries > _MOST_TRIES:
            return None
        line = self._line
        opens = line.find(b'"', position)
        outside = line[position:] if opens < 0 else line[position:opens]
        if not _BETWEEN_STRINGS.fullmatch(outside):
            return None
        if opens < 0:
            whole = before + outside
            return whole if _is_part_of_json(whole) else None
        is_value = outside.rstrip().endswith(b":")
        ends = opens
        while (ends := line.find(b'"', ends + 1)) >= 0:
            if is_value and not _MAY_END.match(line, ends):
                continue
            if is_value and _NEXT_MEMBER.search(line, opens + 1, ends):
                return None
            inside = line[opens + 1 : ends].replace(b'"', b'\\"')
            found = self._from(ends + 1, before + outside + b'"' + inside + b'"')
            if found is not None or not is_value:
                return found
        return None
