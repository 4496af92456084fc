"""What Typer finds wrong with a command line, as one line: the option, the value that it was given, what is allowed."""

from __future__ import annotations

from typing import Any, get_type_hints

from typer.models import OptionInfo

_NOT_A_NUMBER = {
    "int_parsing": "no whole number",
    "int_from_float": "no whole number",
    "int_parsing_size": "out of range",
    "float_parsing": "no number",
}
_OUT_OF_RANGE = {"greater_than_equal", "less_than_equal"}


def said(error: Any) -> str:
    """One line for an error of Typer, in place of its usage block."""
    command = "commcanary" if error.ctx is None else error.ctx.command_path
    found = _about_a_number(error) or " ".join(error.format_message().split())
    return f"{found} (try: {command} --help)"


def _about_a_number(error: Any) -> str | None:
    """What is said of a number that does not parse or lies out of range; None where it is something else."""
    faults = error.__cause__.errors() if hasattr(error.__cause__, "errors") else []
    if not faults:
        return None
    kind, value = faults[0]["type"], faults[0]["input"]
    if kind not in _OUT_OF_RANGE and kind not in _NOT_A_NUMBER:
        return None
    found = "out of range" if kind in _OUT_OF_RANGE else _NOT_A_NUMBER[kind]
    shown = str(value)[:60] if kind in _OUT_OF_RANGE else repr(str(value)[:60])
    return f"{error.param.opts[0]}: {shown} is {found}; give {_allowed(error, found)}"


def _allowed(error: Any, found: str) -> str:
    hint = get_type_hints(error.ctx.command.callback, include_extras=True)[error.param.name]
    info = next((part for part in getattr(hint, "__metadata__", ()) if isinstance(part, OptionInfo)), None)
    low, high = (None, None) if info is None else (info.min, info.max)
    kind = "a number" if found == "no number" else "a whole number"
    if low is None and high is None:
        return kind
    kind = "a whole number" if isinstance(low if low is not None else high, int) else "a number"
    if high is None:
        return f"{kind} of {_short(low)} or more"
    if low is None:
        return f"{kind} of {_short(high)} or less"
    return f"{kind} from {_short(low)} to {_short(high)}"


def _short(bound: object) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)
