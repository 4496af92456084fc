"""``commcanary export-param``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.say import say
from commcanary.cli.written import Written


def command(
    canary: Annotated[Path, typer.Argument(help="Canary to export.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write, .json."), Written(beside=".account.json")
    ],
    dtype: Annotated[str | None, typer.Option(help="Element type where the canary knows none.")] = None,
    skip_unsupported: Annotated[
        bool, typer.Option("--skip-unsupported", help="Leave out and count what has no equivalent.")
    ] = False,
) -> None:
    """Export a canary as a PARAM basic trace."""
    from commcanary.stages.export_param import account_path, export_param_stage

    account = export_param_stage(canary, output, dtype=dtype, skip_unsupported=skip_unsupported).account
    skipped = sum(row.events for row in account.skipped)
    say(
        f"exported {sum(account.exported.values())} of {account.events} events as "
        f"{sum(account.entries.values())} entries, skipped {skipped}; account in {account_path(output)}"
    )
