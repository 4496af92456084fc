"""The order of each rank's calls: its own, with those of one communicator in one order on all ranks.

Kernels of one communicator may end in another order than they began, and on one rank otherwise than on the next,
so the file's order pairs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.nccl_inspector.numbering import Aligned
    from commcanary.sources.nccl_inspector.rank_records import RankRecords

    Ints = NDArray[np.int64]


def in_order(ranks: Sequence[RankRecords], pairs: Aligned) -> list[Ints]:
    """For each rank the kept places in ``rows``, in the order of their calls.

    A rank's calls stand in order of launch where its records have times, else as the file lists them. Within a
    communicator the collectives stand as the first rank that has them lists them, and messages in that of their
    numbers; they fill the places that collectives, or messages, of that communicator have in the rank's own order.
    """
    leading: dict[tuple[str, bool], Ints] = {}
    found = []
    for records, kept, program in zip(ranks, pairs.kept, pairs.program, strict=True):
        start = records.values("start_ns")[kept]
        number = records.values("number")[kept]
        own = np.arange(len(kept)) if (start == UNKNOWN).any() else np.lexsort((number, program, start))
        code = (program << 40) | number
        result = own.copy()
        kinds = records.values("kind")[kept]
        lane, lanes = _lanes(records, kinds)
        for key, of in lanes.items():
            slots = np.flatnonzero(lane[own] == of)
            members = own[slots]
            if key[1]:
                result[slots] = members[np.argsort(number[members], kind="stable")]
                continue
            order = leading.setdefault(key, code[members])
            by_code = members[np.argsort(code[members])]
            result[slots] = by_code[np.searchsorted(code[by_code], order)]
        found.append(kept[result])
    return found


def _lanes(records: RankRecords, kinds: Ints) -> tuple[Ints, dict[tuple[str, bool], int]]:
    """int64[n] and its numbers: the communicator of each record, its messages apart from its collectives."""
    lanes: dict[tuple[str, bool], int] = {}
    of_kind = [lanes.setdefault((k.caller.communicator, k.peer is not None), len(lanes)) for k in records.kinds]
    return np.asarray([*of_kind, UNKNOWN], np.int64)[kinds], lanes
