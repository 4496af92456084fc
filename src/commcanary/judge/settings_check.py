"""Whether the stated compiler settings are the ones that made this canary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import BudgetRefusal, UsageError
from commcanary.judge.checks import FAIL, Check, equal

if TYPE_CHECKING:
    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.trace import Trace


def settings_check(source: Trace, canary: Canary) -> list[Check]:
    """Compile again where the canary states a sample limit or a grid: only that shows the number to be true.

    Everything else about the canary is checked without the compiler; without such a setting this is empty.
    """
    compiler = canary.header.compiler
    checks = []
    if compiler.timing_sample_limit is not None or compiler.quantum_ns is not None:
        place = "compiler.timing_sample_limit" if compiler.timing_sample_limit is not None else "compiler.quantum_ns"
        from commcanary.compile.compiler import CompileSettings, compile_trace  # heavy, and seldom asked for

        try:
            again = compile_trace(source, CompileSettings.of(compiler))
            checks.append(equal("compiler_settings", again.stored.table_digest, canary.stored.table_digest, place))
        except (UsageError, BudgetRefusal) as refusal:
            checks.append(Check("compiler_settings", FAIL, "settings that compile", str(refusal), place))
    search = compiler.behavior_search
    if search is not None:
        stated = search.selected_canary_bytes_without_search_metadata
        checks.append(equal("search_bytes", compiler.canary_bytes, stated, "compiler.behavior_search"))
    return checks
