"""Pickles of plain data, read without running what is in them.

A pickle is a program. Two fences, either of which would do: only the instructions that build numbers, texts, lists,
tuples and mappings may be in it, and a class or function is never looked up. Sizes are bounded by the file's own,
for a few bytes can ask for gigabytes of memory, or name one list inside itself so often that walking it never ends.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import TYPE_CHECKING, Any

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Callable

PROTOCOL = b"\x80"
"""First byte of every pickle that PyTorch writes."""

DEEPEST = 16
"""Levels of lists and mappings; a dump has five."""

VALUES_PER_BYTE = 64
"""A dump names frames that entries share by two bytes each, so it may stand for more values than it has bytes."""

_WIDEST_NUMBER = 16
"""Bytes of a whole number; time stamps take eight."""

_HARMLESS = frozenset(
    {
        "PROTO",
        "FRAME",
        "STOP",
        "MARK",
        "NONE",
        "NEWTRUE",
        "NEWFALSE",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG1",
        "BINFLOAT",
        "SHORT_BINUNICODE",
        "BINUNICODE",
        "BINUNICODE8",
        "EMPTY_DICT",
        "EMPTY_LIST",
        "EMPTY_TUPLE",
        "TUPLE",
        "TUPLE1",
        "TUPLE2",
        "TUPLE3",
        "APPEND",
        "APPENDS",
        "SETITEM",
        "SETITEMS",
        "MEMOIZE",
        "BINPUT",
        "LONG_BINPUT",
        "BINGET",
        "LONG_BINGET",
    }
)
"""Instructions that build plain data. Not among them: all that names, calls or builds an object."""


class _Plain(pickle.Unpickler):
    """Looks nothing up: neither classes nor functions nor persistent objects."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError(f"it names the persistent object {pid!r:.40}")


def plain_pickle(data: bytes) -> Any:
    """The plain data in the pickle ``data``: mappings with texts as keys, lists, texts, numbers, booleans, None.

    Raises ``InputRefusal`` for a pickle that would run code, is damaged, or stands for more values than it can hold.
    """
    _check_instructions(data)
    try:
        value = _Plain(io.BytesIO(data), fix_imports=False).load()
    except Exception as error:  # a damaged pickle raises nearly anything
        raise InputRefusal("text", f"is a damaged pickle ({type(error).__name__}: {error})", "dump again") from error
    return _walker(VALUES_PER_BYTE * len(data))(value, 0)


def _check_instructions(data: bytes) -> None:
    seen = 0
    try:
        for instruction, argument, at in pickletools.genops(data):
            seen += 1
            if instruction.name not in _HARMLESS:
                raise InputRefusal(
                    f"byte {at}",
                    f"holds the instruction {instruction.name}, which plain data do not need and which can run code",
                    "dump as JSON (torch._C._distributed_c10d._dump_fr_trace_json)",
                )
            too_far = instruction.name in ("BINPUT", "LONG_BINPUT") and isinstance(argument, int) and argument > seen
            too_wide = isinstance(argument, int) and argument.bit_length() > 8 * _WIDEST_NUMBER
            if too_far or too_wide:
                raise InputRefusal(f"byte {at}", f"holds the number {argument!r:.30} where none can be", "dump again")
    except (ValueError, EOFError, UnicodeDecodeError, IndexError, OverflowError) as error:
        raise InputRefusal("text", f"is a damaged pickle ({error})", "dump again") from error


def _walker(budget: int) -> Callable[[Any, int], Any]:
    """Copies plain data; refuses what is nested too deep, or visits more values than ``budget``."""
    left = budget

    def walked(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > DEEPEST:
            found = (
                f"is nested more than {DEEPEST} deep" if depth > DEEPEST else f"stands for more than {budget} values"
            )
            raise InputRefusal("text", found, "give a dump as PyTorch writes it")
        if isinstance(value, (list, tuple)):
            return [walked(part, depth + 1) for part in value]
        if isinstance(value, dict):
            return {str(key): walked(part, depth + 1) for key, part in value.items()}
        return value

    return walked
