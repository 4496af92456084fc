"""How often does the gate cry wolf over nothing, and how often does it miss a slower tail?

Null: one configuration against itself, with disjoint seed sets; every verdict but pass and warn is an alarm.
Power: the same, with the candidate's exposed samples above their p95 made slower; only ``fail`` counts as caught.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import numpy as np

from commcanary.artifacts.content import table_digest
from commcanary.artifacts.document import document_kind
from commcanary.artifacts.stored import Stored
from commcanary.judge.compare import compare
from commcanary.judge.statistics import wilson
from commcanary.judge.thresholds import Thresholds
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.replay.metrics import Metrics, summarise
from commcanary.replay.report import Replayer, ReportHeader, samples_of, samples_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.artifacts.canary import Canary

NULL_CALIBRATION_FORMAT = "commcanary.null_calibration.v1"
ALARMS = ("fail", "inconclusive", "unstable")
CAUGHT_SHARE = 0.99
"""A gate that catches fewer slower tails than this is not trusted."""

TRUSTED, NOT_TRUSTED, UNDECIDED = "trusted", "not_trusted", "undecided"
OUTCOMES = (TRUSTED, NOT_TRUSTED, UNDECIDED)

Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]


class CalibrationSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``trials`` comparisons of ``seeds`` runs a side; intervals at ``level``; the tail ``slower_pct`` % slower."""

    seeds: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 20
    trials: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 200
    level: Share = 0.95
    slower_pct: Annotated[float, msgspec.Meta(gt=0, le=10_000)] = 20.0


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``hits`` of the trials, their share, its 95 % Wilson interval, and how often each verdict came."""

    hits: int
    share: float
    interval: tuple[float, float]
    verdicts: dict[str, int]


class GateRates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One gate: ``plain``, or ``confidence`` (bootstrap intervals). ``outcome`` is one of ``OUTCOMES``."""

    gate: Literal["plain", "confidence"]
    false_alarms: Rate
    caught: Rate
    outcome: Literal["trusted", "not_trusted", "undecided"]


class NullCalibration(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=NULL_CALIBRATION_FORMAT,
):
    """Both gates at one size. ``canary`` is a content id, ``events`` a number of replayed events."""

    canary: str
    model: str
    configuration: Configuration
    events: int
    settings: CalibrationSettings
    thresholds: Thresholds
    gates: tuple[GateRates, ...]

    @property
    def outcome(self) -> str:
        """What is said of the gate with intervals, the one that a campaign declares an alpha for."""
        return next(gate.outcome for gate in self.gates if gate.gate == "confidence")


NULL_CALIBRATION = document_kind("null calibration", NULL_CALIBRATION_FORMAT, NullCalibration)
"""The null calibration as an artifact kind."""


def null_calibration(
    canary: Canary,
    model: str,
    configuration: Configuration,
    settings: CalibrationSettings | None = None,
    thresholds: Thresholds | None = None,
    assumptions: Mapping[str, float] | None = None,
) -> NullCalibration:
    """Compare ``canary`` with itself under ``configuration``; trial t takes the 2 x ``seeds`` seeds after t's.

    Raises ``UnknownValueRefusal`` for a value that the canary does not know and nobody assumed.
    """
    settings, thresholds = settings or CalibrationSettings(), thresholds or Thresholds()
    replayer = Replayer(canary, model, assumptions=assumptions or {})
    counted: dict[tuple[str, str], Counter[str]] = {
        (gate, kind): Counter() for gate in ("plain", "confidence") for kind in ("null", "power")
    }
    for trial in range(settings.trials):
        first = 1 + 2 * trial * settings.seeds
        before, after = (
            replayer.report(configuration, Protocol(seeds=tuple(range(start, start + settings.seeds))))
            for start in (first, first + settings.seeds)
        )
        for kind, candidate in (("null", after), ("power", longer_tail(after, canary, settings.slower_pct))):
            same_labels = _with_seeds(candidate, before.header.replay_protocol.seeds)
            counted["plain", kind][compare(before, same_labels, thresholds).verdict] += 1
            confident = compare(before, candidate, thresholds, confidence=settings.level, canary=canary)
            counted["confidence", kind][confident.verdict] += 1
    return NullCalibration(
        canary=canary.content_id,
        model=model,
        configuration=configuration,
        events=len(canary.events),
        settings=settings,
        thresholds=thresholds,
        gates=(_rates("plain", counted, settings), _rates("confidence", counted, settings)),
    )


def _rates(
    gate: Literal["plain", "confidence"], counted: dict[tuple[str, str], Counter[str]], settings: CalibrationSettings
) -> GateRates:
    alarms = _rate(counted[gate, "null"], ALARMS)
    caught = _rate(counted[gate, "power"], ("fail",))
    return GateRates(gate, alarms, caught, _outcome(alarms, caught, 1 - settings.level))


def _rate(counted: Counter[str], hit: tuple[str, ...]) -> Rate:
    hits, trials = sum(counted[verdict] for verdict in hit), counted.total()
    low, high = wilson(hits, trials)
    assert low is not None
    assert high is not None
    return Rate(hits, round(hits / trials, 6), (low, high), dict(sorted(counted.items())))


def _outcome(alarms: Rate, caught: Rate, alpha: float) -> Literal["trusted", "not_trusted", "undecided"]:
    """Trusted where even the upper end of the false-alarm rate is within alpha and the tail is caught."""
    if alarms.interval[0] > alpha or caught.share < CAUGHT_SHARE:
        return "not_trusted"
    return "trusted" if alarms.interval[1] <= alpha else "undecided"


def longer_tail(report: Stored[ReportHeader], canary: Canary, slower_pct: float) -> Stored[ReportHeader]:
    """The report with exposed samples above their p95 made ``slower_pct`` % longer, and summaries that say so."""
    assert report.table is not None
    samples = samples_of(report.table)
    exposed = samples.exposed_us
    late = exposed > np.percentile(exposed, 95)
    added = np.where(late, exposed * slower_pct / 100, 0.0)
    changed = replace(samples, exposed_us=exposed + added, total_us=samples.total_us + added)
    metrics = summarise(changed, canary.events)
    table = samples_table(changed)
    fields = {name: getattr(metrics, name) for name in Metrics.__struct_fields__}
    return Stored(msgspec.structs.replace(report.header, samples_digest=table_digest(table), **fields), table)


def _with_seeds(report: Stored[ReportHeader], seeds: tuple[int, ...]) -> Stored[ReportHeader]:
    """The report under other seed labels: the plain gate refuses to let different seeds meet."""
    protocol = msgspec.structs.replace(report.header.replay_protocol, seeds=seeds)
    return Stored(msgspec.structs.replace(report.header, replay_protocol=protocol), report.table)
