"""The program found is the sequence given, whatever repeats in it, and short where it repeats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.program import Program, entry_count, expand
from commcanary.compile.compiler import literal_records
from commcanary.compile.motifs import build_program


def rebuilt(program: Program, sequence: list[int], counts: list[int]) -> list[int]:
    """Expand ``program``; its literal records take their signature from the sequence."""
    count = np.asarray(counts, np.int64)
    first = np.cumsum(count) - count
    said = np.where(literal_records(program, count), np.asarray(sequence, np.int64)[first], -1)
    return expand(program, said, count, max(sequence) + 1, len(sequence)).tolist()


def program_of(sequence: list[int], counts: list[int] | None = None) -> Program:
    count = np.ones(len(sequence), np.int64) if counts is None else np.asarray(counts, np.int64)
    return build_program(np.asarray(sequence, np.int32), np.repeat(np.arange(len(count)), count))


def flattened(rng: np.random.Generator, depth: int, symbols: int) -> list[int]:
    """A sequence with motifs inside motifs, whose members may repeat, and noise between."""
    if depth == 0:
        return [int(rng.integers(symbols))] * int(rng.integers(1, 4))
    pieces = [flattened(rng, depth - 1, symbols) for _ in range(int(rng.integers(1, 4)))]
    chosen = [pieces[int(rng.integers(len(pieces)))] for _ in range(int(rng.integers(1, 4)))]
    body = [value for piece in chosen for value in piece]
    return body * int(rng.integers(1, 5))


def random_sequence(rng: np.random.Generator) -> list[int]:
    symbols = int(rng.integers(1, 6))
    parts: list[int] = []
    for _ in range(int(rng.integers(1, 5))):
        if rng.random() < 0.3:
            parts += rng.integers(0, symbols, int(rng.integers(1, 30))).tolist()
        else:
            parts += flattened(rng, int(rng.integers(1, 4)), symbols)
    return parts[:2000]


def test_thousands_of_random_programs() -> None:
    rng = np.random.default_rng(5)
    for _ in range(3000):
        sequence = random_sequence(rng)
        assert rebuilt(program_of(sequence), sequence, [1] * len(sequence)) == sequence


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60))
def test_any_sequence_of_few_symbols(sequence: list[int]) -> None:
    assert rebuilt(program_of(sequence), sequence, [1] * len(sequence)) == sequence


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=12), st.data())
def test_records_of_several_events(runs: list[tuple[int, int, int]], data: st.DataObject) -> None:
    sequence: list[int] = []
    counts: list[int] = []
    for signature, first, second in runs * data.draw(st.integers(1, 4)):
        sequence += [signature] * (first + second)
        counts += [first, second]
    assert rebuilt(program_of(sequence, counts), sequence, counts) == sequence


def training(steps: int, layers: int, operations: int) -> list[int]:
    """``steps`` steps of ``layers`` equal layers of ``operations`` different operations, after one loader event."""
    return ([operations] + list(range(operations)) * layers) * steps


@pytest.mark.parametrize("operations", [1, 2, 5, 12])
@pytest.mark.parametrize("layers", [2, 7, 32])
@pytest.mark.parametrize("steps", [2, 3, 10, 100])
def test_steps_of_layers_cost_only_their_operations(steps: int, layers: int, operations: int) -> None:
    sequence = training(steps, layers, operations)
    program = program_of(sequence)
    assert rebuilt(program, sequence, [1] * len(sequence)) == sequence
    assert entry_count(program) <= operations + 10
    assert program_of(training(2 * steps, layers, operations)) == doubled(program)


def doubled(program: Program) -> Program:
    """The same program with its last repeat doubled."""
    return ((*program[0][:-1], 2 * program[0][-1]), *program[1:])


@pytest.mark.parametrize("steps", [4, 8, 16])
def test_prologue_and_epilogue_do_not_hide_the_steps(steps: int) -> None:
    sequence = [9, 8, 7, *training(steps, 6, 3), 8, 9]
    program = program_of(sequence)
    assert rebuilt(program, sequence, [1] * len(sequence)) == sequence
    assert entry_count(program) <= 3 + 10


def test_a_phase_that_comes_back_later_is_written_once() -> None:
    rng = np.random.default_rng(1)
    phase = rng.integers(0, 40, 400).tolist()
    noise = [rng.integers(40, 60, 500).tolist() for _ in range(5)]
    sequence = [v for part in noise for v in (*part, *phase)]
    program = program_of(sequence)
    assert rebuilt(program, sequence, [1] * len(sequence)) == sequence
    assert entry_count(program) < 2 * len(phase)


def test_a_sequence_without_repeats_is_one_literal() -> None:
    sequence = np.random.default_rng(2).permutation(5000).tolist()
    assert program_of(sequence) == ((-1, 5000),)


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_short_sequences(length: int) -> None:
    for sequence in ([0] * length, list(range(length)), [i % 2 for i in range(length)]):
        assert rebuilt(program_of(sequence), sequence, [1] * length) == sequence


def test_adversarial_words_stay_exact() -> None:
    """Words whose repeats overlap at every scale."""
    fibonacci = [[0], [0, 1]]
    while len(fibonacci[-1]) < 3000:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    thue_morse = [bin(i).count("1") % 2 for i in range(4096)]
    powers = [v for i in range(1, 60) for v in [0] * i + [1]]
    for sequence in (fibonacci[-1], thue_morse, powers):
        assert rebuilt(program_of(sequence), sequence, [1] * len(sequence)) == sequence
