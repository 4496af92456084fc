"""Stage: trace -> control, a representation that must be able to fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.controls.registry import make_control
from commcanary.controls.settings import ControlSettings
from commcanary.judge.reduction import reduce_to_ranking
from commcanary.judge.reference import Reference
from commcanary.replay.assumptions import assumed
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.replay.model import model_named
from commcanary.stages.reading import naming, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

DDMIN = "ddmin"
RANKED = "stratified"
"""The control that is made from a replay of the trace."""


def represent_stage(
    trace_path: Path,
    output: Path,
    method: str,
    settings: ControlSettings,
    configurations: Sequence[Mapping[str, Any]],
    *,
    model: str,
    protocol: Mapping[str, Any],
    assumptions: Mapping[str, float],
) -> Trace:
    """Write the control ``method`` of the trace at ``trace_path``.

    ``ddmin`` keeps what ranks ``configurations`` (plain data) as the whole does. ``stratified`` ranks events
    by their exposed latency in a reference replay: ``model`` under the baseline configuration with the first
    seed of ``protocol``.
    """
    check_suffix(output)
    trace = read_trace(trace_path)
    exposed = None
    if method == RANKED:
        seeds = convert(protocol, Protocol).seeds[:1]
        with naming(trace_path):
            events, _ = assumed(trace.events, assumptions)
            reference = model_named(model)
            exposed = reference.run(reference.prepare(events), Configuration(), seeds, 1).exposed_us
    if method == DDMIN:
        drawn = convert(protocol, Protocol)
        with naming(trace_path):
            candidates = convert(configurations, list[Configuration])
            control = reduce_to_ranking(Reference(trace, model, candidates, drawn, assumptions=assumptions)).trace
    else:
        control = make_control(trace, method, settings, exposed)
    write_artifact(output, TRACE, to_stored(control))
    return control
