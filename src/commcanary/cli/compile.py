"""``commcanary compile``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Assume, Model, Output, numbers
from commcanary.cli.progress import working
from commcanary.errors import UsageError
from commcanary.units import NS_PER_US, show_bytes, show_ratio

_Budget = Annotated[float | None, typer.Option(min=0.0, help="Refuse if the error of this field is larger.")]


def command(
    trace: Annotated[Path, typer.Argument(help="Trace to compile.")],
    output: Output,
    timing_sample_limit: Annotated[
        int | None, typer.Option(min=1, help="At most this many timing records per group of equal operations.")
    ] = None,
    quantum_us: Annotated[float | None, typer.Option(help="Move times to a grid of this many microseconds.")] = None,
    lossless_timing: Annotated[bool, typer.Option("--lossless-timing", help="Lose nothing (the default).")] = False,
    max_gap_error_us: _Budget = None,
    max_skew_error_us: _Budget = None,
    max_arrival_offset_error_us: _Budget = None,
    max_compute_before_error_us: _Budget = None,
    max_overlap_error_us: _Budget = None,
    max_pressure_error: _Budget = None,
    max_observed_exposed_error_us: _Budget = None,
    max_prefix_gap_error_us: _Budget = None,
    max_events: Annotated[int | None, typer.Option(min=1, help="Compile only the first events.")] = None,
    require_behavior_verification: Annotated[
        bool, typer.Option("--require-behavior-verification", help="Write only a canary that behaves like its source.")
    ] = False,
    reference_trace: Annotated[
        Path | None, typer.Option(help="The original that a cut or sampled trace was made from.")
    ] = None,
    model: Model = "scheduler-v4",
    assume: Assume = None,
) -> None:
    """Compile a trace into a canary."""
    from commcanary.compile.compiler import CompileSettings
    from commcanary.compile.fidelity import ERROR_FIELDS, LOSSLESS
    from commcanary.stages.behavior_gate import BehaviorGate
    from commcanary.stages.compile import compile_stage

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
    if reference_trace is not None and not require_behavior_verification:
        raise UsageError("--reference-trace is for --require-behavior-verification; give both or neither")
    gate = BehaviorGate(model, assumptions=numbers("--assume", assume)) if require_behavior_verification else None
    with working(f"compiling {trace}"):
        compiler = compile_stage(
            trace, output, settings, max_events=max_events, gate=gate, original_path=reference_trace
        ).header.compiler
    print(
        f"canary {show_bytes(compiler.canary_bytes)}, trace {show_bytes(compiler.source_bytes)} "
        f"({show_ratio(compiler.source_bytes / compiler.canary_bytes)}); {compiler.source_events} events -> "
        f"{compiler.canary_events} groups ({compiler.event_compression_ratio:.1f}x) timing={compiler.timing_mode}"
    )
    if compiler.timing_mode != LOSSLESS:
        print(" ".join(f"{name}={getattr(compiler.fidelity, name)!r}" for name in ERROR_FIELDS))
