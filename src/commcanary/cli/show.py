"""``commcanary show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.say import say


def command(
    artifact: Annotated[Path, typer.Argument(help="Any artifact.")],
    why: Annotated[bool, typer.Option("--why", help="Explain a verdict: rows, values, thresholds, command.")] = False,
) -> None:
    """Show what an artifact says."""
    from commcanary.artifacts.files import read_artifact
    from commcanary.cli.describe import describe
    from commcanary.stages.kinds import kind_of

    kind = kind_of(artifact)
    stored = read_artifact(artifact, kind)
    if why:
        from commcanary.judge.explain import explain

        for line in explain(stored.header, artifact):
            say(line)
        return
    describe(kind.name, stored)
