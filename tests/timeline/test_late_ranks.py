"""Who comes last, counted by hand."""

from __future__ import annotations

import numpy as np

from commcanary.timeline.late_ranks import Meeting, Meetings, late_ranks


def test_last_ranks_and_their_lateness_by_site() -> None:
    meeting = Meeting(
        group="dp",
        ranks=(4, 6),
        arrival=np.asarray([[0, 100, 205, 300], [10, 90, 200, 300]], np.int64),
        kind=np.asarray([0, 0, 0, 0]),
        kinds=("all_reduce",),
        site=np.asarray([0, 0, 1, 1]),
        sites=("ddp", "loss"),
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
