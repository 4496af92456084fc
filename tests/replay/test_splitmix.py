"""The generator against published vectors, and the compiled form against the plain one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.replay import kernel_noise, noise
from commcanary.replay.splitmix import run_key, splitmix64, uniform

VECTOR_HASH = 0x4B236828735A48C1
VECTOR_COUNTER = 0x9DCB96901503B555


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0xE220A8397B1DCDAF),
        (1, 0x910A2DEC89025CC1),
        (0x0123456789ABCDEF, 0x157A3807A48FAA9D),
    ],
)
def test_published_outputs(value: int, expected: int) -> None:
    assert splitmix64(value) == expected
    assert int(kernel_noise.splitmix64(np.uint64(value))) == expected


def test_counter_and_draws_of_the_worked_vector() -> None:
    assert run_key(7, 0) ^ VECTOR_HASH == VECTOR_COUNTER
    draws = [uniform(VECTOR_COUNTER, lane) for lane in range(3)]
    assert draws == [0.7719554040930255, 0.3093742423955832, 0.8271257437621603]


def test_a_negative_seed_is_taken_modulo_two_to_the_64() -> None:
    assert run_key(-1, 3) == run_key(2**64 - 1, 3)


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1), st.floats(0, 1e6), st.floats(0, 1.5), st.integers(1, 30), st.booleans())
def test_compiled_noise_equals_the_definition(
    counter: int, skew: float, pressure: float, groups: int, tails: bool
) -> None:
    expected = noise.noise_us(counter, skew, pressure, groups, tails=tails)
    found = kernel_noise.noise_us(np.uint64(counter), 0.015 + skew / 180, 0.04 * (groups - 1), skew, pressure, tails)
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


def test_tails_are_rarer_than_their_cap_and_can_be_left_out() -> None:
    counters = [splitmix64(i) for i in range(2000)]
    tailed = sum(noise.noise_us(c, 1e6, 1.5, 9, tails=True) > 0.9 for c in counters)
    assert 0.25 * 2000 < tailed < 0.40 * 2000
    assert all(-0.45 <= noise.noise_us(c, 1e6, 1.5, 9, tails=False) < 0.9 for c in counters)
