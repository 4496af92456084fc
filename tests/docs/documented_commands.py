"""Console blocks of the documentation: found, run, and written again with what the commands print today.

    python tests/docs/documented_commands.py docs/tutorial.md docs/how-to/*.md

A block is fenced as ``console``; a line that begins with ``$ `` is a command, the lines below it are all that it
prints, refusals included. The commands of one file run one after another in a fresh ``results/by-hand`` of a folder
that also holds the repository's ``resources``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from commcanary.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
_FENCE, _END, _PROMPT = "```console", "```", "$ "
_SHELL = re.compile(r"[|<>;&*$`]")


_IDS = re.compile(r"(states|hashes to) [0-9a-f]{12}\b")

_DOTS = r"\1 ............"


@dataclass(frozen=True)
class Documented:
    """A command, what the document says it prints, and the document's line of the command (from 1)."""

    command: str
    printed: str
    line: int


def commands_of(text: str) -> list[Documented]:
    """Every command of a document's console blocks, in order."""
    found: list[Documented] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line == _FENCE:
            inside = True
        elif inside and line == _END:
            inside = False
        elif inside and line.startswith(_PROMPT):
            found.append(Documented(line.removeprefix(_PROMPT), "", number))
        elif inside:
            last = found.pop()
            found.append(Documented(last.command, f"{last.printed}{line}\n", last.line))
    return found


class Reader:
    """Somebody who types the commands of one document into a shell at ``root``/results/by-hand."""

    def __init__(self, root: Path) -> None:
        (root / "resources").symlink_to(ROOT / "resources")
        self.folder = root / "results" / "by-hand"
        self.folder.mkdir(parents=True)
        self.code = 0

    def type(self, command: str) -> str:
        """What ``command`` prints, each line without trailing spaces, and with dots for content ids of reports: they
        hold the last bit of logarithms, which may differ between machines, so a document shows none.
        """
        if command == "echo $?":
            printed = f"{self.code}\n"
        elif _SHELL.search(command) or not command.startswith("commcanary "):
            printed = self._in_shell(command)
        else:
            printed = self._in_process(shlex.split(command)[1:])
        return "".join(f"{_IDS.sub(_DOTS, line.rstrip())}\n" for line in printed.splitlines())

    def _in_process(self, arguments: list[str]) -> str:
        stream = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            self.code = run(arguments)
        return stream.getvalue()

    def _in_shell(self, command: str) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.code = done.returncode
        return done.stdout


def rewritten(text: str, reader: Reader) -> str:
    """The document with every command's output as it is today."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line in (_FENCE, _END):
            inside = line == _FENCE
        if not inside or line == _FENCE or line.startswith(_PROMPT):
            lines.append(line)
        if inside and line.startswith(_PROMPT):
            lines += reader.type(line.removeprefix(_PROMPT)).splitlines()
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            written = rewritten(Path(name).read_text(encoding="utf-8"), Reader(Path(folder)))
        Path(name).write_text(written, encoding="utf-8")
