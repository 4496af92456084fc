"""Options that several commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commcanary.cli.written import Written
from commcanary.errors import UsageError
from commcanary.units import bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Output = Annotated[Path, typer.Option("-o", "--output", help="File to write: .json or .parquet."), Written()]
Assume = Annotated[
    list[str] | None,
    typer.Option(
        "--assume", metavar="FIELD=VALUE", help="Value in us in place of an unknown one; blocks the strong verdict."
    ),
]
Model = Annotated[str, typer.Option("--model", help="Replay model: scheduler-v4 or closed-loop-v1.")]

Phase = Annotated[str | None, typer.Option(help="Phase of every event, in place of annotations.")]
PhaseAnnotations = Annotated[list[str] | None, typer.Option(help="Annotation that is a phase; repeat for several.")]
AssumeSharedClock = Annotated[bool, typer.Option("--assume-shared-clock", help="The ranks' clocks are one.")]
EstimateClock = Annotated[bool, typer.Option("--estimate-clock", help="Fit the ranks' clocks from collectives.")]
ClockOffsets = Annotated[
    list[str] | None, typer.Option(metavar="RANK=US", help="Added to a rank's times; one for every rank.")
]
AssumeDefaultGroup = Annotated[
    bool, typer.Option("--assume-default-group", help="Calls without a group ran on the default group.")
]
Repair = Annotated[bool, typer.Option("--repair", help="Mend known faults of the profiler's JSON.")]
CommunicationKernels = Annotated[
    list[str] | None, typer.Option(metavar="FAMILY=REGEX", help="A further communication kernel; repeat.")
]


def without_effect(options: Mapping[str, object], why: str) -> None:
    """Raise ``UsageError`` naming the first option that was given and changes nothing, and ``why``.

    An option was given where its value is neither None nor False nor empty.
    """
    for option, value in options.items():
        if value is not None and value is not False and value != []:
            raise UsageError(f"{option} changes nothing: {why}")


def numbers(option: str, given: list[str] | None) -> dict[str, float]:
    """``["a=1", ...]`` as a dict.

    Raises ``UsageError`` naming the option and the pair that is not one, is not finite, or names what another did.
    """
    pairs: dict[str, float] = {}
    for pair in given or []:
        key, _, value = pair.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise UsageError(f"{option} {pair}: give NAME=NUMBER") from None
        if not math.isfinite(number):
            raise UsageError(f"{option} {pair}: give a finite number")
        if key in pairs:
            raise UsageError(f"{option} {pair}: {key} is given twice; give it once")
        pairs[key] = number
    return pairs


def assumption_lines(given: Mapping[str, float], used: Mapping[str, float]) -> list[str]:
    """What became of each ``--assume``: one for a known field changes nothing, and that is said."""
    return [
        f"assumed {field}={value} where it is unknown"
        if field in used
        else f"not assumed: {field} is known, so {value} stands nowhere"
        for field, value in sorted(given.items())
    ]


def byte_size(option: str, text: str) -> int:
    """Bytes of ``"96 MiB"`` and the like; raises ``UsageError`` naming the option."""
    try:
        return bytes_of(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
