"""``commcanary convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.say import say
from commcanary.cli.written import Written


def command(
    source: Annotated[Path, typer.Argument(metavar="A", help="Artifact to read.")],
    output: Annotated[Path, typer.Argument(metavar="B", help="File to write, .json or .parquet."), Written()],
) -> None:
    """Write an artifact in the other container."""
    from commcanary.stages.convert import convert_stage

    content_id = convert_stage(source, output)
    say(f"wrote {output}: content id {content_id}")
