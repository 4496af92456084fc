"""Stage: canary -> PARAM basic trace, and the account of what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_bytes
from commcanary.errors import InputRefusal, UsageError
from commcanary.stages.reading import naming, read_canary
from commcanary.targets.param import ParamSettings, empty_export, export_param

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.targets.param import ParamExport


def account_path(output: Path) -> Path:
    """Where the account of the export ``output`` lies."""
    return output.with_suffix(".account.json")


def export_param_stage(
    canary_path: Path, output: Path, *, dtype: str | None, skip_unsupported: bool, may_be_empty: bool = False
) -> ParamExport:
    """Write the PARAM basic trace of the canary at ``canary_path`` and its account beside it.

    ``dtype`` is used where the canary knows none. Raises ``Refusal`` for an operation without an equivalent
    unless ``skip_unsupported``; nothing is written then. With ``may_be_empty``, an array without entries is,
    and the account has the refusal: what a campaign reports on its page rather than stops at.
    """
    if output.suffix != ".json":
        raise UsageError(f"{output}: PARAM reads JSON; the name must end in .json")
    settings = ParamSettings(dtype, skip_unsupported)
    canary = read_canary(canary_path)
    with naming(canary_path):
        try:
            export = export_param(canary, settings)
        except InputRefusal as refusal:
            if not may_be_empty:
                raise
            export = empty_export(canary, settings, refusal)
    array, account = export.file_bytes()
    write_bytes(account_path(output), account)
    write_bytes(output, array)
    return export
