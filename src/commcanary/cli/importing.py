"""What commands that import have in common: options of ranks and kernels, and what is told at the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commcanary.cli.options import numbers
from commcanary.cli.say import say
from commcanary.errors import UsageError

if TYPE_CHECKING:
    from commcanary.sources.calls.imported import Imported
    from commcanary.timeline.communication_kernels import KernelRule


def told(imported: Imported) -> None:
    """Print the summary, the counts that were held against each other, and what the trace does not know."""
    say(imported.summary)
    for line in imported.counts:
        say(line)
    for field, reason in imported.trace.header.unknown.items():
        say(f"unknown {field}: {reason}")


def offsets_of_ranks(given: list[str] | None) -> dict[int, float]:
    """Microseconds by rank out of ``RANK=US`` texts; ``UsageError`` for a text that is none."""
    offsets = {}
    for rank, us in numbers("--clock-offset-us", given).items():
        if not rank.isdecimal():
            raise UsageError(f"--clock-offset-us {rank}={us}: give RANK=US with a rank number")
        if int(rank) in offsets:
            raise UsageError(f"--clock-offset-us {rank}={us}: rank {int(rank)} is given twice; give it once")
        offsets[int(rank)] = us
    return offsets


def kernel_rules(given: list[str] | None) -> tuple[KernelRule, ...]:
    """Rules of communication kernels out of ``FAMILY=REGEX`` texts; ``UsageError`` for a text that is none."""
    from commcanary.timeline.communication_kernels import KernelRule

    rules = []
    for text in given or []:
        family, separator, pattern = text.partition("=")
        if not separator:
            raise UsageError(f"--communication-kernel {text}: give FAMILY=REGEX")
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"--communication-kernel {text}: {error}") from None
        rules.append(KernelRule(family, pattern))
    return tuple(rules)
