"""One honest artifact of every kind that a command writes, and what a refused command must look like."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path

from commcanary.cli.main import run

LONGEST_S = 5.0
CONFIGURATIONS = "configurations:\n- {name: one, bandwidth_scale: 1.0}\n- {name: two, bandwidth_scale: 0.5}\n"


def honest_chain(folder: Path) -> dict[str, Path]:
    """Kind of artifact -> file, for both containers: ``trace.json``, ``trace.parquet``, ..."""

    def made(*arguments: str | Path) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert run([str(argument) for argument in arguments]) in (0, 1)

    trace, canary, report, slower = (folder / f"{name}.json" for name in ("trace", "canary", "report", "slower"))
    made("synth", "mixed", "-o", trace, "--events", "24")
    made("compile", trace, "-o", canary, "--timing-sample-limit", "4")
    made("replay", canary, "-o", report, "--include-samples")
    made("replay", canary, "-o", slower, "--include-samples", "--configuration", "congested")
    made("compare", report, slower, "-o", folder / "comparison.json")
    made("verify-report", report, canary, "-o", folder / "report_verification.json")
    made("verify-source", trace, canary, "-o", folder / "source_verification.json")
    made("verify-behavior", trace, canary, "-o", folder / "behavior.json")
    made("compile", trace, "-o", folder / "searched.json", "--behavior-search")
    for ledger in folder.glob("searched*.search.json"):
        ledger.rename(folder / "ledger.json")
    slower.unlink()
    (folder / "searched.json").unlink()
    for file in list(folder.glob("*.json")):
        made("convert", file, file.with_suffix(".parquet"))
    return {file.name: file for file in sorted(folder.iterdir())}


def commands(file: Path, chain: dict[str, Path], output: Path) -> list[list[str]]:
    """Every command that reads a file of this kind, with ``file`` in its place."""
    kind = file.name.split(".")[0]
    canary, trace, report = (str(chain[f"{name}.json"]) for name in ("canary", "trace", "report"))
    given, out = str(file), str(output)
    reads = {
        "trace": [
            ["compile", given, "-o", out],
            ["verify-source", given, canary, "-o", out],
            ["verify-behavior", given, canary, "-o", out],
            ["baseline", given, "-o", out, "--method", "frequency"],
            ["reduce", given, "-o", out],
        ],
        "canary": [
            ["replay", given, "-o", out],
            ["verify-source", trace, given, "-o", out],
            ["verify-behavior", trace, given, "-o", out],
            ["verify-report", report, given, "-o", out],
            ["export-param", given, "-o", out],
        ],
        "report": [["compare", given, report, "-o", out], ["verify-report", given, canary, "-o", out]],
    }
    return [["show", given], ["show", given, "--why"], ["convert", given, out], *reads.get(kind, [])]


def assert_ends_well(arguments: list[str], folder: Path) -> int:
    """Run one command; a refusal is one line, quick, writes nothing and is no fault of ours. The exit code."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    said, complained = io.StringIO(), io.StringIO()
    began = time.process_time()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run(arguments)
    assert time.process_time() - began < LONGEST_S, arguments
    line = complained.getvalue()
    assert code in (0, 1, 2, 3), (arguments, code)
    assert "internal fault" not in line, (arguments, line)
    assert "Traceback" not in line, (arguments, line)
    if code in (2, 3):
        assert line.startswith("commcanary: "), (arguments, line)
        assert line.count("\n") == 1, (arguments, line)
        assert len(line) < 1500, (arguments, line)
        assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before, arguments
    return code
