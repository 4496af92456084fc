"""``commcanary compile``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from commcanary.cli.options import Assume, numbers, without_effect
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.cli.written import Written
from commcanary.errors import UsageError
from commcanary.units import MAX_TIME_US, NS_PER_US, show_bytes, show_ratio


def _budget(of: str) -> Any:
    return typer.Option(min=0.0, help=f"Refuse a canary in which {of} is further off.")


def command(
    trace: Annotated[Path, typer.Argument(help="Trace to compile.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File to write: .json or .parquet."),
        Written(beside=".search.json", only_with="--behavior-search"),
    ],
    timing_sample_limit: Annotated[
        int | None, typer.Option(min=1, help="At most this many timing records per group of equal operations.")
    ] = None,
    quantum_us: Annotated[
        float | None, typer.Option(min=0.001, max=MAX_TIME_US, help="Move times to a grid of this many microseconds.")
    ] = None,
    lossless_timing: Annotated[bool, typer.Option("--lossless-timing", help="Lose nothing (the default).")] = False,
    max_gap_error_us: Annotated[float | None, _budget("a gap (us)")] = None,
    max_skew_error_us: Annotated[float | None, _budget("an event's arrival skew (us)")] = None,
    max_arrival_offset_error_us: Annotated[float | None, _budget("a rank's arrival (us)")] = None,
    max_compute_before_error_us: Annotated[float | None, _budget("compute before an event (us)")] = None,
    max_overlap_error_us: Annotated[float | None, _budget("compute beside an event (us)")] = None,
    max_pressure_error: Annotated[float | None, _budget("a compute pressure")] = None,
    max_observed_exposed_error_us: Annotated[float | None, _budget("an observed exposed latency (us)")] = None,
    max_prefix_gap_error_us: Annotated[float | None, _budget("the sum of gaps up to an event (us)")] = None,
    max_events: Annotated[int | None, typer.Option(min=1, help="Compile only the first events.")] = None,
    require_behavior_verification: Annotated[
        bool, typer.Option("--require-behavior-verification", help="Write only a canary that behaves like its source.")
    ] = False,
    reference_trace: Annotated[
        Path | None, typer.Option(help="The original that a cut or sampled trace was made from.")
    ] = None,
    behavior_search: Annotated[
        bool, typer.Option("--behavior-search", help="Find the smallest canary that behaves like its source.")
    ] = False,
    behavior_search_min_sample_limit: Annotated[
        int | None, typer.Option(min=1, help="Smallest sample limit that the search tries.  [default: 2]")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="File of configurations that the search reports apart and never chooses by.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Replay model that verifies.  [default: scheduler-v4]")
    ] = None,
    assume: Assume = None,
) -> None:
    """Compile a trace into a canary."""
    from commcanary.compile.compiler import CompileSettings
    from commcanary.compile.fidelity import ERROR_FIELDS, LOSSLESS
    from commcanary.replay.model import DEFAULT_MODEL
    from commcanary.stages.behavior_gate import BehaviorGate
    from commcanary.stages.behavior_search import SMALLEST_LIMIT, behavior_search_stage, ledger_path
    from commcanary.stages.compile import compile_stage
    from commcanary.stages.configurations import read_configurations

    if lossless_timing and (timing_sample_limit is not None or quantum_us is not None):
        raise UsageError("--lossless-timing excludes --timing-sample-limit and --quantum-us")
    budget = {
        "max_gap_error_us": max_gap_error_us,
        "max_skew_error_us": max_skew_error_us,
        "max_arrival_offset_error_us": max_arrival_offset_error_us,
        "max_compute_before_error_us": max_compute_before_error_us,
        "max_overlap_error_us": max_overlap_error_us,
        "max_pressure_error": max_pressure_error,
        "max_observed_exposed_error_us": max_observed_exposed_error_us,
        "max_prefix_gap_error_us": max_prefix_gap_error_us,
    }
    settings = CompileSettings(
        timing_sample_limit=timing_sample_limit,
        quantum_ns=None if quantum_us is None else round(quantum_us * NS_PER_US),
        budget={name: value for name, value in budget.items() if value is not None},
    )
    gated = require_behavior_verification or behavior_search
    if not gated:
        without_effect(
            {"--reference-trace": reference_trace, "--held-out": held_out, "--model": model, "--assume": assume},
            "it goes with --require-behavior-verification or --behavior-search",
        )
    if not behavior_search:
        without_effect(
            {"--behavior-search-min-sample-limit": behavior_search_min_sample_limit}, "it goes with --behavior-search"
        )
    if behavior_search and (lossless_timing or timing_sample_limit or quantum_us or max_events):
        raise UsageError("--behavior-search chooses the timing of the whole trace; leave other timing options out")
    gate = BehaviorGate(
        model or DEFAULT_MODEL,
        held_out=() if held_out is None else read_configurations(held_out),
        assumptions=numbers("--assume", assume),
    )
    with working(f"compiling {trace}") as progress:
        if behavior_search:
            found = behavior_search_stage(
                trace,
                output,
                gate,
                original_path=reference_trace,
                min_sample_limit=behavior_search_min_sample_limit or SMALLEST_LIMIT,
                budget=settings.budget,
                progress=progress,
            )
            compiler = found.canary.header.compiler
        else:
            compiler = compile_stage(
                trace,
                output,
                settings,
                max_events=max_events,
                gate=gate if require_behavior_verification else None,
                original_path=reference_trace,
            ).header.compiler
    say(
        f"canary {show_bytes(compiler.canary_bytes)}, trace {show_bytes(compiler.source_bytes)} "
        f"({show_ratio(compiler.source_bytes / compiler.canary_bytes)}); {compiler.source_events} events -> "
        f"{compiler.canary_events} groups ({compiler.event_compression_ratio:.1f}x) timing={compiler.timing_mode}"
    )
    if compiler.timing_mode != LOSSLESS:
        say(" ".join(f"{name}={getattr(compiler.fidelity, name)!r}" for name in ERROR_FIELDS))
    if behavior_search:
        summary = compiler.behavior_search
        assert summary is not None
        say(
            f"search: {summary.accepted_candidates} of {summary.candidate_count} candidates accepted; "
            f"ledger in {ledger_path(output)}"
        )
