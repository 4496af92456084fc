"""A profile's text, decoded in slices of its event array, so that memory does not grow with the file.

A slice ends between two events: at a guessed border that decoding proves, else where ``last_border`` finds
one (``artifacts.json_slices``).
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from commcanary.artifacts.json_slices import guessed_border, last_border
from commcanary.errors import InputRefusal
from commcanary.sources.kineto.document import Ending, Event, ExactEnding, ExactEvent, Head

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_BYTES = 4 << 20
"""Small enough for a processor's cache: 16 MB take a quarter longer."""
LARGEST_EXACT_FLOAT_US = 2.0**43
"""Up to here a float64 of microseconds still tells nanoseconds apart."""

_TIME = attrgetter("ts")
_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_MALFORMED = re.compile(r"JSON is malformed: (?P<what>.*) \(byte (?P<byte>\d+)\)")
_AT_EVENT = re.compile(r"(?P<what>.*?) - at (?:`key` in )?`\$(?:\.traceEvents)?\[(?P<event>\d+)\]\.?(?P<where>.*)`\Z")


class ProfileText:
    """The events of a profile as lists, and afterwards its ``head``.

    Raises ``InputRefusal`` with line and column of malformed text, or the number of an ill-typed event.
    """

    def __init__(self, stream: BinaryIO, slice_bytes: int = SLICE_BYTES) -> None:
        self.head = Head()
        self.exact = False
        self._stream = stream
        self._slice_bytes = slice_bytes
        self._buffer = b""
        self._ended = False
        self._line = 1
        self._column = 1
        self._events_before = 0

    def slices(self) -> Iterator[list[Any]]:
        """Lists of ``Event`` or ``ExactEvent`` in file order."""
        opening = self._open_array()
        while True:
            self._fill(self._slice_bytes)
            if self._ended:
                yield self._decode_ending(opening, self._buffer)
                return
            guess = guessed_border(self._buffer)
            events = None if guess is None else self._try_events(guess)
            if events is None:
                guess, array_ends = last_border(self._buffer)
                if array_ends:
                    self._fill(None)
                    continue
                if guess is None:
                    self._slice_bytes *= 2
                    continue
                events = self._decode_events(guess)
            assert guess is not None
            self._consume(guess + 1)
            self._events_before += len(events)
            yield events

    def _open_array(self) -> bytes:
        """Consume the text before the first event; the bytes that open an equal container."""
        self._fill(self._slice_bytes)
        if not self._buffer.strip():
            raise InputRefusal("", "the file is empty", "copy or export it again")
        if self._buffer.lstrip()[:1] == b"[":
            self._consume(self._buffer.index(b"[") + 1)
            return b"["
        searched = 0
        while True:
            for match in _EVENTS_KEY.finditer(self._buffer, searched):
                opening = self._buffer[: match.start()] + b'"":0}'
                if _is_object(opening):
                    self.head = self._decode(opening, Head, 0)
                    self._consume(match.end())
                    return b'{"traceEvents":['
            if self._ended:
                self._refuse_without_events()
            searched = max(0, len(self._buffer) - 64)
            self._fill(len(self._buffer) + self._slice_bytes)

    def _refuse_without_events(self) -> None:
        head = self._decode(self._buffer, Head, 0)
        if bytes(head.nodes):
            raise InputRefusal(
                "nodes",
                f"this is an execution trace (schema {head.schema}), not a profile",
                "give the file that torch.profiler's export_chrome_trace wrote",
            )
        raise InputRefusal(
            "traceEvents",
            "is missing, so this is no profile",
            "give the file that torch.profiler's export_chrome_trace wrote",
        )

    def _try_events(self, end: int) -> list[Any] | None:
        try:
            return self._decode_events(end)
        except InputRefusal:
            return None

    def _decode_events(self, end: int) -> list[Any]:
        text = b"".join((b"[", memoryview(self._buffer)[:end], b"]"))
        if not self.exact:
            events: list[Any] = self._decode(text, list[Event], 1)
            if not _needs_exact_times(events):
                return events
            self.exact = True
        return self._decode(text, list[ExactEvent], 1)  # type: ignore[no-any-return]

    def _decode_ending(self, opening: bytes, rest: bytes) -> list[Any]:
        text = opening + rest
        if opening == b"[":
            return self._decode_events_of_array(text)
        kinds = (ExactEnding,) if self.exact else (Ending, ExactEnding)
        for kind in kinds:
            ending = self._decode(text, kind, len(opening))
            if kind is ExactEnding or not _needs_exact_times(ending.traceEvents):
                break
            self.exact = True
        self.head = self.head.updated(ending)
        return list(ending.traceEvents)

    def _decode_events_of_array(self, text: bytes) -> list[Any]:
        if not self.exact:
            events: list[Any] = self._decode(text, list[Event], 1)
            if not _needs_exact_times(events):
                return events
            self.exact = True
        return self._decode(text, list[ExactEvent], 1)  # type: ignore[no-any-return]

    def _decode(self, text: bytes, kind: Any, added: int) -> Any:
        """Decode ``text``, whose first ``added`` bytes are not the file's."""
        try:
            if not text.isascii():
                text.decode("utf-8")
            return msgspec.json.decode(text, type=kind)
        except msgspec.ValidationError as error:
            raise self._wrong_value(str(error)) from error
        except UnicodeDecodeError as error:
            raise InputRefusal(
                self._place(text, error.start, added),
                f"byte 0x{text[error.start]:02x} is not UTF-8",
                "correct the text there or export the file again",
            ) from error
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._malformed(str(error), text, added) from error

    def _wrong_value(self, message: str) -> InputRefusal:
        match = _AT_EVENT.match(message)
        if match is None:
            return InputRefusal("top level", message, "export the profile again")
        number = self._events_before + int(match["event"])
        place = f"traceEvents[{number}]" + (f".{match['where']}" if match["where"] else "")
        return InputRefusal(place, match["what"], "export the profile again")

    def _malformed(self, message: str, text: bytes, added: int) -> InputRefusal:
        match = _MALFORMED.match(message)
        if match is None:
            what = "the JSON text ends too early" if "truncated" in message else message
            return InputRefusal(
                self._place(text, len(text), added), what, "the profiler was cut off; copy or export again"
            )
        return InputRefusal(
            self._place(text, int(match["byte"]), added),
            f"not valid JSON ({match['what']})",
            "an unescaped quote or backslash is the usual cause; correct it there, or try --repair",
        )

    def _place(self, text: bytes, offset: int, added: int) -> str:
        before = text[added:offset]
        lines = before.count(b"\n")
        column = len(before) - before.rfind(b"\n") if lines else self._column + len(before)
        return f"line {self._line + lines} column {column}"

    def _fill(self, size: int | None) -> None:
        """Read until the buffer holds ``size`` bytes, or everything."""
        parts = [self._buffer]
        missing = None if size is None else size - len(self._buffer)
        while not self._ended and (missing is None or missing > 0):
            part = self._stream.read(-1 if missing is None else missing)
            self._ended = not part or missing is None
            parts.append(part)
            missing = None if missing is None else missing - len(part)
        self._buffer = b"".join(parts)

    def _consume(self, count: int) -> None:
        lines = self._buffer.count(b"\n", 0, count)
        if lines:
            self._line += lines
            self._column = count - self._buffer.rfind(b"\n", 0, count)
        else:
            self._column += count
        self._buffer = self._buffer[count:]


def _is_object(text: bytes) -> bool:
    """Whether ``text`` is one JSON object; only then does the key behind it stand in the outermost object."""
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _needs_exact_times(events: list[Any]) -> bool:
    try:
        stamps = list(map(_TIME, events))
        if min(stamps, default=0) > -LARGEST_EXACT_FLOAT_US and max(stamps, default=0) < LARGEST_EXACT_FLOAT_US:
            return False
    except TypeError:  # an event without a time
        pass
    times = [event.ts for event in events if type(event.ts) is float]
    return bool(times) and not (max(times) < LARGEST_EXACT_FLOAT_US and min(times) > -LARGEST_EXACT_FLOAT_US)
