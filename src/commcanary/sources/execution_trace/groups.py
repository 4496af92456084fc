"""Ranks of process groups from a file beside the traces, as ASTRA-sim takes them: ``{"0": [0, 1], "dp": [0, 2]}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.events import ProcessGroup
from commcanary.artifacts.files import read_bytes
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.trace_checks import group_fault
from commcanary.errors import InputRefusal, Refusal

if TYPE_CHECKING:
    from pathlib import Path


def read_groups(path: Path) -> dict[str, tuple[int, ...]]:
    """The ranks of each group; raises ``InputRefusal`` for a list that is none of ranks."""
    try:
        found = decode(read_bytes(path), dict[str, tuple[int, ...]])
        for name, ranks in found.items():
            fault = group_fault(ProcessGroup(name, ranks))
            if fault:
                raise InputRefusal(name, *fault)
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__
    return found
