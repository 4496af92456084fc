"""Programs expand to what they say, and a hostile one is refused before it costs memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.program import Program, entry_count, expand, leaf_count
from commcanary.errors import EXIT_REFUSED, InputRefusal

SIGNATURES = 4


def said_by(program: Program, literal: list[int], counts: list[int]) -> list[int]:
    """The expansion, event by event."""
    taken = 0

    def events(number: int) -> list[int]:
        nonlocal taken
        found: list[int] = []
        rule = program[number]
        for symbol, repeat in zip(rule[::2], rule[1::2], strict=True):
            if symbol >= 0:
                found += [symbol] * repeat
            elif symbol < -1:
                found += events(-1 - symbol) * repeat
            else:
                bounds = np.cumsum([0, *counts]).tolist()
                first = bounds.index(len(found))
                for record in range(first, first + repeat):
                    found += [literal[record]] * counts[record]
        return found

    return events(0)


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, list[int], list[int]]:
    """A program, and the literal signature (-1: said by the program) and count of each record."""
    rules = draw(st.integers(0, 4))
    entry = st.tuples(st.integers(0, SIGNATURES - 1), st.integers(1, 3))
    bodies: list[list[tuple[int, int]]] = []
    for number in range(rules, 0, -1):
        inner = st.tuples(st.integers(number + 1, max(rules, number + 1)).map(lambda r: -1 - r), st.integers(1, 3))
        bodies.insert(0, draw(st.lists(entry | inner if number < rules else entry, min_size=1, max_size=4)))
    call = st.tuples(st.integers(1, max(rules, 1)).map(lambda r: -1 - r), st.integers(1, 3))
    literals = st.lists(st.tuples(st.integers(0, SIGNATURES - 1), st.integers(1, 3)), min_size=1, max_size=4)
    root: list[tuple[int, int]] = []
    literal: list[int] = []
    counts: list[int] = []
    for part in draw(st.lists(literals | (entry | call if rules else entry), min_size=1, max_size=6)):
        if isinstance(part, list):
            root.append((-1, len(part)))
            literal += [symbol for symbol, _ in part]
            counts += [count for _, count in part]
        else:
            root.append(part)
            flat = tuple(tuple(v for pair in body for v in pair) for body in [[part], *bodies])
            length = len(said_by(flat, [], []))
            literal += [-1] * length
            counts += [1] * length
    return tuple(tuple(v for pair in body for v in pair) for body in [root, *bodies]), literal, counts


def expanded(program: Program, literal: list[int], counts: list[int], events: int | None = None) -> list[int]:
    total = sum(counts) if events is None else events
    return expand(program, np.asarray(literal, np.int64), np.asarray(counts, np.int64), SIGNATURES, total).tolist()


@given(programs())
def test_expansion_is_what_the_program_says(made: tuple[Program, list[int], list[int]]) -> None:
    program, literal, counts = made
    assert expanded(program, literal, counts) == said_by(program, literal, counts)


def test_a_motif_of_motifs_by_hand() -> None:
    program: Program = ((-2, 2, 3, 1), (0, 2, -3, 2), (1, 1, 2, 1))
    step = [0, 0, 1, 2, 1, 2]
    assert expanded(program, [-1] * 13, [1] * 13) == [*step, *step, 3]
    assert entry_count(program) == 6
    assert leaf_count(program) == 4


def test_a_literal_record_stands_for_its_count() -> None:
    assert expanded(((-1, 2, 1, 2),), [3, 0, -1], [2, 1, 2]) == [3, 3, 0, 1, 1]


HOSTILE: dict[str, tuple[Program, str]] = {
    "no rules": ((), "program: has no rules"),
    "half a pair": (((0, 1, 1),), r"program\[0\]: is not pairs"),
    "empty motif": (((0, 4), ()), r"program\[1\]: is not pairs"),
    "no repeat": (((0, 0),), r"program\[0\] entry 0: repeats 0 times"),
    "negative repeat": (((0, 5, 1, -1),), r"program\[0\] entry 1: repeats -1 times"),
    "repeat beyond int64": (((0, 10**30),), r"program\[0\] entry 0: repeats 10+ times"),
    "unknown signature": (((4, 4),), r"program\[0\] entry 0: names signature 4 of 4"),
    "cycle to itself": (((-2, 1), (-2, 1)), r"program\[1\] entry 0: names rule 1, which does not come later"),
    "cycle": (((-2, 1), (-3, 1), (-2, 1)), r"program\[2\] entry 0: names rule 1"),
    "rule that is not there": (((-2, 1),), r"program\[0\] entry 0: names rule 1"),
    "literal in a motif": (((-2, 1), (-1, 4)), r"program\[1\] entry 0: is a literal stretch inside a motif"),
    "more events": (((0, 5),), r"program\[0\] entry 0: reaches more than the 4 events"),
    "fewer events": (((0, 3),), "program: makes 3 events where the canary states 4"),
    "literal that the table has not": (((-1, 5),), r"program\[0\] entry 0: takes 5 literal records"),
    "literal of records without signature": (((-1, 4),), "row 0 column signature: is null"),
    "bomb": ((*((-2 - i, 2**62) for i in range(400)), (0, 2**62)), r"program\[0\] entry 0: reaches more"),
}


@pytest.mark.parametrize(("program", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_programs_are_refused(program: Program, message: str) -> None:
    with pytest.raises(InputRefusal, match=message) as caught:
        expanded(program, [-1] * 4, [1] * 4)
    assert caught.value.exit_code == EXIT_REFUSED
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("program", "literal", "message"),
    [
        (((0, 4),), [-1, -1, 2, -1], "row 2 column signature: is given where the program says otherwise"),
        (((-1, 4),), [0, 1, 4, 0], "row 2 column signature: is 4 of 4 signatures"),
    ],
)
def test_the_signature_column_says_what_the_program_does_not(
    program: Program, literal: list[int], message: str
) -> None:
    with pytest.raises(InputRefusal, match=message):
        expanded(program, literal, [1] * 4)


def test_a_literal_must_begin_where_a_record_does() -> None:
    with pytest.raises(InputRefusal, match=r"program\[0\] entry 1: takes 1 literal records"):
        expanded(((0, 1, -1, 1),), [-1, 2], [2, 1])


def test_a_deep_chain_of_motifs_costs_only_its_events() -> None:
    depth = 20_000
    program = (*((-2 - i, 1) for i in range(depth)), (0, 100_000))
    tracemalloc.start()
    assert expanded(program, [-1] * 100_000, [1] * 100_000) == [0] * 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000
