"""Does a canary on a grid of 1 us behave like its trace, and do the controls? Both models, five configurations.

    python benchmarks/snapped_canary.py [EVENTS] [PROFILE ...]

For `synth mixed` of EVENTS (default 100,000) events, and for the trace of the Kineto profiles where they are given (the
ranks of one job; clocks are estimated): one line a model and representation. `behaviour` counts the configurations
that pass, `worst` is the largest error in percent of its tolerance, `recall` the smallest tail recall (p95 and
p99, whole run and eight windows), `makespan` the largest error of the makespan in percent.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.controls.registry import make_control
from commcanary.judge.reference import Reference
from commcanary.judge.verify_behavior import verify_behavior, worst_error_pct
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.replay.model import MODELS
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.sources.synthetic.mixed import mixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.trace import Trace
    from commcanary.judge.behavior import BehaviorVerification

CONTROLS = ("cluster", "stratified", "frequency", "random", "isolated")
LINE = "{:<15}{:<14}{:<24}{:>9}{:>12}{:>10}{:>8}{:>10}{:>8}"


def representations(trace: Trace, reference: Reference) -> Iterator[tuple[str, Canary]]:
    """The canary on its grid, then the controls: same count, same total time."""
    yield "snapped 1 us", compile_trace(trace, CompileSettings(quantum_ns=1000))
    exposed = reference.outcomes["baseline"].exposed_us[0]
    for method in CONTROLS:
        yield method, compile_trace(make_control(trace, method, exposed_us=exposed), CompileSettings())


def line(model: str, name: str, found: BehaviorVerification, seconds: float) -> str:
    passed = sum(configuration.status == "pass" for configuration in found.configurations)
    recalls = [recall.smallest for c in found.configurations for recall in c.tail_event_recall]
    makespans = [
        abs(check.relative_delta_pct or 0.0)
        for c in found.configurations
        for check in c.checks
        if check.name == "makespan_us"
    ]
    smallest = min((recall for recall in recalls if recall is not None), default=None)
    worst = worst_error_pct(found)
    return LINE.format(
        model,
        name,
        found.status,
        f"{passed} of {len(found.configurations)}",
        found.configuration_ranking_status,
        f"{worst:.1f} %",
        "-" if smallest is None else f"{smallest:.3f}",
        f"{max(makespans):.3f} %" if makespans else "-",
        f"{seconds:.1f} s",
    )


def table(title: str, trace: Trace) -> None:
    print(f"\n{title}: {len(trace):,} events")
    print(LINE.format("model", "what", "status", "behaviour", "ranking", "worst", "recall", "makespan", "time"))
    for model in MODELS:
        reference = Reference(trace, model, tuple(NAMED.values()), Protocol())
        for name, canary in representations(trace, reference):
            begin = time.process_time()
            found = verify_behavior(reference, canary)
            print(line(model, name, found, time.process_time() - begin), flush=True)


def main() -> None:
    arguments = sys.argv[1:]
    events = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 100_000
    table("synth mixed", mixed(7, events))
    if arguments:
        paths = [Path(argument) for argument in arguments]
        table("profiles", import_kineto(paths, KinetoSettings(estimate_clock=True)).trace)


if __name__ == "__main__":
    main()
