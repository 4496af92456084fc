"""Collectives held against a table: waiting, expected transfer and the rest, which add up."""

from __future__ import annotations

import numpy as np
import pytest

from commcanary.artifacts.events import ProcessGroup
from commcanary.timeline.alpha_beta import AlphaBeta
from commcanary.timeline.transfer_baseline import TransferLaw, TransferRow, transfer_baseline, transfer_rows

from .timelines import K, calls, timeline

LAW = TransferLaw("x.log", "all_reduce", 4, AlphaBeta(10.0, 0.1), 1.0)
"""10 us, and 100 bytes a us: 20 us for 1,000 bytes."""

US = 1000
ROWS = (
    K(0, 50 * US, "all_reduce", call=0),
    K(100 * US, 125 * US, "all_reduce", call=1),
    K(200 * US, 900 * US, "all_gather", call=2),
)
CALLS = (("all_reduce", 1000, 0, 0), ("all_reduce", 1000, 1, 0), ("all_gather", 1000, 2, 0))


def rows(law: TransferLaw, arrivals: list[int] | None) -> list[TransferRow]:
    made = timeline(ROWS, calls=calls(CALLS), rank=2)
    last = None if arrivals is None else np.asarray(arrivals, np.int64)
    return transfer_rows(made, "0", made.devices[0].kernels, (law,), last)


def test_late_ranks_are_told_from_slow_transfers() -> None:
    """50 us of which 28 waiting, and 25 us: 28 late, 40 expected, 2 + 5 slower."""
    (row,) = rows(LAW, [28 * US, 90 * US, -1])
    assert (row.rank, row.calls, row.measured_ns, row.expected_ns, row.excess_ns) == (2, 2, 75_000, 40_000, 35_000)
    assert (row.late_ns, row.slower_ns) == (28_000, 7_000)
    assert row.measured_ns == (row.late_ns or 0) + row.expected_ns + (row.slower_ns or 0)


@pytest.mark.parametrize("arrivals", [None, [28 * US, -1, -1]])
def test_without_arrivals_the_excess_is_nobodys(arrivals: list[int] | None) -> None:
    found = rows(LAW, arrivals)
    assert (found[0].excess_ns, found[0].late_ns, found[0].slower_ns) == (35_000, None, None)
    assert "late ranks" in transfer_baseline((LAW,), found).unknown


def test_table_of_other_ranks_or_another_operation_says_nothing() -> None:
    for law in (
        TransferLaw("x.log", "all_reduce", 8, LAW.law, 1.0),
        TransferLaw("x.log", "broadcast", 4, LAW.law, 1.0),
    ):
        found = rows(law, None)
        assert found == []
        assert list(transfer_baseline((law,), found).unknown) == [f"{law.operation} on {law.ranks} ranks (x.log)"]


def test_group_of_the_calls_counts() -> None:
    made = timeline(ROWS, calls=calls(CALLS, ProcessGroup("0", 8)), rank=2)
    assert transfer_rows(made, "0", made.devices[0].kernels, (LAW,), None) == []
