"""Names collide neither with each other nor with what the campaign writes, and are refused before any job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from commcanary.campaign.config_file import load_config
from commcanary.campaign.names import TAKEN_IN_CAMPAIGN
from commcanary.errors import InputRefusal

SYNTH = {"kind": "synth", "name": "inference"}


def config(
    campaign: str = "c",
    workloads: tuple[str, ...] = ("w",),
    configurations: tuple[str, ...] = ("baseline",),
    representations: tuple[str, ...] = ("canary",),
    **more: Any,
) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "configurations": [{"name": name} for name in configurations],
        "representations": [{"name": name, "method": "canary"} for name in representations],
        "workloads": [{"name": name, "source": SYNTH} for name in workloads],
        **more,
    }


@pytest.mark.parametrize(
    ("document", "refusal"),
    [
        *(
            (config(workloads=("w", name)), f"workloads[1].name: {name!r} is the name of a")
            for name in TAKEN_IN_CAMPAIGN
        ),
        (config(workloads=("Tables",)), "workloads[0].name: 'Tables' is the name of a file or folder"),
        (config(representations=("trace.parquet",)), "representations[0].name: 'trace.parquet' is the name of a"),
        (config(representations=("ablations.json",)), "representations[0].name: 'ablations.json' is the name of a"),
        (config(configurations=("baseline", "index")), "configurations[1].name: 'index' is the name of a"),
        (config(campaign="index.html"), "campaign: 'index.html' is the name of a"),
        (config(workloads=("a", "b", "A")), "workloads[2].name: 'A' differs from 'a' by case alone"),
        (config(workloads=("a", "a")), "workloads[1].name: 'a' is used 2 times"),
        (config(configurations=("baseline", "Baseline")), "configurations[1].name: 'Baseline' differs from 'baseline'"),
        (config(representations=("canary", "cAnary")), "representations[1].name: 'cAnary' differs from 'canary'"),
        (
            config(workloads=("a", "a.b"), representations=("b.c", "c")),
            "workloads: a.b with c and a with b.c both make a.b.c",
        ),
    ],
)
def test_a_name_that_collides_is_refused(tmp_path: Path, document: dict[str, Any], refusal: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(InputRefusal) as refused:
        load_config(path)
    assert str(refused.value).startswith(f"{path}: {refusal}")
    assert "\n" not in str(refused.value)


def test_other_names_are_free(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(config(workloads=("a.b", "table", "trace.parquet"), representations=("logs", "c"))))
    assert [workload.name for workload in load_config(path).workloads] == ["a.b", "table", "trace.parquet"]
