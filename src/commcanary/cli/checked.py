"""What is checked of every command's options, in one place: files, numbers, and whose fault a refused setting is."""

from __future__ import annotations

import inspect
import math
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from typer.models import OptionInfo, ParameterInfo

from commcanary.cli.written import Written, check_written
from commcanary.errors import InputRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LARGEST_NUMBER = 1e15
"""Of any option: as microseconds 31 years."""

_OPTION_OF_SETTING = {"seeds": "seed", "ablations": "ablate"}
"""Parameters that have another name than the setting that they fill."""


def checked(command: Callable[..., Any]) -> Callable[..., Any]:
    """``command``, which starts only where no file would be written over another and every number is finite.

    A setting that is refused under the name of one of the command's options is the command line's fault, so it
    ends as a ``UsageError``; what a file holds is refused with the name of that file.
    """
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    names = {name: _shown(name, hints[name]) for name in signature.parameters}
    marks = {name: _mark(hints[name]) for name in signature.parameters}

    @wraps(command)
    def with_checks(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            _check_numbers(names[name], value)
        check_written({names[name]: (value, marks[name]) for name, value in bound.arguments.items()})
        try:
            return command(*arguments, **options)
        except InputRefusal as refusal:
            option = None if refusal.file is not None else _option(refusal.place, names)
            if option is None:
                raise
            raise UsageError(f"{option}: {refusal.found}; {refusal.remedy}") from refusal

    return with_checks


def _check_numbers(name: str, value: object) -> None:
    for number in value if isinstance(value, list | tuple) else (value,):
        if isinstance(number, float) and not (math.isfinite(number) and abs(number) <= LARGEST_NUMBER):
            raise UsageError(f"{name} {number}: give a finite number of {LARGEST_NUMBER:g} at most")


def _option(place: str, names: Mapping[str, str]) -> str | None:
    """The option that a setting's ``place`` came from: ``seeds[1]`` is of ``--seed``."""
    setting = place.partition("[")[0]
    option = names.get(_OPTION_OF_SETTING.get(setting, setting))
    return option if option is not None and option.startswith("--") else None


def _shown(name: str, hint: Any) -> str:
    """What a user calls the parameter: its longest ``--name``, or an argument's name in capitals."""
    info = next((part for part in getattr(hint, "__metadata__", ()) if isinstance(part, ParameterInfo)), None)
    if isinstance(info, OptionInfo):
        # in Annotated, Typer takes the first name for a default
        names = [text for text in (info.default, *(info.param_decls or ())) if str(text).startswith("--")]
        return str(names[0]) if names else f"--{name.replace('_', '-')}"
    return str(getattr(info, "metavar", None) or name.upper()).removeprefix("-- ")


def _mark(hint: Any) -> Written | None:
    return next((part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Written)), None)
