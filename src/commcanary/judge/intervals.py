"""The intervals of one comparison, by scope, name and statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.judge.bootstrap import PERCENTS, RunBootstrap
from commcanary.judge.evaluate import HIDDEN, MAKESPAN
from commcanary.judge.report_samples import by_run, run_count
from commcanary.replay.ordering import replayed_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.canary import Canary
    from commcanary.judge.comparison import Interval
    from commcanary.judge.thresholds import Thresholds
    from commcanary.replay.report import ReportHeader
    from commcanary.replay.samples import Samples

    Side = tuple[ReportHeader, Samples]


class RunIntervals:
    """Every interval of ``baseline`` against ``candidate``; parts only where ``canary`` labels the events."""

    def __init__(
        self, baseline: Side, candidate: Side, thresholds: Thresholds, level: float, canary: Canary | None
    ) -> None:
        counts = (run_count(baseline[0]), run_count(candidate[0]))
        seeds = (baseline[0].replay_protocol.seeds, candidate[0].replay_protocol.seeds)
        self.paired = seeds[0] == seeds[1] and counts[0] == counts[1]
        self._bootstrap = RunBootstrap(*counts, paired=self.paired, level=level)
        self._found: dict[tuple[str, str | None, str], Interval] = {}
        exposed = [by_run(samples.exposed_us, run_count(header)) for header, samples in (baseline, candidate)]
        self._add("run", None, exposed, {name: thresholds.of_run(name) for name in PERCENTS})
        self._found["run", None, HIDDEN] = self._bootstrap.hidden_interval(
            _hidden(*baseline), _hidden(*candidate), thresholds.hidden_drop_threshold_points
        )
        schedules = [header.schedule for header, _ in (baseline, candidate)]
        if schedules[0] is not None and schedules[1] is not None:
            before, after = (schedule.makespans_us[:, None] for schedule in schedules if schedule is not None)
            found = self._bootstrap.latency_intervals(before, after, {"median": thresholds.of_run(MAKESPAN)})
            self._found["run", None, MAKESPAN] = found["median"]
        for scope, name, members in _parts(canary, baseline[0]) if canary is not None else []:
            part = [values[:, members] for values in exposed]
            self._add(scope, name, part, dict.fromkeys(PERCENTS, thresholds.of_breakdown))

    def interval(self, scope: str, name: str | None, statistic: str) -> Interval | None:
        """The interval of one number, or None where there is none."""
        return self._found.get((scope, name, statistic))

    def _add(
        self,
        scope: str,
        name: str | None,
        exposed: list[NDArray[np.float64]],
        thresholds: dict[str, tuple[float, float]],
    ) -> None:
        for statistic, interval in self._bootstrap.latency_intervals(exposed[0], exposed[1], thresholds).items():
            self._found[scope, name, statistic] = interval


def _hidden(header: ReportHeader, samples: Samples) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hidden and total us of every run."""
    runs = run_count(header)
    total = by_run(samples.total_us, runs).sum(axis=1)
    return total - by_run(samples.exposed_us, runs).sum(axis=1), total


def _parts(canary: Canary, header: ReportHeader) -> list[tuple[str, str, NDArray[np.int64]]]:
    """(scope, name, columns of the samples) of every phase and operation."""
    events = canary.events
    signature = events.signature[replayed_order(events, header.replay_protocol.ablations)]
    found = []
    for scope, labels in (
        ("phase", [s.phase for s in events.signatures]),
        ("operation", [s.op for s in events.signatures]),
    ):
        for name in sorted(set(labels)):
            wanted = np.array([label == name for label in labels])
            members = np.flatnonzero(wanted[signature])
            if len(members):
                found.append((scope, name, members))
    return found
