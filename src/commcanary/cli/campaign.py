"""``commcanary campaign``: write a configuration, run it, see how far it is, seal it, check the seal, export it."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commcanary.cli.engine_progress import EngineProgress
from commcanary.cli.progress import working
from commcanary.cli.say import complain, say
from commcanary.cli.written import Written
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT, EXIT_REFUSED
from commcanary.units import show_count

if TYPE_CHECKING:
    from collections.abc import Sequence

Results = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the campaign: results/NAME.")]

app = typer.Typer(help="Whole campaigns.", no_args_is_help=True)


@app.command("new")
def new(
    profiles: Annotated[list[Path], typer.Option("--from", help="Profiles or traces; repeat, one per rank.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Configuration file to write, .yaml."), Written()],
    more: Annotated[list[Path] | None, typer.Argument(help="Further profiles.")] = None,
) -> None:
    """Write a runnable, commented configuration for your own profiles."""
    from commcanary.stages.new_campaign import new_campaign_stage

    name = new_campaign_stage([*profiles, *(more or [])], output)
    say(f"wrote {output}: campaign {name}; run it with: commcanary campaign run {shlex.quote(str(output))}")


@app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": False})
def run(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Configuration file.")],
    profile: Annotated[str, typer.Option(help="Engine profile: a folder of profiles/, or any folder.")] = "default",
) -> int:
    """Run a campaign, or resume it after a crash. Results go to results/ here; what follows -- to Snakemake.

    Where those arguments end the run early (a dry run, a target, --until) it says so and claims nothing.
    """
    from commcanary.campaign.engine import has_records, is_dry_run, note_records, run_engine
    from commcanary.campaign.plan import Plan
    from commcanary.stages.campaign_completion import why_incomplete
    from commcanary.stages.manifest import check_freeze

    plan = Plan.load(config)
    results = Path("results", plan.name)
    check_freeze(plan, results)
    everything = not has_records(Path.cwd(), plan) and why_incomplete(plan, results) is not None
    if everything:
        complain(
            f"campaign {plan.name}: the engine has no records of {results}: every job runs, cells that hold are kept"
        )
    started = time.time()
    with EngineProgress(f"campaign {plan.name}") as progress:
        try:
            code = run_engine(Path.cwd(), config, plan, profile, context.args, progress.watch, everything=everything)
        except KeyboardInterrupt:
            complain(f"campaign {plan.name}: interrupted; the same command goes on from here")
            raise
    if code != 0:
        _name_failures(results, started, progress.last_lines)
        raise SystemExit(EXIT_REFUSED if code == 1 else code)
    if is_dry_run(context.args):
        say(f"campaign {plan.name}: this was a dry run, nothing was made")
        return EXIT_DONE
    lacking = why_incomplete(plan, results)
    if lacking is None:
        if everything:
            note_records(Path.cwd(), plan)
        say(f"campaign {plan.name} is complete: {results}/report.html")
        return EXIT_DONE
    remedy = f"commcanary campaign status {results}"
    if progress.idle and not context.args:
        remedy = f"commcanary campaign run {shlex.quote(str(config))} -- --forceall"  # its records say otherwise
    say(f"campaign {plan.name} is not complete: {lacking}; {'make it again' if progress.idle else 'see'}: {remedy}")
    return EXIT_DONE if context.args else EXIT_NEGATIVE_VERDICT


@app.command("status")
def status(results: Results) -> int:
    """How far a campaign is: cells done, failed, missing and stale. Exits 0 where it is complete and sealed, else 1."""
    from commcanary.stages.campaign_status import campaign_status_stage

    found = campaign_status_stage(results)
    counts = ", ".join(f"{number} {state}" for state, number in found.counts.items())
    say(f"campaign {found.campaign}: {len(found.cells)} cells: {counts}; {found.unsealed or 'sealed'}")
    for cell in found.cells:
        if cell.why:
            say(f"- {cell.cell}: {cell.state}, {cell.why}")
    _listed("outputs missing", found.missing)
    for failure in found.failures:
        say(f"- failed: {failure}")
    _listed("files that the manifest does not know", found.unknown)
    return found.exit_code


@app.command("seal")
def seal(results: Results) -> None:
    """Seal a complete campaign whose results all follow from its inputs: digests of all outputs, one Merkle root."""
    from commcanary.reporting.derivations import reporting_derivations
    from commcanary.stages.seal import checked_seal_stage

    with working(f"deriving {results} again") as progress:
        sealed = checked_seal_stage(results, reporting_derivations, progress)
    say(f"sealed {len(sealed.files)} files of campaign {sealed.campaign}: root {sealed.merkle_root}")


@app.command("verify")
def verify(
    results: Results,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Derive only so many results again.  [default: all]")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of the sample's draw.  [default: at random]")
    ] = None,
) -> int:
    """Check a sealed campaign: hash every file again, derive every result from what it was made from."""
    from commcanary.reporting.derivations import reporting_derivations
    from commcanary.stages.verify_campaign import verify_campaign_stage

    with working(f"verifying {results}") as progress:
        found = verify_campaign_stage(results, reporting_derivations, sample=sample, seed=seed, progress=progress)
    held = "made by another version" if found.other_version else "holds"
    verdict = show_count(len(found.differs), "difference") if found.differs else held
    say(f"seal {found.root}: {verdict}; {found.files} files hashed, {found.derived} of {found.derivable} derived again")
    for line in (*found.differs, *(f"made by another version: {field}" for field in found.other_version)):
        say(f"- {line}")
    if found.not_derived:
        say(f"not derived, their sources lie elsewhere: {', '.join(found.not_derived)}")
    say(f"stated, not derived: {'; '.join(found.stated)}")
    if found.not_sealed:
        say(f"by-products, not sealed: {', '.join(found.not_sealed)}")
    return EXIT_NEGATIVE_VERDICT if found.differs or found.other_version else EXIT_DONE


@app.command("export-crate")
def export_crate(
    results: Results,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write, .zip."), Written()],
    license_url: Annotated[str, typer.Option("--license", help="URL of the licence that the results are under.")],
    author: Annotated[
        str | None, typer.Option(metavar='"NAME <URL>"', help="Who ran the campaign, with ORCID.")
    ] = None,
    organization: Annotated[
        str | None, typer.Option(metavar='"NAME <URL>"', help="The author's, which publishes, with ROR.")
    ] = None,
) -> None:
    """Export a sealed campaign as a Workflow Run RO-Crate: one zip of results, seal, workflow and a description."""
    from commcanary.stages.export_crate import export_crate_stage

    count = export_crate_stage(results, output, license_url, author, organization)
    say(f"wrote {output}: {count} files")


def _name_failures(results: Path, started: float, engine: Sequence[str]) -> None:
    """The jobs that failed in this run; where it was none, what the engine said last."""
    from commcanary.campaign.logs import ENGINE_LOG, unfinished_jobs

    named = False
    for job in unfinished_jobs(results, started):
        named = True
        complain(f"failed: {job.rule} {job.subject} ({job.log})")
        for line in job.last_lines:
            complain(f"  {line}")
    if not named and engine:
        complain(f"failed: the workflow engine ({results / ENGINE_LOG})")
        for line in engine:
            complain(f"  {line}")


def _listed(what: str, paths: tuple[str, ...]) -> None:
    if paths:
        more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
        say(f"{len(paths)} {what}: {', '.join(paths[:5])}{more}")
