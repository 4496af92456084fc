"""The reference of a behaviour verification: the trace itself, replayed once for any number of canaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal, UsageError
from commcanary.judge.ranking import MAKESPAN_US, RANKING_METRICS
from commcanary.judge.report_samples import by_run
from commcanary.judge.tail_recall import SourceTails
from commcanary.replay.assumptions import assumed
from commcanary.replay.configuration import Configuration, Protocol, as_read
from commcanary.replay.metrics import ExposedMetrics, Metrics, summarise
from commcanary.replay.model import model_named
from commcanary.replay.ordering import replayed_order
from commcanary.replay.schedule_summary import makespan_us

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events
    from commcanary.artifacts.trace import Trace

MAX_CONFIGURATIONS = 256
"""Of one verification: a ranking states every pair of them."""


@dataclass(frozen=True)
class Outcome:
    """One side under one configuration: its summaries, and exposed latencies float64[runs, events].

    ``makespan_us`` is the median over the runs, None where the model has no schedule.
    """

    metrics: Metrics
    exposed_us: NDArray[np.float64]
    makespan_us: float | None = None

    @cached_property
    def tails(self) -> SourceTails:
        """Its slow events."""
        return SourceTails(self.exposed_us)


class Reference:
    """A trace under a model, a protocol and two sets of configurations.

    ``assumptions`` (field -> us) stand in for unknown values of trace and canary alike. Raises
    ``UnknownValueRefusal`` for a value that is unknown and not assumed, ``InputRefusal`` for a configuration
    without a name or with one that is taken, ``UsageError`` for an unknown model.
    """

    def __init__(
        self,
        trace: Trace,
        model: str,
        configurations: Sequence[Configuration],
        protocol: Protocol,
        *,
        assumptions: Mapping[str, float] = MappingProxyType({}),
        held_out: Sequence[Configuration] = (),
    ) -> None:
        if not configurations:
            raise UsageError("no configuration is given; a behaviour is verified under one or more")
        if len(configurations) + len(held_out) > MAX_CONFIGURATIONS:
            count = len(configurations) + len(held_out)
            raise UsageError(f"{count:,} configurations are given; at most {MAX_CONFIGURATIONS} are ranked together")
        self.trace = trace
        self.model = model_named(model)
        self.protocol = protocol
        given = (as_read(configuration, self.model.reads) for configuration in (*configurations, *held_out))
        self.configurations = by_name(list(given))
        self.held_out = frozenset(str(configuration.name) for configuration in held_out)
        self.declared = dict(assumptions)
        self.assumptions = assumed(trace.events, assumptions)[1] | trace.header.assumptions
        self.outcomes = self.replayed(trace.events)

    def replayed(self, events: Events, ablations: tuple[str, ...] | None = None) -> dict[str, Outcome]:
        """The outcome of ``events`` under every configuration, by name; ``ablations`` in place of the protocol's.

        Exposed latencies stand in program order, even where the order of replay is ablated: event i is event i.
        """
        ablated = self.protocol.ablations if ablations is None else ablations
        known, _ = assumed(events, self.declared)
        prepared = self.model.prepare(known, ablated)
        order = replayed_order(known, ablated)
        protocol = self.protocol
        runs = len(protocol.seeds) * protocol.iterations
        found = {}
        for name, configuration in self.configurations.items():
            samples = self.model.run(prepared, configuration, protocol.seeds, protocol.iterations)
            exposed = _in_program_order(by_run(samples.exposed_us, runs), order)
            found[name] = Outcome(summarise(samples, known, ablated), exposed, makespan_us(samples.schedule))
        return found


def _in_program_order(values: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64[runs, events] of a replay in ``order``, put back to where the events stand in the trace."""
    if (order[1:] > order[:-1]).all():
        return values
    placed = np.empty_like(values)
    placed[:, order] = values
    return placed


def ranked_values(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, float]]:
    """Configuration -> ranking metric -> us."""
    return {name: ranking_row(outcome.metrics.metrics, outcome.makespan_us) for name, outcome in outcomes.items()}


def ranking_row(metrics: ExposedMetrics, makespan: float | None) -> dict[str, float]:
    """Ranking metric -> us of one configuration; without a makespan where the model has none."""
    row = {metric: getattr(metrics, metric) for metric in RANKING_METRICS}
    return row if makespan is None else {**row, MAKESPAN_US: makespan}


def by_name(configurations: Sequence[Configuration]) -> dict[str, Configuration]:
    """Name -> configuration, in the given order."""
    named: dict[str, Configuration] = {}
    for index, configuration in enumerate(configurations):
        name = configuration.name
        if name is None or name in named:
            found = "is missing" if name is None else f"is {name!r} again"
            raise InputRefusal(f"configurations[{index}].name", found, "give every configuration a name of its own")
        named[name] = configuration
    return named
