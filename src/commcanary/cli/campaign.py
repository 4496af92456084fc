"""``commcanary campaign``: write a configuration, run it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.errors import EXIT_REFUSED

app = typer.Typer(help="Whole campaigns.", no_args_is_help=True)


@app.command("new")
def new(
    profiles: Annotated[list[Path], typer.Option("--from", help="Profiles or traces; repeat, one per rank.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Configuration file to write, .yaml.")],
    more: Annotated[list[Path] | None, typer.Argument(help="Further profiles.")] = None,
) -> None:
    """Write a runnable, commented configuration for your own profiles."""
    from commcanary.stages.new_campaign import new_campaign_stage

    name = new_campaign_stage([*profiles, *(more or [])], output)
    print(f"wrote {output}: campaign {name}; run it with: commcanary campaign run {output}")


@app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": False})
def run(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Configuration file.")],
    profile: Annotated[str, typer.Option(help="Engine profile: a folder of profiles/, or any folder.")] = "default",
) -> None:
    """Run a campaign, or resume it after a crash. Results go to results/ here; what follows -- to Snakemake."""
    from commcanary.campaign.engine import run_engine
    from commcanary.campaign.plan import Plan
    from commcanary.stages.manifest import check_freeze

    plan = Plan.load(config)
    check_freeze(plan, Path("results", plan.name))
    code = run_engine(Path.cwd(), config, profile, context.args)
    if code != 0:
        raise SystemExit(EXIT_REFUSED if code == 1 else code)
    print(f"campaign {plan.name} is complete: results/{plan.name}/report.html")
