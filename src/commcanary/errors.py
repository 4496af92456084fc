"""The exception tree. Each class fixes the exit code that a user sees.

| code | meaning |
|---:|---|
| 0 | done; a verdict of pass or warn |
| 1 | a valid negative verdict: evidence, its file is written |
| 2 | usage |
| 3 | input, unknown value, budget, integrity or I/O refusal; no output file |
| 4 | a captured child process failed |
| 130 | interrupted |
"""

from __future__ import annotations

from typing import ClassVar

EXIT_DONE = 0
EXIT_NEGATIVE_VERDICT = 1
EXIT_USAGE = 2
EXIT_REFUSED = 3
EXIT_CHILD_FAILED = 4
EXIT_INTERRUPTED = 130


_LONGEST_PART = 1000
"""Characters of a refusal's place, or of its finding and remedy: a value out of a file can be of any length."""


def one_line(text: str, longest: int) -> str:
    """``text`` as a terminal may show it: what is not printable escaped as in Python, a long middle left out.

    Control characters, line ends, bidirectional overrides and lone surrogates are not printable.
    """
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]} ... {len(text) - 2 * half} characters ... {text[-half:]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class CommCanaryError(Exception):
    """Root of everything this package raises on purpose; ``exit_code`` is what the process ends with."""

    exit_code: ClassVar[int] = EXIT_REFUSED

    @property
    def lines(self) -> tuple[str, ...]:
        """What is printed, a line each: one, unless what was refused is a list."""
        return (str(self),)


class UsageError(CommCanaryError):
    """The command line itself is wrong (unknown name, options that exclude each other)."""

    exit_code = EXIT_USAGE


class ChildFailed(CommCanaryError):
    """A process that the user asked us to run ended with an error."""

    exit_code = EXIT_CHILD_FAILED


class Refusal(CommCanaryError):
    """Something was refused rather than guessed: one line of place, finding and remedy.

    ``place`` says where inside the file (``events[3].bytes``), ``found`` what stands there and what is
    allowed, ``remedy`` what the user can do. ``file`` is filled in by the reader that knows the name.
    """

    def __init__(self, place: str, found: str, remedy: str, *, file: str | None = None) -> None:
        super().__init__(place, found, remedy)
        self.place = place
        self.found = found
        self.remedy = remedy
        self.file = file

    def in_file(self, file: str) -> Refusal:
        """Return this refusal, naming ``file`` unless a deeper reader already named one."""
        if self.file is None:
            self.file = file
        return self

    def __str__(self) -> str:
        parts = [part for part in (self.file, self.place, f"{self.found}; {self.remedy}") if part]
        return ": ".join(one_line(part.replace("\n", " "), _LONGEST_PART) for part in parts)


class InputRefusal(Refusal):
    """A value in an input file or an option is not one that the format allows."""


class UnknownValueRefusal(Refusal):
    """A stage needs a value that its input says is unknown; the remedy names what would supply it."""


class BudgetRefusal(Refusal):
    """A declared error budget cannot be met; the finding states the achieved number."""


class IntegrityRefusal(Refusal):
    """Two things that must agree do not: a digest, a recomputed number, an identity."""


class StorageRefusal(Refusal):
    """A file cannot be read or written."""
