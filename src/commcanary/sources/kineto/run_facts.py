"""What a profile says of its run beside the timeline: shapes of kernels, memory, counters.

Read in a pass of its own, with the whole text in memory: only a study of three runs asks for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.jsontext import decode
from commcanary.sources.containers import read_members
from commcanary.sources.kineto.operations import annotated_operation
from commcanary.sources.kineto.reading import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.sources.containers import Member

_MEMORY = "[memory]"
_COUNTER_CATEGORY = "cuda_profiler_range"
_NOT_COMPUTE = ("c10d::", "record_param_comms", "ProfilerStep")


class _Event(msgspec.Struct, gc=False):
    ph: str = ""
    cat: str = ""
    name: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Document(msgspec.Struct):
    traceEvents: list[_Event] = []  # noqa: N815 - the file's own key


class _Shape(msgspec.Struct):
    dims: Any = msgspec.field(default=None, name="Input Dims")
    grid: Any = None
    block: Any = None


@dataclass
class RunFacts:
    """``shapes`` counts (name, shape) of device kernels, or of operators where no device is used.

    The shape is the launch's grid and block, or the operator's input dimensions, as text; "" where the profile
    has none. ``peak_allocated`` and ``peak_reserved`` are bytes by device ("0:1": type and number) from memory
    events, empty where there is none. ``counters`` are the values of every counter by name.
    """

    shapes: Counter[tuple[str, str]] = field(default_factory=Counter)
    peak_allocated: dict[str, int] = field(default_factory=dict)
    peak_reserved: dict[str, int] = field(default_factory=dict)
    counters: dict[str, list[float]] = field(default_factory=dict)


def run_facts(path: Path) -> list[RunFacts]:
    """The facts of each profile in ``path``, in the order in which timelines are read from it."""
    return read_members(path, PROFILES, _facts_in)


def _facts_in(member: Member) -> RunFacts:
    text = member.stream.read()
    bare = text.lstrip()[:1] == b"["
    return _facts(decode(text, list[_Event]) if bare else decode(text, _Document).traceEvents)


def _facts(events: list[_Event]) -> RunFacts:
    facts = RunFacts()
    on_device = any(event.cat.lower() == "kernel" for event in events)
    compute = "kernel" if on_device else "cpu_op"
    for event in events:
        if event.ph == "X" and event.cat.lower() == compute:
            if not event.name.startswith(_NOT_COMPUTE) and annotated_operation(event.name) is None:
                facts.shapes[event.name, _shape(event.args)] += 1
        elif event.name == _MEMORY:
            _memory(facts, decode(bytes(event.args), dict[str, Any]))
        elif event.ph == "C" or event.cat == _COUNTER_CATEGORY:
            for name, value in decode(bytes(event.args), dict[str, Any]).items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    own = name if event.cat == _COUNTER_CATEGORY else f"{event.name}: {name}"
                    facts.counters.setdefault(own, []).append(float(value))
    return facts


def _shape(args: msgspec.Raw) -> str:
    found = decode(bytes(args), _Shape)
    parts = [found.dims] if found.dims is not None else [p for p in (found.grid, found.block) if p is not None]
    return " ".join(msgspec.json.encode(part).decode() for part in parts)


def _memory(facts: RunFacts, args: dict[str, Any]) -> None:
    device = f"{args.get('Device Type')}:{args.get('Device Id')}"
    for key, peaks in (("Total Allocated", facts.peak_allocated), ("Total Reserved", facts.peak_reserved)):
        value = args.get(key)
        if isinstance(value, int):
            peaks[device] = max(peaks.get(device, 0), value)
