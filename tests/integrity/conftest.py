"""Every way to change one thing in a JSON document."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.stages.campaigns import make_campaign, write_config

from commcanary.stages.seal import seal_stage


def changed(value: Any) -> Any:
    """One unit away."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 0.001
    return "x" if value is None else value + "x"


def every_mutation(document: Any) -> Iterator[tuple[str, Any]]:
    """(place and kind of change, the changed document) for every leaf, key and pair of neighbours."""
    text = json.dumps(document)

    def at(path: tuple[Any, ...]) -> tuple[Any, Any]:
        whole = node = json.loads(text)
        for step in path[:-1]:
            node = node[step]
        return whole, node

    def walk(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
        name = ".".join(str(step) for step in path) or "top"
        if isinstance(node, dict):
            whole, _ = at((*path, ""))
            target = whole
            for step in path:
                target = target[step]
            target["forged"] = 1
            yield f"{name} key added", whole
        elif isinstance(node, list):
            for i in range(len(node) - 1):
                if node[i] != node[i + 1]:
                    whole, target = at((*path, i))
                    target[i], target[i + 1] = target[i + 1], target[i]
                    yield f"{name}.{i} swapped", whole
        else:
            whole, target = at(path)
            target[path[-1]] = changed(node)
            yield f"{name} changed", whole
        if path:
            whole, target = at(path)
            del target[path[-1]]
            yield f"{name} removed", whole
        steps = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for step, inner in steps:
            yield from walk(inner, (*path, step))

    yield from walk(json.loads(text), ())


@pytest.fixture(scope="session")
def mutations() -> Callable[[Any], Iterator[tuple[str, Any]]]:
    """Yields (place and kind of change, changed document) for every leaf, key and pair of neighbours."""
    return every_mutation


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small sealed campaign, not to be changed."""
    folder = tmp_path_factory.mktemp("sealed")
    make_campaign(folder / "small", write_config(folder))
    seal_stage(folder / "small", folder / "small.yaml")
    return folder / "small"


@pytest.fixture
def results(sealed: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(sealed, tmp_path / "small"))
