"""The rooms of docs/architecture.md: which may import which, and what only some may touch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "commcanary"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A room may import itself and every room on a lower level; rooms of one level do not know each other.
LEVELS = (
    {"errors", "units", "capture"},
    {"artifacts"},
    {"timeline", "replay"},
    {"sources", "compile", "controls", "targets"},
    {"judge"},
    {"campaign"},
    {"stages"},
    {"reporting", "cli"},
)
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
# The command line writes pages: it alone may import a room of its own level.
ALLOWED_BESIDE = {("cli", "reporting")}


def room_of(module: Path) -> str | None:
    parts = module.relative_to(PACKAGE).with_suffix("").parts
    return None if parts == ("__init__",) else parts[0]


def imported_rooms(module: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("commcanary.")}
    return rooms


def imported_packages(module: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(module: Path) -> None:
    room = room_of(module)
    if room is None:
        assert imported_rooms(module) == set()
        return
    for other in imported_rooms(module) - {room}:
        below = LEVEL_OF[other] < LEVEL_OF[room]
        assert below or (room, other) in ALLOWED_BESIDE, f"{room} imports {other}"


def test_every_room_is_on_a_level() -> None:
    assert {room_of(module) for module in MODULES} - {None} == set(LEVEL_OF)


@pytest.mark.parametrize(
    ("package", "rooms"),
    [
        ("snakemake", set()),
        ("pandas", {"reporting"}),
        ("matplotlib", {"reporting"}),
        ("typer", {"cli"}),
        ("rich", {"cli"}),
    ],
)
def test_only_some_rooms_know_a_package(package: str, rooms: set[str]) -> None:
    users = {room_of(module) for module in MODULES if package in imported_packages(module)}
    assert users <= rooms


def test_nothing_outside_artifacts_opens_a_result_for_writing() -> None:
    """stages/job.py writes the log of a job, which is no result; campaign/engine.py holds a lock."""
    for module in MODULES:
        if room_of(module) == "artifacts" or module.name == "job.py":
            continue
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"write_text", "write_bytes"}:
                raise AssertionError(f"{module} writes with Path.{node.attr}")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                raise AssertionError(f"{module} opens a file by itself")


def test_scripts_only_unpack() -> None:
    for script in sorted((ROOT / "workflow" / "scripts").glob("*.py")):
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 15, script
