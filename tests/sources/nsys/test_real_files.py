"""Every real export in ../shared/traces, with counts taken from the files by hand (SQL)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nsys.database import opened
from commcanary.sources.nsys.importer import import_nsys
from commcanary.sources.nsys.kernels import export_kernels
from commcanary.sources.nsys.payloads import Payloads
from commcanary.sources.nsys.ranges import ranges_around
from commcanary.timeline.communication_kernels import CommunicationKernels

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = [
    (
        "h100_2gpu_1s",
        "NCCL described its payloads, no NVTX range of an NCCL operation; 3,442 kernels of which 0 communicate",
    ),
    ("healthy_1pct", "no table NVTX_EVENTS; 400 kernels of which 0 communicate"),
]


@pytest.mark.parametrize(("name", "found"), REFUSED)
def test_nothing_to_import_says_what_is_there_and_how_to_export(shared_traces: Path, name: str, found: str) -> None:
    with pytest.raises(InputRefusal) as refused:
        import_nsys([shared_traces / "nsys" / f"{name}.sqlite"])
    assert f"nothing to import: {found}" in str(refused.value)
    again = f"nsys export --type=sqlite --include-blobs=true --force-overwrite=true -o {name}.sqlite {name}.nsys-rep"
    assert str(refused.value).endswith(again)


def test_kernels_of_two_devices(shared_traces: Path) -> None:
    with opened(shared_traces / "nsys" / "h100_2gpu_1s.sqlite") as export:
        kernels = export_kernels(export, export.strings(), CommunicationKernels())
        assert kernels is not None
        computing = kernels.computing
        length = computing["end"] - computing["start"]
        lengths = {device: int(length[computing["deviceId"] == device].sum()) for device in (0, 1)}
        assert lengths == {0: 22_385_163, 1: 22_444_359}
        assert Payloads(export).described  # 34 entries, each layout described by both processes


def test_ranges_around_a_point(shared_traces: Path) -> None:
    """The first range of the export lies around its own start."""
    import numpy as np

    with opened(shared_traces / "nsys" / "h100_2gpu_1s.sqlite") as export:
        table = export.table("NVTX_EVENTS")
        thread, start = export.rows(
            'SELECT globalTid, start FROM NVTX_EVENTS WHERE text LIKE "aten::mul, op_id = 317048%" LIMIT 1', "x"
        )[0]
        (names,) = ranges_around(export, table, export.strings(), np.asarray([thread]), np.asarray([start]))
        assert names[-1] == "aten::mul"
