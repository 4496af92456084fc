"""The profiles of synthetic jobs: the importer reads from them what the generator put in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from commcanary.artifacts.atomic import write_bytes
from commcanary.artifacts.canonical import canonical_json
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.sources.synthetic.kineto_profile import kineto_profiles
from commcanary.sources.synthetic.registry import synthesis

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.events import Events
    from commcanary.artifacts.trace import Trace


def imported(name: str, folder: Path) -> tuple[Trace, Trace]:
    made = synthesis(name, 7, 60)
    paths = []
    for rank, document in kineto_profiles(made).items():
        paths.append(folder / f"rank{rank}.pt.trace.json")
        write_bytes(paths[-1], canonical_json(document))
    return made.trace, import_kineto(paths, KinetoSettings(assume_shared_clock=True)).trace


def kinds(events: Events) -> Counter[tuple[object, ...]]:
    signatures = [events.signatures[i] for i in events.signature]
    return Counter(
        (s.op, s.bytes, *sorted(events.group_of(s).members), s.sender_rank, s.receiver_rank, s.dtype)
        for s in signatures
    )


@pytest.mark.parametrize("name", ["pipeline", "ddp"])
def test_the_importer_finds_every_collective_again(name: str, tmp_path: Path) -> None:
    made, found = imported(name, tmp_path)
    assert kinds(found.events) == kinds(made.events)
    assert all(row.taken == row.seen for row in found.header.coverage)


def test_the_importer_finds_what_the_buckets_expose(tmp_path: Path) -> None:
    """Bucket by bucket: all is hidden but the last, and of the loss nothing."""
    _, found = imported("ddp", tmp_path)
    exposed = found.events.observed_exposed_ns.reshape(-1, 7)
    assert (exposed[:, :5] == 0).all()
    last = 14_950 + round(25 * 2**20 * 8 / 55 * 1.75)
    np.testing.assert_allclose(exposed[:, 5], last, atol=2)
    np.testing.assert_allclose(exposed[:, 6], 14_950, atol=2)
