"""Stage: profiles or traces -> a runnable, commented campaign configuration."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.files import SUFFIXES, format_of
from commcanary.artifacts.trace import TRACE_FORMAT
from commcanary.campaign.names import TAKEN_IN_CAMPAIGN, TAKEN_IN_RESULTS
from commcanary.campaign.workload_sources import (
    ChakraSource,
    FlightRecorderSource,
    KinetoSource,
    NcclInspectorSource,
    NcclLogSource,
    NsysSource,
)
from commcanary.campaign.yaml_text import yaml_text_of
from commcanary.errors import InputRefusal, Refusal, UsageError
from commcanary.replay.configuration import NAMED
from commcanary.replay.model import DEFAULT_MODEL, model_named
from commcanary.sources.files import reading
from commcanary.sources.recognise import source_of
from commcanary.stages.kinds import kind_of
from commcanary.stages.reading import read_trace
from commcanary.stages.source_trace import trace_of_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commcanary.artifacts.events import Events
    from commcanary.artifacts.trace import Trace
    from commcanary.stages.source_trace import FileSource

_WHY_UNKNOWN = {
    "arrival_skew_us": "when each rank arrived (clock: shared or estimate may supply it)",
    "compute_overlap_us": "how much compute ran beside a collective",
    "gap_us": "when anything happened, for it holds no times",
}


_LONGEST_NAME = 60
CLOSED_LOOP = "closed-loop-v1"
_NO_CLOSED_LOOP = f"  # The source does not know the compute before each collective, which {CLOSED_LOOP} needs."


def new_campaign_stage(files: Sequence[Path], output: Path) -> str:
    """Write a configuration for ``files`` (one trace, or the profiles of one job) and return the campaign's name.

    The files are read, so that the configuration states what must be assumed for it to run at all.
    """
    if output.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{output}: the name must end in .yaml")
    if output.exists():
        raise InputRefusal("", "is there already", "choose another name or remove it", file=str(output))
    name = _name(output)
    traces = [_is_trace(path) for path in files]
    if traces[0]:
        if len(files) > 1:
            raise UsageError("one trace a campaign file: add further workloads to it by hand")
        trace = read_trace(files[0])
        source = [f"source: {{kind: trace, path: {_from(output, files[0])}}}"]
    else:
        source, trace = _imported(files, output, name)
    write_text(output, _text(name, source, trace))
    return name


def _name(output: Path) -> str:
    """A name for campaign and workload out of the file's, none that the results need themselves."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", output.stem).lstrip("._-")[:_LONGEST_NAME] or "campaign"
    return f"my-{name}" if name.casefold() in (*TAKEN_IN_RESULTS, *TAKEN_IN_CAMPAIGN) else name


class _Kind(NamedTuple):
    """How a configuration writes a source: the key that lists its files, and what it says of its clock, if it has one.

    ``stamped`` files hold times only where the job asked for them.
    """

    make: Callable[..., FileSource]
    key: str
    about_clock: str | None
    stamped: bool = False


_UNKNOWN = "unknown: no arrival skew"
_KINDS = {
    "kineto": _Kind(
        KinetoSource, "profiles", f"# shared: all ranks' clocks are one (same host); estimate: fit them; {_UNKNOWN}"
    ),
    "nsys": _Kind(
        NsysSource,
        "exports",
        f"# about several exports: shared: their clocks are one; estimate: fit them; {_UNKNOWN}",
    ),
    "chakra": _Kind(ChakraSource, "traces", None),
    "flight-recorder": _Kind(
        FlightRecorderSource, "dumps", f"# shared: the hosts' clocks are one (same host); {_UNKNOWN}"
    ),
    "nccl-inspector": _Kind(
        NcclInspectorSource,
        "records",
        f"# of verbose records: shared: the hosts' clocks are one; estimate: fit them; {_UNKNOWN}",
        stamped=True,
    ),
    "nccl-log": _Kind(
        NcclLogSource, "logs", f"# shared: the hosts' clocks are one (same host); {_UNKNOWN}", stamped=True
    ),
}


def _imported(files: Sequence[Path], output: Path, name: str) -> tuple[list[str], Trace]:
    """The lines of the source that ``files`` are of, and their trace."""
    with reading(files[0]):
        named = source_of(files[0])
    kind = _KINDS[named]
    listed = {kind.key: tuple(str(path) for path in files)}
    lines = ["source:", f"  kind: {named}", f"  {kind.key}:", *(f"    - {_from(output, path)}" for path in files)]
    if kind.about_clock is None:
        return lines, trace_of_source(name, kind.make(**listed), files)
    clock = "shared" if len(files) > 1 else "unknown"
    tried = "unknown" if kind.stamped else clock
    trace = trace_of_source(name, kind.make(**listed, clock=tried), files)
    if tried != clock:
        if "start_us" in trace.header.unknown:
            clock = tried
        else:
            trace = trace_of_source(name, kind.make(**listed, clock=clock), files)
    return [*lines, f"  {kind.about_clock}", f"  clock: {clock}"], trace


def _is_trace(path: Path) -> bool:
    """Whether ``path`` is a trace; raises ``InputRefusal`` for any other artifact of ours, which is no source."""
    try:
        stated = format_of(path) if path.suffix in SUFFIXES else ""
    except Refusal:
        return False
    if stated.startswith("commcanary.") and stated != TRACE_FORMAT:
        found = f"is a {kind_of(path).name} ({stated})"
        raise InputRefusal("format", found, "give a trace, or the profiles of a job", file=str(path))
    return stated == TRACE_FORMAT


def _from(output: Path, path: Path) -> str:
    return yaml_text_of(os.path.relpath(path.resolve(), output.resolve().parent))


def _text(name: str, source: Sequence[str], trace: Trace) -> str:
    unknown = _unknown_fields(trace.events)
    assume = [
        f"    # The source does not know {_WHY_UNKNOWN[field]}: assumed, which blocks the strong verdict."
        for field in unknown
    ]
    if unknown:
        assume.append(f"    assume: {{{', '.join(f'{field}: 0' for field in unknown)}}}")
    status = "behaviorally_unverified" if unknown or trace.events.compute_uncertain.any() else "behaviorally_verified"
    model = _model(trace.events)
    reads = model_named(model).reads
    configurations = []
    for name_of, configuration in NAMED.items():
        changed = _changed(configuration)
        unread = [key for key, value in changed if key != "name" and key not in reads]
        if unread:
            configurations.append(f"  # {name_of} is left out: {model} does not read its {', '.join(unread)}.")
        else:
            numbers = ", ".join(
                f"{key}: {value:g}" if isinstance(value, float) else f"{key}: {value}" for key, value in changed
            )
            configurations.append(f"  - {{{numbers}}}")
    no_dtype = any(signature.dtype is None for signature in trace.events.signatures)
    return "\n".join(
        [
            f"# Campaign {name}: {len(trace)} events on {len(trace.events.groups)} process groups.",
            "# Every key is explained in config/README.md.",
            f"campaign: {yaml_text_of(name)}",
            "",
            "# What the job would run under; the first is what the others are compared against.",
            "configurations:",
            *configurations,
            "baseline: baseline",
            "",
            "# The canary, and two controls that must be able to fail.",
            "representations:",
            "  - {name: canary, method: canary}",
            "  - {name: cluster, method: cluster, cluster_count: 8}",
            "  - {name: stratified, method: stratified, strata_per_group: 4}",
            "",
            "workloads:",
            f"  - name: {yaml_text_of(name)}",
            *(f"    {line}" for line in source),
            *assume,
            f"    expect: {{canary: {status}}}",
            "    # PARAM export: operations without an equivalent are left out and counted.",
            "    param_skip_unsupported: true",
            *(["    # param_dtype: float32   # the source names no data type"] if no_dtype else []),
            "",
            "replay:",
            *([] if model == CLOSED_LOOP else [_NO_CLOSED_LOOP]),
            f"  model: {model}",
            "  seeds: [7]",
            "  iterations: 1",
            "",
        ]
    )


def _model(events: Events) -> str:
    """The closed loop where it can run: where the compute before each collective is known."""
    known = bool(np.all((events.compute_before_ns != UNKNOWN) | events.rank_compute_before_ns.known))
    return CLOSED_LOOP if known else DEFAULT_MODEL


def _unknown_fields(events: Events) -> list[str]:
    unknown = []
    if not events.offsets_ns.known.all():
        unknown.append("arrival_skew_us")
    if bool(np.any(events.compute_overlap_ns == UNKNOWN)):
        unknown.append("compute_overlap_us")
    if not events.gaps_known:
        unknown.append("gap_us")
    return unknown


def _changed(configuration: object) -> list[tuple[str, object]]:
    default = type(configuration)()
    fields = type(configuration).__struct_fields__  # type: ignore[attr-defined]
    given = [(f, getattr(configuration, f)) for f in fields]
    return [(f, value) for f, value in given if value != getattr(default, f)]
