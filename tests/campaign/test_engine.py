"""What the engine's arguments mean before they reach it."""

from __future__ import annotations

import pytest

from commcanary.campaign.engine import is_dry_run


@pytest.mark.parametrize(
    ("arguments", "dry"),
    [
        (["-n"], True),
        (["--dry-run"], True),
        (["--cores", "2", "--dryrun"], True),
        (["-np"], True),
        (["-pn"], True),
        ([], False),
        (["--until", "trace"], False),
        (["--notemp"], False),
        (["-j2"], False),
        (["-C", "name=1"], False),
    ],
)
def test_a_dry_run_is_recognised(arguments: list[str], dry: bool) -> None:
    assert is_dry_run(arguments) is dry
