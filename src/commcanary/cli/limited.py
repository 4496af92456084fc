"""``--max-input-bytes``: one option that every command has, added where commands are assembled."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from commcanary.artifacts.input_limit import DEFAULT_MAX_INPUT_BYTES, LARGEST_LIMIT, input_limit

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = "max_input_bytes"
_MaxInputBytes = Annotated[
    int | None,
    typer.Option(
        "--max-input-bytes",
        min=1,
        max=LARGEST_LIMIT,
        show_default=False,
        metavar="N",
        help=f"Refuse an input larger than this, decompressed.  [default: {DEFAULT_MAX_INPUT_BYTES}]",
    ),
]


def limited(command: Callable[..., Any]) -> Callable[..., Any]:
    """``command`` with the option: while it runs, no input may be larger."""

    @wraps(command)
    def with_limit(*arguments: Any, **options: Any) -> Any:
        with input_limit(options.pop(_NAME)):
            return command(*arguments, **options)

    hints = {**get_type_hints(command, include_extras=True), _NAME: _MaxInputBytes}
    own = [given.replace(annotation=hints[name]) for name, given in inspect.signature(command).parameters.items()]
    option = inspect.Parameter(_NAME, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_MaxInputBytes)
    with_limit.__signature__ = inspect.Signature([*own, option])  # type: ignore[attr-defined]
    with_limit.__annotations__ = hints
    return with_limit
