"""Jobs whose bubble and exposed tail are known in advance: the profiles of ``synth`` through the whole reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.artifacts.atomic import write_bytes
from commcanary.artifacts.canonical import canonical_json
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.sources.synthetic.kineto_profile import kineto_profiles
from commcanary.sources.synthetic.registry import synthesis
from commcanary.stages.overlap import measured
from commcanary.timeline.measure import OverlapSettings

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.timeline.dependency import Dependency

STAGES, STEPS, FORWARD, BACKWARD = 4, 2, 10_000_000, 20_000_000
MESSAGE = 630_000
"""A message of 4 MiB at 55 Gbit/s takes 622.8 us."""


def dependencies(name: str, events: int, folder: Path) -> list[Dependency]:
    paths = []
    for rank, document in kineto_profiles(synthesis(name, 7, events)).items():
        paths.append(folder / f"rank{rank}.json")
        write_bytes(paths[-1], canonical_json(document))
    devices = measured(paths, KinetoSettings(assume_shared_clock=True), OverlapSettings()).devices
    found = [device.dependency for device in devices]
    assert all(one is not None for one in found)
    return [one for one in found if one is not None]


def test_bubble_of_a_pipeline(tmp_path: Path) -> None:
    """Stage s waits s forwards for its first microbatch and s backwards for the flush; between them it stands
    still for the rest of the (p - 1) slots of the bubble, and for messages on their way.
    """
    for stage, found in enumerate(dependencies("pipeline", 98, tmp_path)):
        idle = {share.name: share.ns for share in found.idle}
        first = STEPS * stage * FORWARD
        assert first <= idle["fill"] <= first + STEPS * stage * 2 * MESSAGE
        assert idle["imbalance"] == pytest.approx(STEPS * stage * BACKWARD, abs=STEPS * (stage + 1) * MESSAGE)
        between = STEPS * (STAGES - 1 - stage) * (FORWARD + BACKWARD)
        messages = 2 * STEPS * 2 * 8 * MESSAGE
        assert between - STEPS * 2 * MESSAGE <= idle["dependency wait"] <= between + messages
        assert idle["drain"] <= STEPS * MESSAGE
        assert idle["host gap"] == 0
        assert idle["unclassified"] <= 15_000, "the last flush: nothing is launched behind it"


def test_tail_of_bucketed_gradients(tmp_path: Path) -> None:
    """Of eight ranks' buckets only the last is exposed, and the loss that the next step waits for."""
    latency = 14_950
    last = latency + round(25 * 2**20 * 8 / 55 * 1.75)
    for found in dependencies("ddp", 21, tmp_path):
        waited = 3 * last + 2 * latency
        assert found.direct_exposure_ns == pytest.approx(waited, abs=20)
        assert [row.collectives for row in found.evidence] == [1, 15, 5]
        idle = {share.name: share.ns for share in found.idle if share.ns}
        assert idle == {
            "dependency wait": pytest.approx(waited, abs=20),
            "unclassified": pytest.approx(latency, abs=20),
        }
