"""The columns of a text table, as its own heading names them."""

from __future__ import annotations

from dataclasses import dataclass

from commcanary.sources.nccl_tests.table import Row, Timing

_TIME = ("time", "cputime")
_WRONG = ("error", "#wrong", "wrong")
_ALWAYS = ("size", "count", "type")


class NotARow(ValueError):
    """The words of a line do not fit the table's columns."""


@dataclass(frozen=True)
class Layout:
    """Names of the columns in order; ``timestamp`` takes two words of a row, every other column one."""

    names: tuple[str, ...]

    @staticmethod
    def of(line: str) -> Layout | None:
        """The layout of a heading line, None where the line is none."""
        words = line.lstrip("#").split()
        if not (line.lstrip().startswith("#") and tuple(words[:3]) == _ALWAYS and set(_TIME) & set(words)):
            return None
        return Layout(tuple(words))

    def row(self, words: list[str], place: str) -> Row:
        """The row that ``words`` are; raises ``NotARow`` saying what does not fit."""
        names = self._names_for(words)
        sides = _sides(names)
        values = dict(zip(names[: sides[0]], words[: sides[0]], strict=True))
        timings = [
            _timing(dict(zip(names[a:b], words[a:b], strict=True)))
            for a, b in zip(sides, [*sides[1:], len(names)], strict=True)
        ]
        if len(timings) == 1 and len(names) < len(self.names):
            timings.insert(0, None)  # a run that measures in place only leaves the first side blank
        reduction = values.get("redop")
        return Row(
            place,
            _whole(values["size"], "size"),
            _whole(values["count"], "count"),
            values["type"],
            None if reduction in (None, "none") else reduction,
            _whole(values["root"], "root") if "root" in values else None,
            timings[0],
            timings[1] if len(timings) > 1 else None,
        )

    def _names_for(self, words: list[str]) -> list[str]:
        names = [part for name in self.names for part in ([name, "time of day"] if name == "timestamp" else [name])]
        if len(words) == len(names):
            return names
        sides = _sides(names)
        if len(sides) == 2 and len(words) == len(names) - (sides[1] - sides[0]):
            return names[: sides[0]] + names[sides[1] :]
        raise NotARow(f"has {len(words)} values for {len(names)} columns")


def _sides(names: list[str]) -> list[int]:
    return [index for index, name in enumerate(names) if name in _TIME]


def _timing(values: dict[str, str]) -> Timing | None:
    time = next(values[name] for name in _TIME if name in values)
    algbw, busbw = values.get("algbw", ""), values.get("busbw", "")
    if {time, algbw, busbw} == {"N/A"}:
        return None
    wrong = next((values[name] for name in _WRONG if name in values), "N/A")
    return Timing(
        _number(time, "time"),
        _number(algbw, "algbw"),
        _number(busbw, "busbw"),
        None if wrong == "N/A" else _number(wrong, "wrong"),
    )


def _whole(text: str, column: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise NotARow(f"has {text!r} in the column {column}") from None


def _number(text: str, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise NotARow(f"has {text!r} in the column {column}") from None
