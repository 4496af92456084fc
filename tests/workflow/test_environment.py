"""pyproject.toml, requirements.lock and environment.yml say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}


def requirement(text: str) -> tuple[str, str]:
    name, bound = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", text).groups()  # type: ignore[union-attr]
    return name.lower(), bound


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def locked() -> dict[str, tuple[int, ...]]:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([0-9]+(?:\.[0-9]+)*)", text, re.MULTILINE)
    return {name.lower(): tuple(int(part) for part in version.split(".")) for name, version in pins}


def test_environment_yml_names_what_pyproject_names() -> None:
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    pairs = dict(requirement(text) for text in conda)
    assert pairs.pop("python") == project()["project"]["requires-python"].removeprefix(">=")  # type: ignore[index]
    direct = dict(requirement(text) for text in project()["project"]["dependencies"])  # type: ignore[index]
    assert {CONDA_NAMES.get(name, name): bound for name, bound in pairs.items()} == direct


def test_the_lock_satisfies_every_bound() -> None:
    document = project()
    wanted = document["project"]["dependencies"] + document["dependency-groups"]["dev"]  # type: ignore[index]
    pins = locked()
    for name, bound in map(requirement, wanted):
        assert pins[name] >= tuple(int(part) for part in bound.split(".")), name


def test_the_lock_names_no_host() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text


def test_every_direct_dependency_has_its_reason() -> None:
    reasons = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for text in project()["project"]["dependencies"]:  # type: ignore[index]
        assert requirement(text)[0] in reasons
