"""Times that ``NCCL_DEBUG_TIMESTAMP_FORMAT`` puts before a line (NCCL 2.26 and later)."""

from __future__ import annotations

import re
from datetime import date

from commcanary.artifacts.events import UNKNOWN

LEAST_DIGITS = 6
"""Of a second: coarser times are not used, for calls follow each other within microseconds."""

_MINUTE = re.compile(rb"(?:^|\s)\[?(\d{4})-(\d\d)-(\d\d)[ T_](\d\d):(\d\d)\Z")
_SECOND = re.compile(rb"(\d\d)(?:[.,](\d{1,9}))?\]?")
_EPOCH = date(1970, 1, 1).toordinal()
_minutes: dict[bytes, int] = {}
_MOST_MINUTES = 10_000


def stamp_of(before: bytes) -> tuple[int, int] | None:
    """ns since 1970 on the host's wall clock, and its digits of a second; None where ``before`` ends in no time.

    NCCL writes local time without a zone. Only differences are used.
    """
    text, _, rest = before.rpartition(b":")
    minute = _minutes.get(text)
    if minute is None:
        minute = _minute(text)
        if len(_minutes) < _MOST_MINUTES:
            _minutes[text] = minute
    match = _SECOND.fullmatch(rest)
    if minute == UNKNOWN or match is None:
        return None
    second, fraction = match.groups()
    if second > b"60":
        return None
    seconds = (minute * 60 + int(second)) * 1_000_000_000
    if fraction is None:
        return seconds, 0
    return seconds + int(fraction) * 10 ** (9 - len(fraction)), len(fraction)


def _minute(text: bytes) -> int:
    """Minutes since 1970, -1 where ``text`` ends in none."""
    match = _MINUTE.search(text)
    if match is None:
        return UNKNOWN
    year, month, day, hour, minute = map(int, match.groups())
    if hour > 23 or minute > 59:
        return UNKNOWN
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return UNKNOWN
    return (days * 24 + hour) * 60 + minute if days >= 0 else UNKNOWN
