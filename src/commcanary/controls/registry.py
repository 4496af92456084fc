"""The controls by name: representations that must be able to fail, made as strong as honestly possible."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from commcanary.controls import cluster, frequency, isolated, random_sample, stratified
from commcanary.controls.fair_scale import scaled_to_total
from commcanary.controls.settings import ControlSettings
from commcanary.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events
    from commcanary.artifacts.trace import Trace

METHODS = ("isolated", "random", "frequency", "cluster", "stratified")
"""The names of ``--method``."""

SETTINGS_READ = {
    "isolated": (),
    "random": ("sample_count", "seed"),
    "frequency": (),
    "cluster": ("cluster_count",),
    "stratified": ("strata_per_group", "seed"),
}
"""The settings that each method reads; no other can change it."""

_KEEPS_POSITIONS = ("frequency", "cluster", "stratified")


def make_control(
    trace: Trace,
    method: str,
    settings: ControlSettings | None = None,
    exposed_us: NDArray[np.float64] | None = None,
) -> Trace:
    """The control ``method`` of ``trace``: as many events and the same total gap (``isolated``: one event per
    shape, same total gap), with a lineage that names the original.

    ``exposed_us``, float64[n], is what the reference replay of the trace exposed per event; only
    ``stratified`` reads it. ``workload.control`` records the method and the settings that it read.
    Raises ``UsageError`` for an unknown method or missing latencies.
    """
    if method not in METHODS:
        raise UsageError(f"no control is called {method!r}; known are {', '.join(METHODS)}")
    settings = settings or ControlSettings()
    index = _selected(trace.events, method, settings, exposed_us)
    used = {name: getattr(settings, name) for name in SETTINGS_READ[method]}
    control = trace.derived(index, method, control={"method": method, **used})
    events = isolated.stripped(control.events) if method == "isolated" else control.events
    if method in _KEEPS_POSITIONS:
        # whose message it is and who waits for it belong to the position, not to the representative
        events = replace(events, message_sequence=trace.events.message_sequence, consumer=trace.events.consumer)
    scaled = scaled_to_total(events.gap_ns, int(trace.events.gap_ns.sum()))
    return replace(control, events=replace(events, gap_ns=scaled))


def is_control(method: str) -> bool:
    """Whether a lineage's method (``a+b`` where several were applied) contains a control."""
    return not set(method.split("+")).isdisjoint(METHODS)


def _selected(
    events: Events, method: str, settings: ControlSettings, exposed_us: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    if method == "isolated":
        return isolated.select(events)
    if method == "random":
        return random_sample.select(events, settings.sample_count, settings.seed)
    if method == "frequency":
        return frequency.select(events)
    if method == "cluster":
        return cluster.select(events, settings.cluster_count)
    if exposed_us is None:
        raise UsageError("the stratified control needs the exposed latencies of the reference replay")
    return stratified.select(events, settings.strata_per_group, settings.seed, exposed_us)
