"""What dumps say that they wrote and lost, held against what the files have (``dump_stats``, from format v4.1 on)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.nccl_inspector.rank_records import RankRecords


def dumps_told(ranks: Sequence[RankRecords]) -> list[str]:
    """A line for each rank and communicator whose counts do not close, or whose rings were overwritten."""
    told = []
    for records in ranks:
        have: Counter[tuple[str, bool]] = Counter()
        seen = np.bincount(records.file.column("kind"), minlength=len(records.kinds)).tolist()
        for kind, count in zip(records.kinds, seen, strict=True):
            have[kind.caller.communicator, kind.peer is not None] += count
        for caller, said in records.file.stats.items():
            for messages, stated, dropped in (
                (False, said.coll_records, said.coll_dropped_total),
                (True, said.p2p_records, said.p2p_dropped_total),
            ):
                found = have[caller.communicator, messages]
                what = "messages" if messages else "collectives"
                if stated != found or dropped:
                    told.append(
                        f"rank {records.rank}: its dumps state {stated} {what} of communicator {caller.communicator} "
                        f"and {dropped} overwritten before; the file has {found}"
                    )
    return told
