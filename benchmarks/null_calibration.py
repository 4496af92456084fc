"""How often does the gate cry wolf, and how often does it miss a slower tail?

Null: one configuration against itself, with disjoint seed sets. Every verdict but pass and warn is an alarm.
Power: the same, with the candidate's exposed samples above their p95 made 20 % longer; only ``fail`` counts as
caught. Shares come with their 95 % Wilson intervals.

    python benchmarks/null_calibration.py --workload inference --events 1000 --seeds 20 --trials 200

Measured with scheduler-v4, 20 seeds, --confidence 0.95 with the canary, default thresholds:

    workload   events  trials  alarms plain              alarms with intervals     20 % longer tail: fail
    inference     990     200  0    [0.000, 0.019]       0    [0.000, 0.019]       200 and 200 of 200
    mixed        1000     200  0    [0.000, 0.019]       0    [0.000, 0.019]       200 and 200 of 200
    inference     297      60  1    [0.003, 0.089]       1    [0.003, 0.089]       60 and 60 of 60
    inference      99      60  2    [0.009, 0.114]       2    [0.009, 0.114]       60 and 60 of 60
    inference      66      60  28   [0.346, 0.591]       40   [0.541, 0.773]       60 and 60 of 60
    mixed          30      60  7    [0.058, 0.222]       7    [0.058, 0.222]       60 and 60 of 60

Plain alarms are ``fail``. With intervals none was a ``fail`` at any size: all are ``inconclusive``. Under some
300 events neither gate can be trusted, and the one with intervals says so.

Before a rare part's wide interval was made a warning (judge/evaluate.py), the first 300 inference trials gave 21
alarms with intervals, [0.046, 0.105]. The inference rows above use the same seeds as the trials that led to that
rule, so only the mixed rows are independent of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.content import table_digest
from commcanary.artifacts.stored import Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.judge.compare import compare
from commcanary.judge.statistics import wilson
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.replay.metrics import Metrics, summarise
from commcanary.replay.report import Replayer, ReportHeader, samples_of, samples_table
from commcanary.sources.synthetic.registry import synthetic

if TYPE_CHECKING:
    from commcanary.artifacts.canary import Canary

SLOWER = 1.2
LEVEL = 0.95
ALARMS = ("fail", "inconclusive", "unstable")


def longer_tail(report: Stored[ReportHeader], canary: Canary) -> Stored[ReportHeader]:
    """The report with exposed samples above their p95 made 20 % longer, and summaries that say so."""
    assert report.table is not None
    samples = samples_of(report.table)
    exposed = samples.exposed_us
    late = exposed > np.percentile(exposed, 95)
    changed = replace(
        samples,
        exposed_us=np.where(late, exposed * SLOWER, exposed),
        total_us=np.where(late, samples.total_us + exposed * (SLOWER - 1), samples.total_us),
    )
    metrics = summarise(changed, canary.events)
    table = samples_table(changed)
    fields = {name: getattr(metrics, name) for name in Metrics.__struct_fields__}
    return Stored(msgspec.structs.replace(report.header, samples_digest=table_digest(table), **fields), table)


def with_seeds(report: Stored[ReportHeader], seeds: tuple[int, ...]) -> Stored[ReportHeader]:
    """The report under other seed labels: the plain gate refuses to let different seeds meet."""
    protocol = msgspec.structs.replace(report.header.replay_protocol, seeds=seeds)
    return Stored(msgspec.structs.replace(report.header, replay_protocol=protocol), report.table)


def measured(workload: str, events: int, seeds: int, trials: int) -> None:
    canary = compile_trace(synthetic(workload, 7, events), CompileSettings())
    replayer = Replayer(canary, "scheduler-v4")
    verdicts: dict[str, Counter[str]] = {
        name: Counter() for name in ("null plain", "null confidence", "power plain", "power confidence")
    }
    for trial in range(trials):
        first = 1 + trial * 2 * seeds
        before, after = (
            replayer.report(NAMED["baseline"], Protocol(seeds=tuple(range(start, start + seeds))))
            for start in (first, first + seeds)
        )
        for kind, candidate in (("null", after), ("power", longer_tail(after, canary))):
            same_labels = with_seeds(candidate, before.header.replay_protocol.seeds)
            verdicts[f"{kind} plain"][compare(before, same_labels).verdict] += 1
            confident = compare(before, candidate, confidence=LEVEL, canary=canary)
            verdicts[f"{kind} confidence"][confident.verdict] += 1
    for name, counted in verdicts.items():
        share_of = ("fail",) if name.startswith("power") else ALARMS
        hits = sum(counted[verdict] for verdict in share_of)
        low, high = wilson(hits, trials)
        print(
            f"{workload} {len(canary.events)} events x {seeds} seeds, {name}: "
            f"{hits}/{trials} {'caught' if 'power' in name else 'false alarms'} [{low:.4f}, {high:.4f}] "
            f"{dict(counted)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", nargs="+", default=["inference", "mixed"])
    parser.add_argument("--events", nargs="+", type=int, default=[30, 100, 300, 1000])
    parser.add_argument("--seeds", nargs="+", type=int, default=[10, 20])
    parser.add_argument("--trials", type=int, default=200)
    given = parser.parse_args()
    for workload in given.workload:
        for events in given.events:
            for seeds in given.seeds:
                measured(workload, events, seeds, given.trials)


if __name__ == "__main__":
    main()
