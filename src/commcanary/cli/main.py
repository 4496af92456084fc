"""``commcanary``: commands assembled, errors turned into one line and an exit code."""

from __future__ import annotations

import sys
import traceback
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from commcanary import __version__
from commcanary.cli.checked import checked
from commcanary.cli.limited import limited
from commcanary.cli.say import complain
from commcanary.cli.usage_errors import said
from commcanary.errors import EXIT_INTERRUPTED, EXIT_REFUSED, EXIT_USAGE, CommCanaryError

_CommandLineError: Any = typer.BadParameter.mro()[2]
"""Typer's ClickException, the root of all that is wrong with a command line; it exports only leaves of it."""

_COMMANDS = (
    "compile",
    "replay",
    "compare",
    "verify_report",
    "verify_source",
    "verify_behavior",
    "reduce",
    "baseline",
    "import_kineto",
    "import_nsys",
    "import_chakra",
    "import_flight_recorder",
    "import_nccl_inspector",
    "import_nccl_log",
    "reconcile",
    "overlap",
    "capture",
    "calibrate",
    "whatif",
    "overlap_study",
    "export_param",
    "show",
    "convert",
    "synth",
)
"""Each a module of this package with a function ``command``."""

app = typer.Typer(
    name="commcanary",
    help="Distil a profile of a distributed job into a canary; replay, compare and check it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    _debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a refusal.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""


@cache
def _assemble() -> None:
    for name in _COMMANDS:
        app.command(name.replace("_", "-"))(limited(checked(import_module(f"commcanary.cli.{name}").command)))
    campaign = import_module("commcanary.cli.campaign").app
    for info in campaign.registered_commands:
        info.callback = limited(checked(info.callback))
    app.add_typer(campaign, name="campaign")


def main(arguments: list[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command; the exit code of the table in ``errors``."""
    _assemble()
    try:
        code = app(arguments, prog_name="commcanary", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (typer.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except _CommandLineError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # no command: the help is what was asked for
            return EXIT_USAGE
        complain(f"commcanary: {said(error)}")
        return EXIT_USAGE
    except CommCanaryError as error:
        if "--debug" in arguments:
            traceback.print_exc()
        first, *more = error.lines
        for line in (f"commcanary: {first}", *more):
            complain(line)
        return error.exit_code
    except Exception as error:
        if "--debug" in arguments:
            raise
        found = " ".join(f"{type(error).__name__}: {error}".split())
        complain(f"commcanary: internal fault ({found}); run it with --debug and report what that shows")
        return EXIT_REFUSED
