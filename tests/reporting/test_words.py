"""How statuses and numbers read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.reporting import words
from commcanary.reporting.words import Tone


@pytest.mark.parametrize(
    ("status", "tone"),
    [
        ("pass", Tone.GOOD),
        ("behaviorally_verified", Tone.GOOD),
        ("full_source", Tone.GOOD),
        ("warn", Tone.CAUTION),
        ("inconclusive", Tone.CAUTION),
        ("behaviorally_unverified", Tone.CAUTION),
        ("partial_source_verified", Tone.CAUTION),
        ("fail", Tone.BAD),
        ("failed", Tone.BAD),
        ("not_covered", Tone.BAD),
        ("something_new", Tone.NEUTRAL),
        (None, Tone.NEUTRAL),
    ],
)
def test_a_status_has_a_tone_and_an_unknown_one_is_never_good(status: str | None, tone: Tone) -> None:
    assert words.tone_of(status) is tone


def test_every_tone_has_its_own_mark() -> None:
    assert len({tone.mark for tone in Tone}) == len(Tone)


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (words.in_words, "partial_source_verified", "partial source verified"),
        (words.in_words, None, "not stated"),
        (words.in_short, "behaviorally_unverified", "unverified"),
        (words.latency, 1234.5, "1,234.500"),
        (words.latency, -0.25, "−0.250"),
        (words.latency, None, "–"),
        (words.change, 40.44, "+40.4 %"),
        (words.change, -0.19, "−0.19 %"),
        (words.change, 0.0, "±0 %"),
        (words.change, -0.0001, "±0 %"),
        (words.change, 1234.5, "+1,234.5 %"),
        (words.change, None, "from 0"),
        (words.difference, 2.4939, "+2.494"),
        (words.difference, -2.4939, "−2.494"),
        (words.number, 55.0, "55"),
        (words.number, 100.0, "100"),
        (words.number, 0.72, "0.72"),
        (words.number, -1.0, "−1"),
        (words.number, None, "–"),
        (words.share, 0.0, "0.00"),
        (words.share, None, "–"),
        (words.seconds, 0.419, "0.42 s"),
        (words.seconds, 12.34, "12.3 s"),
        (words.seconds, 185.0, "3 min 05 s"),
    ],
)
def test_how_it_reads(function: object, value: object, text: str) -> None:
    assert callable(function)
    assert function(value) == text


def test_counts_have_a_plural() -> None:
    assert words.count(1, "event") == "1 event"
    assert words.count(1200, "event") == "1,200 events"
    assert words.count(0, "entry", "entries") == "0 entries"


@given(st.text(max_size=80), st.integers(3, 60))
def test_a_shortened_text_fits_and_keeps_both_ends(text: str, length: int) -> None:
    short = words.shortened(text, length)
    assert len(short) <= length
    if len(text) > length:
        head, _, tail = short.partition("…") if "…" not in text else (short[: (length - 1) // 2], "", "")
        assert text.startswith(head)
        assert text.endswith(tail)
    else:
        assert short == text
