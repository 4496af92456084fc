"""One export read: NCCL's ranges with their fields, kernels, and what the job itself annotated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal
from commcanary.sources.nsys.database import Export, export_command, opened
from commcanary.sources.nsys.functions import is_operation
from commcanary.sources.nsys.kernels import ExportKernels, export_kernels, graph_launches
from commcanary.sources.nsys.payloads import Payloads
from commcanary.sources.nsys.ranges import NcclRanges, nccl_ranges, phase_ranges, ranges_around

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.sources.nsys.settings import NsysSettings
    from commcanary.timeline.communication_kernels import CommunicationKernels

Said = dict[str, int] | InputRefusal | None
"""Fields of a range's payload, why they cannot be read, or None where the export has no payload for it."""


@dataclass(frozen=True)
class ExportRead:
    """What an import needs of one export. ``said[i]`` and the rest are about range i of ``ranges``.

    ``around`` lists the job's ranges around each operation, outermost first (others: empty); ``phase`` is None
    where no range names one. ``base_ns`` makes session times absolute, None where the export does not say.
    """

    path: Path
    table: str
    ranges: NcclRanges
    said: tuple[Said, ...]
    around: tuple[tuple[str, ...], ...]
    phase: tuple[str | None, ...]
    kernels: ExportKernels | None
    graph_launches: int
    base_ns: int | None
    version: str | None


def read_export(path: Path, settings: NsysSettings, table: CommunicationKernels) -> ExportRead:
    """Read the export at ``path``.

    Raises ``InputRefusal`` where there is nothing to import, with the command that exports what is missing.
    """
    with opened(path) as export:
        strings = export.strings()
        events = export.table("NVTX_EVENTS")
        kernels = export_kernels(export, strings, table)
        if events is None:
            raise _nothing(export, kernels, "no table NVTX_EVENTS")
        ranges = nccl_ranges(export, events, strings)
        payloads = Payloads(export)
        operations = [i for i, name in enumerate(ranges.name) if is_operation(name)]
        if not operations:
            known = "NCCL described its payloads, " if payloads.described else ""
            raise _nothing(export, kernels, f"{known}no NVTX range of an NCCL operation")
        if not any(ranges.blob[i] is not None for i in operations):
            raise _no_payloads(export, len(operations), payloads)
        said = _fields(ranges, payloads, events.name)
        thread, start = ranges.thread[operations], ranges.start[operations]
        around: list[tuple[str, ...]] = [()] * len(ranges)
        phase: list[str | None] = [None] * len(ranges)
        phases = phase_ranges(export, events, strings, settings.phase_annotations).of(thread, start)
        for i, names, found in zip(
            operations, ranges_around(export, events, strings, thread, start), phases, strict=True
        ):
            around[i], phase[i] = names, found
        return ExportRead(
            path,
            events.name,
            ranges,
            said,
            tuple(around),
            tuple(phase),
            kernels,
            graph_launches(export),
            _base(export),
            export.said("META_DATA_EXPORT", "EXPORT_SCHEMA_VERSION"),
        )


def _fields(ranges: NcclRanges, payloads: Payloads, table: str) -> tuple[Said, ...]:
    """Fields per range; ranges with one payload share them."""
    known: dict[bytes, Said] = {}
    said: list[Said] = []
    for blob, row in zip(ranges.blob, ranges.row.tolist(), strict=True):
        if blob is None:
            said.append(None)
            continue
        if blob not in known:
            try:
                known[blob] = payloads.fields(blob, f"{table}[{row}].binaryData")
            except InputRefusal as refusal:
                known[blob] = refusal
        said.append(known[blob])
    return tuple(said)


def _nothing(export: Export, kernels: ExportKernels | None, found: str) -> InputRefusal:
    ran = "no kernel"
    if kernels is not None:
        ran = f"{kernels.listed:,} kernels of which {len(kernels):,} communicate"
    return InputRefusal(
        "NVTX_EVENTS",
        f"nothing to import: {found}; {ran}",
        f"profile with nsys profile --trace=cuda,nvtx and NCCL_NVTX_DISABLE unset, then {export_command(export.path)}",
    )


def _no_payloads(export: Export, operations: int, payloads: Payloads) -> InputRefusal:
    """Message sizes are only in the payloads, which an export leaves out unless it is asked for them."""
    described = "their layouts are there, so NCCL wrote them" if payloads.described else "nor are their layouts there"
    asked = export.said("META_DATA_EXPORT", "EXPORT_PARAM_INCLUDE_BLOBS")
    blobs = "" if asked is None else f" (the export says include-blobs={asked})"
    return InputRefusal(
        "NVTX_EVENTS.binaryData",
        f"no payload in any of {operations:,} ranges of NCCL operations{blobs}; {described}: message sizes are unknown",
        f"export again with them: {export_command(export.path)}",
    )


def _base(export: Export) -> int | None:
    table = export.table("TARGET_INFO_SESSION_START_TIME")
    if table is None or "utcEpochNs" not in table.columns:
        return None
    found = export.rows(f'SELECT utcEpochNs FROM "{table.name}"', table.name)
    value = found[0][0] if len(found) == 1 else None
    return value if isinstance(value, int) and 0 <= value < 2**62 else None
