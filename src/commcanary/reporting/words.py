"""How verdicts and numbers read: a status as words with a tone, a number with its sign and decimals."""

from __future__ import annotations

from enum import StrEnum


class Tone(StrEnum):
    """What a status means for the reader; each has a colour and, because colour alone says nothing, a mark."""

    GOOD = "good"
    CAUTION = "caution"
    BAD = "bad"
    NEUTRAL = "neutral"

    @property
    def mark(self) -> str:
        """The sign in front of a word of this tone."""
        return _MARKS[self]


_MARKS = {Tone.GOOD: "✓", Tone.CAUTION: "▲", Tone.BAD: "✕", Tone.NEUTRAL: "○"}

_TONES = {
    Tone.GOOD: (
        "pass",
        "behaviorally_verified",
        "source_verified",
        "full_source",
        "compatible",
        "stable",
        "lossless",
        "trusted",
    ),
    Tone.CAUTION: (
        "warn",
        "inconclusive",
        "incomparable",
        "unstable",
        "bimodal",
        "not_gated",
        "new",
        "gone",
        "behaviorally_unverified",
        "partial_source_verified",
        "partial_source",
        "mismatch",
        "not_trusted",
        "undecided",
    ),
    Tone.BAD: ("fail", "failed", "not_covered"),
}
_TONE_OF = {word: tone for tone, words in _TONES.items() for word in words}

MINUS = "\N{MINUS SIGN}"
ABSENT = "–"


def tone_of(status: str | None) -> Tone:
    """The tone of a status; one that is not known here is neutral, never good."""
    return _TONE_OF.get(status or "", Tone.NEUTRAL)


def in_words(status: str | None) -> str:
    """``behaviorally_verified`` -> ``behaviorally verified``; nothing -> ``not stated``."""
    return status.replace("_", " ") if status else "not stated"


def in_short(status: str | None) -> str:
    """The last word of a status: ``behaviorally_unverified`` -> ``unverified``."""
    return in_words(status).rpartition(" ")[2] if status else "not stated"


def count(value: int, one: str, many: str | None = None) -> str:
    """``1 event``, ``1,200 events``."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def latency(us: float | None) -> str:
    """Microseconds with three decimals and no unit: ``1,234.500``."""
    return ABSENT if us is None else f"{us:,.3f}".replace("-", MINUS)


def milliseconds(ns: float | None) -> str:
    """Nanoseconds as milliseconds with three decimals and no unit: ``1,234.500``."""
    return ABSENT if ns is None else f"{ns / 1e6:,.3f}".replace("-", MINUS)


def difference(value: float) -> str:
    """A difference with its sign and three decimals: ``+2.494``."""
    return f"{value:+,.3f}".replace("-", MINUS)


def change(percent: float | None) -> str:
    """A relative change with its sign: ``+40.4 %``, with two decimals under 1 %."""
    if percent is None:
        return "from 0"
    decimals = 1 if abs(percent) >= 1 or percent == 0 else 2
    text = f"{percent:+,.{decimals}f} %"
    return ("±0 %" if not text.strip("+-0. %") else text).replace("-", MINUS)


def number(value: float | None, decimals: int = 3) -> str:
    """A number with at most ``decimals`` decimals: ``55``, ``0.72``."""
    if value is None:
        return ABSENT
    return f"{value:,.{decimals}f}".rstrip("0").rstrip(".").replace("-", MINUS) if decimals else f"{value:,.0f}"


def share(percent: float | None) -> str:
    """A share in percent with two decimals and no unit: ``6.57``."""
    return ABSENT if percent is None else f"{percent:.2f}"


def seconds(value: float) -> str:
    """``0.42 s``, ``12.3 s``, ``3 min 05 s``."""
    if value < 60:
        return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def shortened(text: str, length: int) -> str:
    """``text`` in at most ``length`` characters; the middle gives way, because names differ at their ends."""
    if len(text) <= length:
        return text
    head = (length - 1) // 2
    return f"{text[:head]}…{text[len(text) - (length - 1 - head) :]}"
