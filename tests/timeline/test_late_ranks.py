"""Who comes last, counted by hand."""

from __future__ import annotations

import numpy as np

from commcanary.timeline.late_ranks import Meeting, Meetings, last_arrivals, late_ranks


def test_last_ranks_and_their_lateness_by_site() -> None:
    meeting = Meeting(
        group="dp",
        ranks=(4, 6),
        arrival=np.asarray([[0, 100, 205, 300], [10, 90, 200, 300]], np.int64),
        kind=np.asarray([0, 0, 0, 0]),
        kinds=("all_reduce",),
        site=np.asarray([0, 0, 1, 1]),
        sites=("ddp", "loss"),
        call=np.asarray([[0, 1, 2, 3], [1, 2, 3, 4]]),
        shift=np.asarray([0, 1000]),
    )
    found = late_ranks(Meetings((meeting,), "assumed shared", None, "first start of the call's kernels"))
    assert found is not None
    rows = {(row.site, row.rank): (row.calls, row.last, row.last_pct, row.median_ns) for row in found.rows}
    assert rows == {
        ("ddp", 4): (2, 1, 50.0, 5.0),  # after the first: 0 and 10
        ("ddp", 6): (2, 1, 50.0, 5.0),
        ("loss", 4): (2, 1, 50.0, 2.5),  # the last call is a tie: nobody is last
        ("loss", 6): (2, 0, 0.0, 0.0),
    }
    assert found.clock == "assumed shared"


def test_ranks_that_cannot_be_compared_have_no_rows() -> None:
    assert late_ranks(Meetings(unknown="one profile was given")) is None


def test_last_arrival_of_each_call_on_the_ranks_own_clock() -> None:
    meeting = Meeting(
        group="dp",
        ranks=(4, 6),
        arrival=np.asarray([[1000, 1100], [1010, 1090]], np.int64),
        kind=np.asarray([0, 0]),
        kinds=("all_reduce",),
        site=np.asarray([0, 0]),
        sites=("ddp",),
        call=np.asarray([[0, 1], [1, 2]]),
        shift=np.asarray([0, 1000]),
    )
    found = Meetings((meeting,), "assumed shared")
    assert _listed(last_arrivals(found, 4, 2)) == [1010, 1100]
    assert _listed(last_arrivals(found, 6, 3)) == [-1, 10, 100], "its call 0 is on another group"
    assert _listed(last_arrivals(found, 5, 1)) == [-1]
    assert last_arrivals(found, None, 1) is None
    assert last_arrivals(Meetings(unknown="one profile"), 4, 1) is None


def _listed(found: np.ndarray[tuple[int], np.dtype[np.int64]] | None) -> list[int]:
    assert found is not None
    return found.tolist()
