"""How long each rank's collectives ran, beside the events: no model's time, for it holds waiting and transfer alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.calls.matching import Matched
    from commcanary.sources.nccl_inspector.rank_records import RankRecords

    Ints = NDArray[np.int64]

KEY = "execution_us"


def duration_metadata(
    ranks: Sequence[RankRecords], orders: Sequence[Ints], groups: Sequence[Matched], position: Ints
) -> tuple[str | None, ...]:
    """For each event ``{"execution_us": {rank: us or null}}`` as canonical JSON, null where the plugin measured 0.

    ``orders[p]`` are the places in ``ranks[p].rows`` of that rank's calls, ``position`` is that of ``Merged``.
    """
    texts: list[str] = []
    for group in groups:
        measured = np.stack(
            [
                ranks[p].values("duration_us")[orders[p]][calls]
                for p, calls in zip(group.present, group.calls, strict=True)
            ]
        )
        names = [str(ranks[p].rank) for p in group.present]
        by_name = sorted(range(len(names)), key=names.__getitem__)
        before = [f'{"," if at else ""}"{names[of]}":' for at, of in enumerate(by_name)]
        columns = [["null" if us == 0 else str(us) for us in measured[of].tolist()] for of in by_name]
        opening = canonical_json({KEY: {}}).decode()[:-2]
        for values in zip(*columns, strict=True):
            texts.append(opening + "".join(key + us for key, us in zip(before, values, strict=True)) + "}}")
    return tuple(texts[at] for at in position.tolist())


def durations_told(ranks: Sequence[RankRecords]) -> list[str]:
    """What the account says of durations that are none, and of those that no GPU clock measured."""
    told = []
    for records in ranks:
        none = int((records.values("duration_us") == 0).sum())
        if none:
            told.append(f"rank {records.rank}: {none} of {len(records.rows)} records state 0 us: duration unknown")
    sources: dict[str, int] = {}
    for file in {id(records.file): records.file for records in ranks}.values():
        for source, count in file.sources.items():
            sources[source] = sources.get(source, 0) + count
    by_host = {source: count for source, count in sources.items() if source != "kernel_gpu"}
    if by_host:
        shown = ", ".join(f"{count} by {source}" for source, count in sorted(by_host.items()))
        told.append(f"durations not by the GPU's clock: {shown} of {sum(sources.values())} records")
    return told
