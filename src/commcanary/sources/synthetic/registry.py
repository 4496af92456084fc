"""The synthetic traces by name, as ``commcanary synth NAME`` and a campaign's ``source`` find them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from commcanary.errors import UsageError
from commcanary.sources.synthetic.ddp import DdpShape, ddp
from commcanary.sources.synthetic.inference import EVENTS_PER_STEP, inference, steps_of
from commcanary.sources.synthetic.mixed import mixed
from commcanary.sources.synthetic.pipeline import PipelineShape, pipeline
from commcanary.sources.synthetic.ranking_inversion import EVENTS, ranking_inversion
from commcanary.sources.synthetic.repeated import repeated
from commcanary.sources.synthetic.synthesis import Synthesis

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commcanary.artifacts.trace import Trace

SEEDED: dict[str, Callable[[int, int], Trace]] = {
    "inference": inference,
    "mixed": mixed,
}
"""Traces of any size: name -> function of (seed, wanted number of events)."""

SIZES = {"pipeline": ("stages", "microbatches"), "ddp": ("ranks", "buckets")}
"""Jobs made by rule alone, with their kernels: name -> the sizes that they can be given."""

NAMES = (*SEEDED, *SIZES, "ranking-inversion")

DEFAULT_EVENTS = 1000
MAX_EVENTS = 20_000_000
MOST_OF_A_STEP = 1_000_000


def synthetic(name: str, seed: int, events: int | None, repeat: int = 1) -> Trace:
    """The trace of ``synthesis`` in its usual shape."""
    return synthesis(name, seed, events, repeat=repeat).trace


def synthesis(
    name: str,
    seed: int,
    events: int | None,
    sizes: Mapping[str, int] = MappingProxyType({}),
    repeat: int = 1,
) -> Synthesis:
    """The synthetic trace ``name`` of about ``events`` events (None: its usual size), ``repeat`` times in a row.

    ``sizes`` shape a pipeline or data-parallel job; a trace that is repeated knows its kernels no more. Raises
    ``UsageError`` for an unknown name, a size that the name does not have, or an impossible one. Only the seeded
    traces draw anything; the ranking inversion has one size.
    """
    if repeat != 1:
        if repeat < 1:
            raise UsageError(f"--repeat {repeat}: give 1 or more")
        once = synthesis(name, seed, events, sizes).trace
        if len(once) * repeat > MAX_EVENTS:
            raise UsageError(f"--repeat {repeat}: of {len(once)} events give at most {MAX_EVENTS // len(once)}")
        return Synthesis(repeated(once, repeat))
    if name not in NAMES:
        raise UsageError(f"no synthetic trace is called {name!r}; known are {', '.join(NAMES)}")
    for size in sizes:
        if size not in SIZES.get(name, ()):
            owner = next((one for one, known in SIZES.items() if size in known), "no trace")
            raise UsageError(f"{name} has no {size}; {owner} has: leave it out")
    if name == "ranking-inversion":
        if events not in (None, EVENTS):
            raise UsageError(f"--events {events}: ranking-inversion always has {EVENTS}; leave the number out")
        return Synthesis(ranking_inversion())
    wanted = DEFAULT_EVENTS if events is None else events
    if not 1 <= wanted <= MAX_EVENTS:
        raise UsageError(f"--events {wanted}: give 1 to {MAX_EVENTS}")
    if not 0 <= seed < 2**63:
        raise UsageError(f"--seed {seed}: give 0 to 2^63 - 1")
    if name in SEEDED:
        return Synthesis(SEEDED[name](seed, wanted))
    if name == "pipeline":
        stages = PipelineShape(**sizes)
        _check_step(sizes, stages.stages, stages.events)
        return pipeline(stages, _steps(wanted, stages.events))
    replicas = DdpShape(**sizes)
    _check_step(sizes, replicas.ranks, replicas.events)
    return ddp(replicas, _steps(wanted, replicas.events))


def size_of(name: str, events: int | None, repeat: int = 1) -> int:
    """Events of the trace ``name`` of the usual sizes, without making it."""
    wanted = DEFAULT_EVENTS if events is None else events
    if name == "ranking-inversion":
        return EVENTS * repeat
    if name == "mixed":
        return wanted * repeat
    if name == "inference":
        return steps_of(wanted) * EVENTS_PER_STEP * repeat
    per_step = (PipelineShape() if name == "pipeline" else DdpShape()).events
    return _steps(wanted, per_step) * per_step * repeat


def _check_step(sizes: Mapping[str, int], ranks: int, events: int) -> None:
    if max(ranks, 0) * max(events, 0) > MOST_OF_A_STEP:
        said = " ".join(f"--{size} {value}" for size, value in sizes.items())
        raise UsageError(f"{said}: a step has {MOST_OF_A_STEP} ranks times collectives at most")


def _steps(events: int, per_step: int) -> int:
    return max(1, round(events / max(1, per_step)))
