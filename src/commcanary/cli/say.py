"""Everything that a command prints goes through here: a line stays one line, whatever names a file put into it."""

from __future__ import annotations

import sys

from commcanary.errors import one_line

_LONGEST_LINE = 4000


def say(line: object) -> None:
    """Print ``line`` on stdout, its control characters escaped."""
    print(one_line(str(line), _LONGEST_LINE))


def complain(line: object) -> None:
    """Print ``line`` on stderr, its control characters escaped."""
    print(one_line(str(line), _LONGEST_LINE), file=sys.stderr)
