"""The size of an event program, counted by the verifier itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commcanary.artifacts.program import Program


def leaves(program: Program) -> int:
    """Events of the canary: a run of one signature counts once, every event of a literal stretch once."""
    count = 0
    for rule in program:
        for position in range(0, len(rule), 2):
            symbol, repeat = rule[position], rule[position + 1]
            if symbol >= 0:
                count += 1
            elif symbol == -1:
                count += repeat
    return count
