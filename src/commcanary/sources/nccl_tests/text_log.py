"""A text log of nccl-tests -> its table. Lines of other programs may stand between the rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_tests.layout import Layout, NotARow
from commcanary.sources.nccl_tests.row_checks import check_row
from commcanary.sources.nccl_tests.table import ELEMENT_BYTES, OPERATION_OF_PROGRAM, NcclTestsTable, Row, Skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEVICE = re.compile(r"^#\s+Rank\s+(?P<rank>\d+)\s+(Group\s+(?P<group>\d+)\s+)?Pid\s+\d+\s+on\s")
_SETTINGS = re.compile(r"^#\s+nThreads?\s+(?P<threads>\d+)\s+nGpus\s+(?P<gpus>\d+)\s")
_VERSION = re.compile(r"^#\s+nccl-tests version\s+(?P<tests>\S+)(.*nccl-library=(?P<nccl>\d+))?")
_PROGRAM = re.compile(r"^#\s+Collective test starting:\s+(?P<program>\S+)")
_FOOTER = re.compile(r"^#\s+Avg bus bandwidth\s+:")
_TAG = re.compile(r"^(\[\d+,\d+\]<std(out|err)>:|\d+:)\s?")
"""What launchers put in front of every line to say which process printed it."""

_ROW_INSIDE = re.compile(r"(^|\s)\d+\s+\d+\s+(" + "|".join(ELEMENT_BYTES) + r")\s")
"""Size, count and type: where they stand in a line that is no row, a row was overwritten."""


def parse_text(text: str, on_error: Literal["stop", "skip"] = "stop") -> NcclTestsTable:
    """The table of a log; raises ``InputRefusal`` naming the line of what is corrupted.

    ``on_error="skip"`` leaves corrupted rows out and lists them. A second table in one log is refused always:
    rows of processes that print at once cannot be told apart.
    """
    return _Log(on_error).read(text.splitlines())


class _Log:
    def __init__(self, on_error: Literal["stop", "skip"]) -> None:
        self._skip = on_error == "skip"
        self._layout: Layout | None = None
        self._layout_line = 0
        self._devices: set[tuple[int, int]] = set()
        self._implied_ranks: int | None = None
        self._version: str | None = None
        self._operation: str | None = None
        self._complete = False
        self._passed_over = 0
        self._found: list[Row] = []
        self._skipped: list[Skipped] = []

    def read(self, lines: Sequence[str]) -> NcclTestsTable:
        for number, tagged in enumerate(lines, start=1):
            line = _TAG.sub("", tagged)
            if line.lstrip().startswith("#"):
                self._comment(line.strip(), number)
            elif line.strip():
                self._line(line, number)
        if self._layout is None:
            raise InputRefusal(
                "heading",
                "no line names the columns size, count, type and time",
                "give the whole output of an nccl-tests program, or its -J report",
            )
        ranks = self._ranks()
        rows = []
        for row in self._found:
            try:
                check_row(row, ranks)
                rows.append(row)
            except InputRefusal as refusal:
                if not self._skip:
                    raise
                self._skipped.append(Skipped(row.place, refusal.found))
        if not rows:
            raise InputRefusal("rows", "the table has no row", "let the run finish")
        return NcclTestsTable(
            tuple(rows), ranks, self._operation, self._version, self._complete, self._passed_over, tuple(self._skipped)
        )

    def _comment(self, line: str, number: int) -> None:
        layout = Layout.of(line)
        if layout is not None:
            if self._layout is not None:
                raise InputRefusal(
                    f"line {number}",
                    f"a second table begins; the first one's heading is line {self._layout_line}",
                    "give one run a file; build nccl-tests with MPI=1 so that one process prints for all",
                )
            self._layout, self._layout_line = layout, number
        elif device := _DEVICE.match(line):
            self._devices.add((int(device["group"] or 0), int(device["rank"])))
        elif settings := _SETTINGS.match(line):
            self._implied_ranks = int(settings["threads"]) * int(settings["gpus"])
        elif version := _VERSION.match(line):
            self._version = version["tests"] + (f", NCCL {version['nccl']}" if version["nccl"] else "")
        elif program := _PROGRAM.match(line):
            self._operation = OPERATION_OF_PROGRAM.get(program["program"].rpartition("/")[2])
        elif _FOOTER.match(line):
            self._complete = True

    def _line(self, line: str, number: int) -> None:
        words = line.split()
        if self._layout is None or not (words[0].isdigit() or _ROW_INSIDE.search(line)):
            self._passed_over += 1
            return
        try:
            self._found.append(self._layout.row(words, f"line {number}"))
        except NotARow as fault:
            if not self._skip:
                raise InputRefusal(
                    f"line {number}",
                    f"the row {fault}",
                    "another process wrote into it: run again, or leave it out with --on-error skip",
                ) from fault
            self._skipped.append(Skipped(f"line {number}", str(fault)))

    def _ranks(self) -> int | None:
        """Ranks of one communicator: those of the first listed group, else threads x GPUs of the settings."""
        if self._devices:
            first = min(group for group, _ in self._devices)
            return sum(group == first for group, _ in self._devices)
        return self._implied_ranks
