"""Whether the stated compiler settings are the ones that made this canary, and its program the compiler's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.arrow_columns import whole
from commcanary.errors import BudgetRefusal, UsageError
from commcanary.judge.checks import FAIL, Check, equal, same

if TYPE_CHECKING:
    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.events import Events
    from commcanary.artifacts.trace import Trace


def settings_check(source: Trace, events: Events, canary: Canary) -> list[Check]:
    """Ask the compiler twice: for the program of the canary's ``events``, and, where the canary states a sample
    limit or a grid, for the canary again. Only that shows that the number of groups was not made up by writing the
    same events otherwise, and that a setting is the one that was used. All else is checked without the compiler.
    """
    compiler = canary.header.compiler
    checks = [_program_check(events, canary)]
    if compiler.timing_sample_limit is not None or compiler.quantum_ns is not None:
        place = "compiler.timing_sample_limit" if compiler.timing_sample_limit is not None else "compiler.quantum_ns"
        from commcanary.compile.compiler import CompileSettings, compile_trace  # heavy, and seldom asked for

        try:
            again = compile_trace(source, CompileSettings.of(compiler))
            ours, stated = again.header.unit_ns, canary.header.unit_ns
            checks.append(
                equal("compiler_settings", again.stored.table_digest, canary.stored.table_digest, place)
                if ours == stated
                else Check("compiler_settings", FAIL, f"unit_ns {ours}", f"unit_ns {stated}", place)
            )
        except (UsageError, BudgetRefusal) as refusal:
            checks.append(Check("compiler_settings", FAIL, "settings that compile", str(refusal), place))
    search = compiler.behavior_search
    if search is not None:
        stated = search.selected_canary_bytes_without_search_metadata
        checks.append(equal("search_bytes", compiler.canary_bytes, stated, "compiler.behavior_search"))
    return checks


def _program_check(events: Events, canary: Canary) -> Check:
    """The stated program against the one that the compiler writes for the same events and records."""
    from commcanary.compile.motifs import build_program

    table = canary.stored.table
    assert table is not None  # the walk refused a canary without records
    count = np.asarray(whole(table.column("count")), dtype=np.int64)
    record = np.repeat(np.arange(len(count), dtype=np.int64), count)
    return same("program_form", build_program(events.signature, record), canary.header.program)
