"""How many different things one trace may hold: each is an object of its own in memory, whatever its row's text is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.header_parts import PartLimit
from commcanary.artifacts.trace_checks import MAX_RANKS
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from commcanary.artifacts.header_parts import Limits

MAX_SIGNATURES = 2**17
"""Events that differ in more than their times."""
MAX_GROUPS = 2**15
MAX_LISTED_RANKS = MAX_RANKS
"""Ranks in the lists of all process groups together."""
MAX_UNKNOWN_KEYS = 2**16
"""Different keys that exchange JSON has and the format does not know."""

GROUP_LIMITS = (PartLimit(MAX_GROUPS, "process groups", b"{"), PartLimit(MAX_LISTED_RANKS + 2 * MAX_GROUPS))
TRACE_LIMITS: Limits = {
    "groups": GROUP_LIMITS,
    "coverage": (PartLimit(2**17, "rows", b"{"),),
    "source_files": (PartLimit(2**17, "files", b"{"),),
}


def check_fits(count: int, most: int, place: str, things: str, remedy: str = "cut the trace into windows") -> None:
    """Raise ``InputRefusal`` at the place that brings a trace to more than ``most`` different ``things``."""
    if count > most:
        raise InputRefusal(place, f"brings the trace to more than {most:,} different {things}", remedy)


def check_unknown_keys(count: int, place: str) -> None:
    """Raise ``InputRefusal`` where a trace has too many different keys that its format does not know."""
    check_fits(count, MAX_UNKNOWN_KEYS, place, "keys that are not known", "leave them out")
