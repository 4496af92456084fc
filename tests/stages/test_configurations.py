"""A file of configurations is as long as a ranking can be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commcanary.errors import InputRefusal
from commcanary.stages.configurations import read_configurations


def written(path: Path, count: int) -> Path:
    path.write_text(json.dumps({"configurations": [{"name": f"c{i}"} for i in range(count)]}))
    return path


def test_at_most_256_are_read(tmp_path: Path) -> None:
    assert len(read_configurations(written(tmp_path / "c.json", 256))) == 256
    with pytest.raises(InputRefusal) as refused:
        read_configurations(written(tmp_path / "c.json", 257))
    assert "\n" not in str(refused.value)
    for part in ("c.json", "configurations", "257", "256"):
        assert part in str(refused.value)
