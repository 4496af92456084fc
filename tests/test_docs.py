"""The documentation names what is there: links, commands, options and keys."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commcanary.campaign.config import (
    CampaignConfig,
    ReplayProtocol,
    Representation,
    Workload,
)
from commcanary.campaign.study_config import StudyConfig
from commcanary.campaign.workload_sources import (
    CaptureSource,
    ChakraSource,
    FlightRecorderSource,
    KinetoSource,
    NsysSource,
    SynthSource,
    TraceSource,
)
from commcanary.cli.main import run
from commcanary.judge.policy import Policy
from commcanary.judge.thresholds import Thresholds
from commcanary.judge.tolerances import Tolerances
from commcanary.replay.configuration import Configuration

ROOT = Path(__file__).resolve().parents[1]

_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]*)\)")
_OPTION = re.compile(r"--[a-z][a-z0-9-]*")
_HELP_OPTION = re.compile(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]*)", re.MULTILINE)
_HELP_COMMAND = re.compile(r"^  ([a-z][a-z-]*) ", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_LOCAL_PATH = re.compile(r"(?<![\w.~-])/(?:" + "|".join(("work", "tmp", "home", "root", "Users", "mnt")) + r")/")
_HOST = re.compile(r"https?://([A-Za-z0-9.-]+)")
_INDEX_OPTION = re.compile("|".join(("index" + "-url", "find" + "-links", "trusted" + "-host")))

HOSTS = {
    "bioschemas.org",
    "schema.org",
    "snakemake.readthedocs.io",
    "spdx.org",
    "w3id.org",
    "github.com",
    "www.apache.org",
    "www.w3.org",
    "arxiv.org",
    "doi.org",
    "json-schema.org",
    "docs.pytorch.org",
    "example.org",
}
"""Hosts that the repository may name: those of projects and standards, and the one kept for examples."""

NAMES_INDEX_OPTIONS = {"docs/dependencies.md", "tests/workflow/test_environment.py"}
"""Say how the lock file is renewed without naming a host, and test that none is in it."""


def tracked(*patterns: str) -> list[str]:
    """Tracked files that match, as paths from the root."""
    found = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    return [name for name in found.stdout.split("\0") if name and (ROOT / name).is_file()]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading of the second level."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def anchors(text: str) -> set[str]:
    """The anchors of a Markdown file's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert run([*command, "--help"]) == 0
    return capsys.readouterr().out


def cli_commands(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Every command, those of a group with the group's name."""
    listed = _HELP_COMMAND.findall(help_of(capsys).partition("Commands:")[2])
    commands = []
    for name in listed:
        inner = _HELP_COMMAND.findall(help_of(capsys, name).partition("Commands:")[2])
        commands += [f"{name} {part}" for part in inner] or [name]
    return commands


def test_relative_links_resolve() -> None:
    broken = []
    for name in tracked("*.md"):
        for target in _LINK.findall(text_of(name)):
            path, _, anchor = target.partition("#")
            file = (ROOT / name).parent / path if path else ROOT / name
            if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
                broken.append(f"{name}: {target}")
    assert not broken


def test_commands_named_in_the_documentation_exist(capsys: pytest.CaptureFixture[str]) -> None:
    commands = cli_commands(capsys)
    first_words = {command.split()[0] for command in commands}
    named = re.compile(r"(?<!-n )commcanary ([a-z][a-z-]+)(?: ([a-z]+(?:-[a-z]+)*)\b)?")
    wrong = []
    for name in tracked("*.md"):
        for first, second in named.findall(text_of(name)):
            known = f"{first} {second}" in commands if first == "campaign" and second else first in first_words
            if not known:
                wrong.append(f"{name}: commcanary {first} {second}".strip())
    assert not wrong


def test_reference_has_every_command_and_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of("docs/reference/commands.md")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    differences = []
    commands = cli_commands(capsys)
    everywhere = re.findall(r"`(--[a-z-]+) [A-Z]+` \| every command", section(text, "Options of several commands"))
    assert everywhere == ["--max-input-bytes"]
    for command in commands:
        heading = next((h for h in headings if h == command or h.startswith(command + " ")), None)
        assert heading is not None, f"{command} has no section"
        documented = set(_OPTION.findall(heading + "\n" + section(text, heading))) - {"--output"}
        existing = set(_HELP_OPTION.findall(help_of(capsys, *command.split()))) - {"--output", "--help", *everywhere}
        differences += [f"{command}: {option} is not documented" for option in sorted(existing - documented)]
        differences += [f"{command}: {option} does not exist" for option in sorted(documented - existing)]
    assert not differences


def test_options_before_the_command_are_documented(capsys: pytest.CaptureFixture[str]) -> None:
    before = text_of("docs/reference/commands.md").partition("\n## ")[0]
    assert set(_HELP_OPTION.findall(help_of(capsys))) <= set(_OPTION.findall(before))


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Top level", CampaignConfig),
        ("`workloads`", Workload),
        ("`configurations`", Configuration),
        ("`representations`", Representation),
        ("`replay`", ReplayProtocol),
        ("`thresholds`", Thresholds),
        ("`policy`", Policy),
        ("`tolerances`", Tolerances),
        ("`overlap_studies`", StudyConfig),
    ],
)
def test_configuration_keys_are_the_types_fields(heading: str, kind: Any) -> None:
    rows = re.findall(r"^\| ([^|]+) \|", section(text_of("config/README.md"), heading), re.MULTILINE)
    keys = [key for row in rows for key in _CODE.findall(row)]
    assert sorted(keys) == sorted(kind.__struct_fields__)


@pytest.mark.parametrize(
    "kind", [SynthSource, TraceSource, KinetoSource, NsysSource, ChakraSource, FlightRecorderSource, CaptureSource]
)
def test_source_keys_are_the_types_fields(kind: Any) -> None:
    rows = section(text_of("config/README.md"), "`workloads`")
    tag = kind.__struct_config__.tag
    keys = re.search(rf"`kind: {tag}` \(([^)]*)\)", rows)
    assert keys is not None
    assert sorted(_CODE.findall(keys[1])) == sorted(kind.__struct_fields__)


def test_nothing_names_a_local_path_or_a_package_host() -> None:
    found = []
    for name in tracked():
        try:
            text = text_of(name)
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {match.group()}" for match in _LOCAL_PATH.finditer(text)]
        found += [f"{name}: {host}" for host in _HOST.findall(text) if host not in HOSTS]
        if name not in NAMES_INDEX_OPTIONS:
            found += [f"{name}: {match.group()}" for match in _INDEX_OPTION.finditer(text)]
    assert not found
