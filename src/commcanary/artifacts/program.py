"""The event program: which operation comes when, as runs, nested motifs and literal stretches.

A program is a tuple of rules; rule 0 is the root. A rule is a flat tuple of (symbol, repeat) pairs:

    symbol >= 0    the signature of that number, ``repeat`` events in a row
    symbol == -1   (root only) the next ``repeat`` timing records say signature and count themselves
    symbol <= -2   rule ``-1 - symbol``, ``repeat`` times

A rule uses only rules of a higher number, so a program always ends. A literal stretch is what does not
repeat: it costs one entry here and one integer per record in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Rule = tuple[int, ...]
Program = tuple[Rule, ...]

LITERAL = -1
_REMEDY = "compile the canary again"


def rule_symbol(number: int) -> int:
    """The symbol that stands for rule ``number`` (1 or more)."""
    return -1 - number


def pairs(rule: Rule) -> Iterator[tuple[int, int]]:
    """The (symbol, repeat) pairs of a rule."""
    return zip(rule[::2], rule[1::2], strict=True)


def entry_count(program: Program) -> int:
    """Number of (symbol, repeat) pairs in all rules."""
    return sum(len(rule) // 2 for rule in program)


def leaf_count(program: Program) -> int:
    """Events of the canary: runs of one signature, each run and motif body counted once."""
    return sum(
        repeat if symbol == LITERAL else 1 for rule in program for symbol, repeat in pairs(rule) if symbol >= LITERAL
    )


def expand(
    program: Program,
    literal_signature: NDArray[np.int64],
    record_count: NDArray[np.int64],
    signatures: int,
    events: int,
) -> NDArray[np.int32]:
    """int32[events]: the signature of every event.

    ``literal_signature`` and ``record_count`` are int64[records], -1 where the program says the signature.
    Raises ``InputRefusal`` where rules are malformed or do not add up to ``events`` events, before
    anything of that size is made.
    """
    _check(program, signatures)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(record_count)])
    lengths = rule_lengths(program)
    bodies: dict[int, NDArray[np.int32]] = {}
    parts: list[NDArray[np.int32]] = []
    done = 0
    for position, (symbol, repeat) in enumerate(pairs(program[0] if program else ())):
        place = f"program[0] entry {position}"
        if symbol == LITERAL:
            first = int(np.searchsorted(bounds, done))
            last = first + repeat
            if last >= len(bounds) or bounds[first] != done or (literal_signature[first:last] < 0).any():
                raise InputRefusal(place, f"takes {repeat} literal records that the table does not have", _REMEDY)
            part = np.repeat(literal_signature[first:last], record_count[first:last]).astype(np.int32)
            length = len(part)
        else:
            length = repeat * (1 if symbol >= 0 else lengths[-1 - symbol])
            if done + length > events:
                raise InputRefusal(place, f"reaches more than the {events} events that the canary states", _REMEDY)
            part = np.tile(_body(program, symbol, bodies), repeat)
        parts.append(part)
        done += length
    if done != events:
        raise InputRefusal("program", f"makes {done} events where the canary states {events}", _REMEDY)
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)


def _check(program: Program, signatures: int) -> None:
    for number, rule in enumerate(program):
        if len(rule) % 2:
            raise InputRefusal(f"program[{number}]", "has an odd number of integers", _REMEDY)
        for position, (symbol, repeat) in enumerate(pairs(rule)):
            place = f"program[{number}] entry {position}"
            if repeat < 1:
                raise InputRefusal(place, f"repeats {repeat} times", _REMEDY)
            if symbol >= signatures:
                raise InputRefusal(place, f"names signature {symbol} of {signatures}", _REMEDY)
            if symbol == LITERAL and number:
                raise InputRefusal(place, "is a literal stretch inside a motif", _REMEDY)
            if symbol < LITERAL and not number < -1 - symbol < len(program):
                raise InputRefusal(place, f"names rule {-1 - symbol}, which does not come later", _REMEDY)


def rule_lengths(program: Program) -> list[int]:
    """Events that each rule stands for; 0 for the root, which only ``expand`` can measure."""
    lengths = [0] * len(program)
    for number in range(len(program) - 1, 0, -1):
        lengths[number] = sum(
            repeat * (1 if symbol >= 0 else lengths[-1 - symbol]) for symbol, repeat in pairs(program[number])
        )
    return lengths


def _body(program: Program, symbol: int, bodies: dict[int, NDArray[np.int32]]) -> NDArray[np.int32]:
    """Events of one symbol. Rules are expanded from the highest needed number down, without recursion."""
    if symbol >= 0:
        return np.array([symbol], np.int32)
    wanted, reached = [-1 - symbol], {-1 - symbol}
    for number in wanted:
        for inner, _ in pairs(program[number]):
            if inner < LITERAL and -1 - inner not in reached:
                reached.add(-1 - inner)
                wanted.append(-1 - inner)
    for number in sorted(reached, reverse=True):
        if number not in bodies:
            bodies[number] = np.concatenate(
                [
                    np.tile(np.array([s], np.int32) if s >= 0 else bodies[-1 - s], repeat)
                    for s, repeat in pairs(program[number])
                ]
            )
    return bodies[-1 - symbol]
