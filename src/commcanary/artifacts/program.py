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
MAX_REPEAT = 2**62
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

    ``literal_signature`` is int64[records], -1 where the program says the signature; ``record_count``
    (int64[records], all >= 1) adds up to ``events``. Raises ``InputRefusal`` where rules are malformed or do
    not add up, before anything of that size is made; memory and time are linear in the result and the rules.
    """
    _check(program, signatures)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(record_count)])
    lengths = rule_lengths(program, events)
    literal_records = _measured(program[0], lengths, bounds, events)
    literal = np.concatenate([np.arange(first, last) for first, last in literal_records.values()] or [bounds[:0]])
    said = np.zeros(len(record_count), np.bool_)
    said[literal] = True
    for wrong, what in ((said & (literal_signature < 0), "null"), (~said & (literal_signature >= 0), "given")):
        if wrong.any():
            raise InputRefusal(
                f"row {int(np.argmax(wrong))} column signature", f"is {what} where the program says otherwise", _REMEDY
            )
    if literal_signature.max(initial=0) >= max(signatures, 1):
        row = int(np.argmax(literal_signature >= signatures))
        raise InputRefusal(
            f"row {row} column signature", f"is {literal_signature[row]} of {signatures} signatures", _REMEDY
        )
    return _filled(program, lengths, literal_records, literal_signature, bounds, events)


def _measured(root: Rule, lengths: list[int], bounds: NDArray[np.int64], events: int) -> dict[int, tuple[int, int]]:
    """The records [first, last) of each literal stretch, by its entry in the root."""
    stretches: dict[int, tuple[int, int]] = {}
    done = 0
    for position, (symbol, repeat) in enumerate(pairs(root)):
        place = f"program[0] entry {position}"
        if symbol == LITERAL:
            first = int(np.searchsorted(bounds, done))
            if first + repeat >= len(bounds) or bounds[first] != done:
                raise InputRefusal(place, f"takes {repeat} literal records that the table does not have", _REMEDY)
            stretches[position] = (first, first + repeat)
            done = int(bounds[first + repeat])
        else:
            done += repeat * (1 if symbol >= 0 else lengths[-1 - symbol])
        if done > events:
            raise InputRefusal(place, f"reaches more than the {events} events that the canary states", _REMEDY)
    if done != events:
        raise InputRefusal("program", f"makes {done} events where the canary states {events}", _REMEDY)
    return stretches


def _filled(
    program: Program,
    lengths: list[int],
    literal_records: dict[int, tuple[int, int]],
    literal_signature: NDArray[np.int64],
    bounds: NDArray[np.int64],
    events: int,
) -> NDArray[np.int32]:
    """Write every rule once, where it first comes, and copy it from there: each event is written once."""
    result = np.empty(events, np.int32)
    written_at: dict[int, int] = {}
    # (rule, its entries that are left, where it began); a stack, so that no depth of nesting is too deep
    open_rules = [(0, enumerate(pairs(program[0])), 0)]
    at = 0
    waiting: list[tuple[int, int]] = []  # (length of one copy, copies) to make once the rule above is written
    while open_rules:
        number, entries, began = open_rules[-1]
        for position, (symbol, repeat) in entries:
            if symbol >= 0:
                result[at : at + repeat] = symbol
                at += repeat
            elif symbol == LITERAL:
                first, last = literal_records[position]
                at = int(bounds[first])
                stretch = np.repeat(literal_signature[first:last], np.diff(bounds[first : last + 1]))
                result[at : at + len(stretch)] = stretch
                at += len(stretch)
            else:
                rule = -1 - symbol
                length = lengths[rule]
                if rule in written_at:
                    source = written_at[rule]
                    result[at : at + length] = result[source : source + length]
                    at = _copied(result, at, length, repeat)
                    continue
                waiting.append((length, repeat))
                open_rules.append((rule, enumerate(pairs(program[rule])), at))
                break
        else:
            open_rules.pop()
            written_at[number] = began
            if number:
                at = _copied(result, began, *waiting.pop())
    return result


def _copied(result: NDArray[np.int32], start: int, length: int, copies: int) -> int:
    """Repeat the ``length`` events at ``start`` until there are ``copies``; the position after them."""
    if copies > 1:
        result[start + length : start + copies * length].reshape(copies - 1, length)[:] = result[start : start + length]
    return start + copies * length


def _check(program: Program, signatures: int) -> None:
    if not program:
        raise InputRefusal("program", "has no rules", _REMEDY)
    for number, rule in enumerate(program):
        if len(rule) % 2 or (number and not rule):
            raise InputRefusal(f"program[{number}]", "is not pairs of symbol and repeat", _REMEDY)
        for position, (symbol, repeat) in enumerate(pairs(rule)):
            place = f"program[{number}] entry {position}"
            if not 1 <= repeat <= MAX_REPEAT:
                raise InputRefusal(place, f"repeats {repeat} times", _REMEDY)
            if symbol >= signatures:
                raise InputRefusal(place, f"names signature {symbol} of {signatures}", _REMEDY)
            if symbol == LITERAL and number:
                raise InputRefusal(place, "is a literal stretch inside a motif", _REMEDY)
            if symbol < LITERAL and not number < -1 - symbol < len(program):
                raise InputRefusal(place, f"names rule {-1 - symbol}, which does not come later", _REMEDY)


def rule_lengths(program: Program, most: int) -> list[int]:
    """Events that each rule stands for, anything above ``most`` as ``most + 1``; 0 for the root, which only
    ``expand`` can measure.
    """
    lengths = [0] * len(program)
    for number in range(len(program) - 1, 0, -1):
        events = sum(repeat * (1 if symbol >= 0 else lengths[-1 - symbol]) for symbol, repeat in pairs(program[number]))
        lengths[number] = min(events, most + 1)
    return lengths
