"""NVTX ranges on the host's threads: NCCL's own, with their payloads, and those of the job around its calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.calls.phase_names import phase_of_block
from commcanary.sources.nsys.database import text_of, time_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.nsys.database import Export, Table

    Ints = NDArray[np.int64]

PUSH_POP = 59
"""Event type of a range that opens and closes on one thread."""

DOMAIN = 75
"""Event type of the creation of a domain; its text is the domain's name."""

PROCESS = 1 << 24
"""``globalTid // PROCESS`` numbers a process: the last 24 bits are the thread."""

_FUNCTION = re.compile(r"^p?nccl[A-Z]\w*\Z")
_NUMBERS = re.compile(r",? (?:seq|op_id) = \d+")


@dataclass(frozen=True)
class NcclRanges:
    """NCCL's ranges in order of start; columns are int64[n], times in ns of the session.

    ``name`` is the function (``ncclAllReduce``), ``blob`` its payload, None where the export has none.
    ``row`` is the range's rowid.
    """

    name: tuple[str, ...]
    blob: tuple[bytes | None, ...]
    row: Ints
    start: Ints
    end: Ints
    thread: Ints

    def __len__(self) -> int:
        return len(self.name)

    @property
    def process(self) -> Ints:
        """int64[n]: the process of each range."""
        return self.thread // PROCESS


def nccl_ranges(export: Export, table: Table, strings: dict[int, str]) -> NcclRanges:
    """The ranges that NCCL itself pushed: in its domain where the export names it, else by their functions' names."""
    for needed in ("start", "end", "eventType", "globalTid"):
        if needed not in table.columns:
            raise InputRefusal(f"{table.name}.{needed}", "is missing", "export the report again")
    ids = [key for key, value in strings.items() if _FUNCTION.match(value)]
    has = table.columns.__contains__
    tests = []
    if has("textId") and ids:
        tests.append(f"textId IN ({','.join(map(str, ids))})")
    if has("text"):
        tests += ["(text >= 'nccl' AND text < 'nccm')", "(text >= 'pnccl' AND text < 'pnccm')"]
    wanted = [
        "rowid",
        "start",
        "end",
        "globalTid",
        "domainId" if has("domainId") else "NULL",
        "textId" if has("textId") else "NULL",
        "text" if has("text") else "NULL",
        "CAST(binaryData AS BLOB)" if has("binaryData") else "NULL",
    ]
    where = f"eventType = {PUSH_POP} AND ({' OR '.join(tests) or '0'})"
    found = export.rows(
        f'SELECT {", ".join(wanted)} FROM "{table.name}" WHERE {where} ORDER BY start, rowid', table.name
    )
    domains = _nccl_domains(export, table, strings)
    kept = [row for row in map(_checked(table, strings), found) if row is not None and _is_nccl(row, domains)]
    columns = np.asarray([row[2:6] for row in kept], np.int64).reshape(len(kept), 4)
    row, start, end, thread = (np.ascontiguousarray(columns[:, at]) for at in range(4))
    return NcclRanges(tuple(r[0] for r in kept), tuple(r[1] for r in kept), row, start, end, thread)


_Row = tuple[str, bytes | None, int, int, int, int, int | None]
"""Function, payload, rowid, start, end, thread, domain."""


def _checked(table: Table, strings: dict[int, str]) -> Any:
    def checked(found: tuple[Any, ...]) -> _Row | None:
        row, start, end, thread, domain, text_id, text, blob = found
        name = strings.get(text_id, "") if text is None else text_of(text)
        if not _FUNCTION.match(name):
            return None
        for column, value in (("start", start), ("end", end), ("globalTid", thread)):
            if not isinstance(value, int):
                place = f"{table.name}[{row}].{column}"
                raise InputRefusal(place, f"is {value!r:.40}", "it is a whole number; stop the capture after the job")
        fault = time_fault(start, end)
        if fault:
            raise InputRefusal(f"{table.name}[{row}]", fault, "export the report again")
        return name.removeprefix("p"), blob or None, row, start, end, thread, domain

    return checked


def _nccl_domains(export: Export, table: Table, strings: dict[int, str]) -> dict[int, set[int]]:
    """Domains called NCCL of each process; processes without a named domain are missing."""
    if not {"domainId", "eventType", "globalTid"} <= table.columns:
        return {}
    text = "text" if "text" in table.columns else "NULL"
    text_id = "textId" if "textId" in table.columns else "NULL"
    rows = export.rows(
        f'SELECT globalTid, domainId, {text}, {text_id} FROM "{table.name}" WHERE eventType = {DOMAIN}', table.name
    )
    found: dict[int, set[int]] = {}
    for thread, domain, said, key in rows:
        name = strings.get(key, "") if said is None else text_of(said)
        if isinstance(thread, int) and isinstance(domain, int) and name == "NCCL":
            found.setdefault(thread // PROCESS, set()).add(domain)
    return found


def _is_nccl(row: _Row, domains: dict[int, set[int]]) -> bool:
    known = domains.get(row[5] // PROCESS)
    return row[6] in known if known else True


def ranges_around(
    export: Export, table: Table | None, strings: dict[int, str], thread: Ints, time: Ints
) -> tuple[tuple[str, ...], ...]:
    """Names of the job's ranges around each point (``thread``, ``time``: int64[n]), outermost first, without NCCL's.

    PyTorch numbers its ranges (``aten::mul, seq = 7, op_id = 9``); the numbers are left out.
    """
    holders: list[list[str]] = [[] for _ in range(len(time))]
    if table is None or not len(time) or not {"start", "end", "eventType", "globalTid"} <= table.columns:
        return tuple(() for _ in holders)
    where = f"WHERE eventType = {PUSH_POP} AND end IS NOT NULL"
    all_of = export.numbers(table, ("rowid", "start", "end", "globalTid"), where)
    pairs: list[tuple[int, int]] = []
    for number in np.unique(thread):
        points = np.flatnonzero(thread == number)
        points = points[np.argsort(time[points], kind="stable")]
        mine = np.flatnonzero(all_of["globalTid"] == number)
        low = np.searchsorted(time[points], all_of["start"][mine], side="left")
        high = np.searchsorted(time[points], all_of["end"][mine], side="right")
        holding = np.flatnonzero(high > low)
        holding = holding[np.argsort((all_of["start"] - all_of["end"])[mine[holding]], kind="stable")]
        for i in holding.tolist():
            pairs += [(int(mine[i]), point) for point in points[low[i] : high[i]].tolist()]
    names = _names(export, table, strings, all_of["rowid"][sorted({span for span, _ in pairs})].tolist())
    for span, point in pairs:
        name = _NUMBERS.sub("", names.get(int(all_of["rowid"][span]), ""))
        if name and not _FUNCTION.match(name):
            holders[point].append(name)
    return tuple(tuple(dict.fromkeys(found)) for found in holders)


def _names(export: Export, table: Table, strings: dict[int, str], rows: Sequence[int]) -> dict[int, str]:
    """Texts of the ranges with these rowids."""
    text = "text" if "text" in table.columns else "NULL"
    text_id = "textId" if "textId" in table.columns else "NULL"
    names: dict[int, str] = {}
    for at in range(0, len(rows), 500):
        some = ",".join(map(str, rows[at : at + 500]))
        for row, said, key in export.rows(
            f'SELECT rowid, {text}, {text_id} FROM "{table.name}" WHERE rowid IN ({some})', table.name
        ):
            names[row] = strings.get(key, "") if said is None else text_of(said)
    return names


def has_payloads(export: Export, table: Table | None) -> bool:
    """Whether any range kept its payload in the export."""
    if table is None or "binaryData" not in table.columns:
        return False
    return bool(export.rows(f'SELECT 1 FROM "{table.name}" WHERE binaryData IS NOT NULL LIMIT 1', table.name))


@dataclass(frozen=True)
class PhaseRanges:
    """The job's ranges that are phases, shortest last; columns are int64[n]."""

    phase: tuple[str, ...]
    start: Ints
    end: Ints
    thread: Ints

    def of(self, thread: Ints, time: Ints) -> list[str | None]:
        """Phase of each point: that of the shortest range around it on its thread, else on another of its process."""
        found: list[str | None] = [None] * len(time)
        order = np.argsort(time, kind="stable")
        ordered = time[order]
        for own_thread in (False, True):
            for phase, start, end, holder in zip(self.phase, self.start, self.end, self.thread, strict=True):
                low, high = np.searchsorted(ordered, start, "left"), np.searchsorted(ordered, end, "right")
                points = order[low:high]
                same = thread[points] == holder if own_thread else thread[points] // PROCESS == holder // PROCESS
                for point in points[same].tolist():
                    found[point] = phase
        return found


def phase_ranges(export: Export, table: Table | None, strings: dict[int, str], more: tuple[str, ...]) -> PhaseRanges:
    """The ranges whose names are phases (``phase_of_block``), by registered string or by text."""
    nothing = np.zeros(0, np.int64)
    if table is None or not {"start", "end", "eventType", "globalTid"} <= table.columns:
        return PhaseRanges((), nothing, nothing, nothing)
    ids = {key: phase for key, value in strings.items() if (phase := phase_of_block(value, more)) is not None}
    tests = [f"textId IN ({','.join(map(str, ids))})"] if ids and "textId" in table.columns else []
    if "text" in table.columns:
        words = ("forward", "backward", "optimizer", "prefill", "decode")
        tests += [f"text LIKE '%{word}%'" for word in words]
        tests += ["text = '" + name.replace("'", "''") + "'" for name in more]
    if not tests:
        return PhaseRanges((), nothing, nothing, nothing)
    text = "text" if "text" in table.columns else "NULL"
    text_id = "textId" if "textId" in table.columns else "NULL"
    rows = export.rows(
        f'SELECT start, end, globalTid, {text}, {text_id} FROM "{table.name}" '
        f"WHERE eventType = {PUSH_POP} AND end IS NOT NULL AND ({' OR '.join(tests)}) ORDER BY end - start DESC, rowid",
        table.name,
    )
    kept = []
    for start, end, thread, said, key in rows:
        phase = ids.get(key) if said is None else phase_of_block(text_of(said), more)
        if phase is not None and all(isinstance(value, int) for value in (start, end, thread)):
            kept.append((phase, start, end, thread))
    columns = np.asarray([row[1:] for row in kept], np.int64).reshape(len(kept), 3)
    return PhaseRanges(tuple(row[0] for row in kept), columns[:, 0], columns[:, 1], columns[:, 2])
