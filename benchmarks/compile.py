"""The compiler's bars: sizes, errors, seconds and memory. Prints every figure that docs and issues quote.

    python benchmarks/compile.py [--largest 1000000] [--only sizes,segments,replay,scaling]

Sizes are canonical exchange JSON on both sides unless a line says Parquet. Every compile of the scaling table
is a process of its own that reads a Parquet trace and writes a Parquet canary.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.parquetfile import write_parquet
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.fidelity import ERROR_FIELDS, fidelity
from commcanary.compile.segments import segmented
from commcanary.sources.synthetic.inference import inference
from commcanary.sources.synthetic.mixed import mixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.events import Events
    from commcanary.artifacts.stored import Stored

LOSSLESS = CompileSettings()
SNAPPED = CompileSettings(quantum_ns=1000)
CODECS = {"lossless": LOSSLESS, "snapped 1 us": SNAPPED, "segments 8": CompileSettings(timing_sample_limit=8)}
ZSTD = pa.Codec("zstd", compression_level=6)

CHILD = """
import sys
from pathlib import Path
from commcanary.compile.compiler import CompileSettings
from commcanary.stages.compile import compile_stage
compile_stage(Path(sys.argv[1]), Path(sys.argv[2]), CompileSettings())
"""


def verdict(holds: bool) -> str:
    return "ok" if holds else "MISSED"


def window(trace: Trace, start: int, end: int) -> Trace:
    """Some events as a whole trace of their own."""
    return Trace.of(TraceHeader(workload=trace.header.workload), trace.events.take(np.arange(start, end)))


def parquet_bytes(stored: Stored) -> int:
    stream = BytesIO()
    write_parquet(stream, stored)
    return len(stream.getvalue())


def header_bytes(canary: Canary) -> int:
    document = json.loads(json_bytes(CANARY, canary.stored))
    kept = {key: value for key, value in document.items() if key not in ("timing", "signatures")}
    return len(json.dumps(kept, sort_keys=True, separators=(",", ":")))


def sizes() -> None:
    print("10 events, 8 ranks, full arrivals, lossless")
    for name, trace in (("prefill", window(inference(1), 0, 10)), ("prefill to decode", window(inference(1), 28, 38))):
        canary = compile_trace(trace, LOSSLESS)
        compiler, header = canary.header.compiler, header_bytes(canary)
        ratio = compiler.source_bytes / compiler.canary_bytes
        print(
            f"  {name}: canary {compiler.canary_bytes:,} B, trace {compiler.source_bytes:,} B: {ratio:.2f}x smaller"
            f" (bar 2x: {verdict(ratio >= 2)}); header {header} B (bar 650: {verdict(header <= 650)})"
        )
    print("mixed, lossless, exchange JSON (bar 4x at 1,000 and 10,000)")
    for count in (1_000, 10_000, 100_000):
        compiler = compile_trace(mixed(1, count), LOSSLESS).header.compiler
        ratio = compiler.source_bytes / compiler.canary_bytes
        print(f"  {count:>7,} events: {ratio:.2f}x smaller ({verdict(ratio >= 4)})")
    print("mixed, lossless: Parquet canary against zstd-compressed source JSON (bar: smaller from 1,000 events)")
    for count in (100, 1_000, 10_000, 100_000):
        trace = mixed(1, count)
        ours = parquet_bytes(compile_trace(trace, LOSSLESS).stored)
        theirs = ZSTD.compress(json_bytes(TRACE, trace.stored)).size
        print(f"  {count:>7,} events: {ours:,} B against {theirs:,} B ({verdict(ours < theirs)})")
    print("mixed, snapped at 1 us, Parquet (bar 8 bytes an event at 100,000)")
    for count in (10_000, 100_000):
        per_event = parquet_bytes(compile_trace(mixed(1, count), SNAPPED).stored) / count
        print(f"  {count:>7,} events: {per_event:.2f} B/event ({verdict(per_event <= 8)})")
    crossover()


def crossover() -> None:
    """Bytes per event against the trace's length, and the first length from which the canary is smaller."""
    lengths = (1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 1_000, 10_000)
    for name, source in (("inference", inference(1, 10_032)), ("mixed", mixed(1, 10_000))):
        print(f"{name}: bytes per event in exchange JSON, trace against canary by codec (and Parquet of both)")
        smaller: dict[str, int | None] = dict.fromkeys(CODECS)
        for count in lengths:
            trace = window(source, 0, min(count, len(source)))
            line = f"  {count:>6,}"
            for codec, settings in CODECS.items():
                canary = compile_trace(trace, settings)
                compiler = canary.header.compiler
                if compiler.canary_bytes >= compiler.source_bytes:
                    smaller[codec] = None
                elif smaller[codec] is None:
                    smaller[codec] = count
                if codec == "lossless":
                    line += f"  trace {compiler.source_bytes / count:8.1f} ({parquet_bytes(trace.stored) / count:8.1f})"
                line += f"  {codec} {compiler.canary_bytes / count:8.1f} ({parquet_bytes(canary.stored) / count:8.1f})"
            print(line)
        found = ", ".join(f"{codec} from {n} events" if n else f"{codec} never" for codec, n in smaller.items())
        print(f"  smaller than the trace: {found}")


def nearest_to_median(events: Events, limit: int) -> tuple[Events, int]:
    """The rival: equal stretches of each run of one operation, each held by the event nearest to its medians.

    Returns the events that such a canary replays and its number of records.
    """
    starts = np.flatnonzero(np.concatenate([[True], events.signature[1:] != events.signature[:-1]]))
    chosen = np.empty(len(events), np.int64)
    records = 0
    for begin, end in zip(starts.tolist(), [*starts[1:].tolist(), len(events)], strict=True):
        pieces = min(limit, end - begin)
        for piece in range(pieces):
            first, last = begin + (end - begin) * piece // pieces, begin + (end - begin) * (piece + 1) // pieces
            block = events.offsets_ns.values[events.offsets_ns.bounds[first] : events.offsets_ns.bounds[last]]
            columns = np.column_stack(
                [
                    events.gap_ns[first:last],
                    events.compute_before_ns[first:last],
                    events.compute_overlap_ns[first:last],
                    block.reshape(last - first, -1),
                ]
            )
            distance = np.abs(columns - np.median(columns, axis=0)).sum(axis=1)
            chosen[first:last] = first + int(np.argmin(distance))
            records += 1
    return events.take(chosen), records


def segments() -> None:
    print("segments against equal stretches held by the event nearest to their medians: largest error of any time, us")
    one_operation = mixed(2, 60_000)
    tensor = np.flatnonzero(one_operation.events.signature == 0)
    same = Trace.of(TraceHeader(workload={"name": "one operation"}), one_operation.events.take(tensor))
    times = [name for name in ERROR_FIELDS if name not in ("max_prefix_gap_error_us", "max_pressure_error")]
    for name, trace, limits in (
        (f"one operation, {len(same)} events", same, (1, 2, 8, 32, 128, 512)),
        ("inference, 1,000 events", inference(1, 1000), (1, 2, 4, 8, 16, 24)),
    ):
        for limit in limits:
            rival, rival_records = nearest_to_median(trace.events, limit)
            ours = compile_trace(trace, CompileSettings(timing_sample_limit=limit)).header.compiler.fidelity
            records = len(segmented(trace.events, limit).count)
            theirs = fidelity(trace.events, rival)
            a, b = (max(getattr(f, n) for n in times) for f in (ours, theirs))
            holds = verdict(a <= b and records <= rival_records)
            print(
                f"  {name}, limit {limit:>3}: {a:9.3f} with {records:>4} records, heuristic {b:9.3f} with"
                f" {rival_records:>4} ({holds}); total of the gaps off by {ours.max_prefix_gap_error_us:.3f} at most"
            )


def replay() -> None:
    """What scheduler-v4 makes of a canary whose offsets moved by half a microsecond at most."""
    from commcanary.replay.configuration import Configuration
    from commcanary.replay.metrics import latency_summary
    from commcanary.replay.model import model_named

    model = model_named("scheduler-v4")
    trace = mixed(1, 100_000)
    print("scheduler-v4, mixed, 100,000 events, seed 7: exposed latency, us")
    samples = {}
    for name, settings in {
        "lossless": LOSSLESS,
        "1 ns grid": CompileSettings(quantum_ns=1),
        "snapped 1 us": SNAPPED,
    }.items():
        events = compile_trace(trace, settings).events
        samples[name] = model.run(model.prepare(events), Configuration(name="baseline"), (7,), 1).exposed_us
        s = latency_summary(samples[name])
        print(f"  {name:<12} median {s.median_us:.3f} p95 {s.p95_us:.3f} p99 {s.p99_us:.3f} max {s.max_us:.3f}")
    size = len(trace) // 100
    slowest = {name: set(np.argsort(-values, kind="stable")[:size].tolist()) for name, values in samples.items()}
    recall = len(slowest["lossless"] & slowest["snapped 1 us"]) / size
    moved = np.abs(samples["lossless"] - samples["snapped 1 us"])
    print(f"  recall of the slowest 1 %: {recall:.3f}; events off by more than 1 us: {np.mean(moved > 1):.1%}")


def scaling(largest: int) -> None:
    print("lossless compile of mixed, one process on one core, Parquet to Parquet (bar: 1,000,000 in 10 s and 1.5 GB)")
    core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else set()
    with tempfile.TemporaryDirectory() as folder:
        for count in (10_000, 100_000, 1_000_000, 10_000_000):
            if count > largest:
                continue
            source, target = Path(folder) / "trace.parquet", Path(folder) / "canary.parquet"
            write_trace(source, count)
            seconds, cpu, peak = measured([sys.executable, "-c", CHILD, str(source), str(target)], core)
            holds = f" ({verdict(cpu <= 10 and peak <= 1500)})" if count == 1_000_000 else ""
            print(
                f"  {count:>10,} events: {seconds:7.2f} s wall, {cpu:7.2f} s on the core ({cpu / count * 1e6:.2f} us"
                f" an event), peak {peak:,.0f} MB, canary {target.stat().st_size / count:.2f} B/event{holds}"
            )


def write_trace(path: Path, count: int) -> None:
    """In a process of its own: the parent stays small."""
    code = (
        "import sys; from pathlib import Path; from commcanary.artifacts.files import write_artifact\n"
        "from commcanary.artifacts.trace_exchange import TRACE; from commcanary.sources.synthetic.mixed import mixed\n"
        "write_artifact(Path(sys.argv[1]), TRACE, mixed(1, int(sys.argv[2])).stored)"
    )
    subprocess.run([sys.executable, "-c", code, str(path), str(count)], check=True)


def measured(command: list[str], core: set[int]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of a child process bound to ``core``."""
    bind: Callable[[], None] | None = (lambda: os.sched_setaffinity(0, core)) if core else None
    started = time.perf_counter()
    child = subprocess.Popen(command, preexec_fn=bind)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1_000_000, help="largest trace of the scaling table")
    parser.add_argument("--only", default="sizes,segments,replay,scaling")
    options = parser.parse_args()
    sections = {"sizes": sizes, "segments": segments, "replay": replay, "scaling": lambda: scaling(options.largest)}
    for name in options.only.split(","):
        sections[name]()


if __name__ == "__main__":
    main()
