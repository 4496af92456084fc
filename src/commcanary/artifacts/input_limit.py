"""How large an input may be, decompressed: one limit for every file that any command reads.

It is set by ``commcanary COMMAND --max-input-bytes N``, or by the environment variable
``COMMCANARY_MAX_INPUT_BYTES``, which also reaches the jobs of a campaign.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commcanary.errors import BudgetRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENT = "COMMCANARY_MAX_INPUT_BYTES"
DEFAULT_MAX_INPUT_BYTES = 4 * 2**30
LARGEST_LIMIT = 10**18 - 1


def max_input_bytes() -> int:
    """The limit in bytes; raises ``UsageError`` where the environment variable is not a number above 0."""
    given = os.environ.get(ENVIRONMENT)
    if given is None:
        return DEFAULT_MAX_INPUT_BYTES
    if not given.isascii() or not given.isdigit() or len(given) > 18 or int(given) == 0:
        raise UsageError(f"{ENVIRONMENT} is {given!r}; give a number of bytes from 1 to {LARGEST_LIMIT}")
    return int(given)


@contextmanager
def input_limit(count: int | None) -> Iterator[None]:
    """Set the limit while a command runs, for the processes that it starts too; None leaves it as it is."""
    before = os.environ.get(ENVIRONMENT)
    if count is not None:
        os.environ[ENVIRONMENT] = str(count)
    try:
        yield
    finally:
        if before is not None:
            os.environ[ENVIRONMENT] = before
        elif count is not None:
            os.environ.pop(ENVIRONMENT, None)


def check_input_bytes(count: int, what: str, *, file: str | None = None) -> None:
    """Raise ``BudgetRefusal`` where ``count`` bytes are more than the limit; ``what`` says what takes them."""
    limit = max_input_bytes()
    if count > limit:
        raise BudgetRefusal(
            "",
            f"{what} {count:,} bytes, more than the {limit:,} that an input may have",
            "allow more with --max-input-bytes if the file is what you think it is",
            file=file,
        )
