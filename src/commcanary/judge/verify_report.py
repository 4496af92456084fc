"""verify-report REPORT CANARY: does replaying the canary give this report?

Two questions, in this order. Do the report's summaries follow from its own samples? If not the file
contradicts itself and is refused. Do the samples follow from the canary? If not the verdict is ``failed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT, IntegrityRefusal, Refusal, UsageError
from commcanary.judge.checks import FAIL, NOT_CHECKABLE, PASS, Check, first_failure, in_words, shortened
from commcanary.judge.field_difference import first_difference
from commcanary.judge.report_samples import bound_samples
from commcanary.judge.report_verification import (
    FAILED,
    LABELS,
    MODEL_RECOMPUTED,
    REPORT_CHECKS,
    ReportVerification,
)
from commcanary.replay.configuration import DEFAULT_LABEL, NAMED, Protocol
from commcanary.replay.metrics import Metrics, summarise
from commcanary.replay.ordering import replayed_order
from commcanary.replay.report import Replayer, samples_of

if TYPE_CHECKING:
    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.events import Events
    from commcanary.artifacts.stored import Stored
    from commcanary.replay.configuration import Configuration
    from commcanary.replay.report import ReportHeader
    from commcanary.replay.samples import Samples

ABSOLUTE_TOLERANCE_US = 1e-6
RELATIVE_TOLERANCE = 1e-12
"""Samples may differ by this much between machines, whose logarithms may differ in the last bit; the
promise is 0.001 us."""

_CHECK_OF = {name: name for name in REPORT_CHECKS} | {"assumptions": "canary_summary"}
"""The check that answers for a header field; any other field is one more summary, under ``metrics``."""

_SAMPLE_FIELDS = ("exposed_us", "total_us", "queue_wait_us", "skew_us", "rank_wait_us")


def verify_report(report: Stored[ReportHeader], canary: Canary) -> ReportVerification:
    """The eleven checks of ``report`` against a replay of ``canary`` under its own configuration, and the labels.

    Raises ``IntegrityRefusal`` for a report of another canary, and for a summary that its own samples
    contradict, naming row, operation, field and both values.
    """
    header = report.header
    events, again, broken = _replayed(header, canary)
    samples = bound_samples(report)
    _refuse_impossible_schedule(header)
    if samples is not None and events is not None:
        _refuse_contradiction(header, samples, events, again)
    if again is None or broken:
        checks = [broken.get(name, Check(name, PASS)) for name in REPORT_CHECKS]
    else:
        checks = _checks(header, again, samples)
    status = MODEL_RECOMPUTED if first_failure(checks) is None else FAILED
    return ReportVerification(
        status=status,
        report=report.content_id,
        canary=canary.content_id,
        samples="digest" if samples is None else "stored",
        checks=(*checks, _labels(header.backend)),
    )


def report_exit_code(verification: ReportVerification) -> int:
    """0 for model_recomputed, 1 for failed."""
    return EXIT_DONE if verification.status == MODEL_RECOMPUTED else EXIT_NEGATIVE_VERDICT


def _labels(configuration: Configuration) -> Check:
    """What the author calls the configuration, which no replay can confirm."""
    own = [
        f"backend.{field} {value!r}"
        for field, value, known in (
            ("label", configuration.label, (DEFAULT_LABEL,)),
            ("name", configuration.name, (None, *NAMED)),
        )
        if value not in known
    ]
    if not own:
        return Check(LABELS, PASS)
    return Check(LABELS, NOT_CHECKABLE, place=shortened(f"the author's own words: {', '.join(own)}"))


def _replayed(
    header: ReportHeader, canary: Canary
) -> tuple[Events | None, Stored[ReportHeader] | None, dict[str, Check]]:
    """The events replayed, the report made again, and the checks that say why it could not be."""
    if header.canary.content_id != canary.content_id:
        raise IntegrityRefusal(
            "canary.content_id",
            f"the report is of canary {header.canary.content_id[:12]}, this one is {canary.content_id[:12]}",
            "give the canary that was replayed",
        )
    protocol = header.replay_protocol
    try:
        replayer = Replayer(canary, header.simulation_model.name, protocol.ablations, header.assumptions)
    except (UsageError, Refusal) as error:
        return None, None, _unrepeatable("simulation_model", "a model that replays this canary", str(error))
    try:
        drawn = Protocol(protocol.seeds, protocol.iterations, protocol.ablations)
    except Refusal as error:
        return None, None, _unrepeatable("replay_protocol", "a protocol that can be run", str(error))
    return replayer.events, replayer.report(header.backend, drawn), {}


def _unrepeatable(name: str, expected: str, found: str) -> dict[str, Check]:
    rest = {other: Check(other, FAIL, place=f"not recomputed: see {name}") for other in REPORT_CHECKS}
    return {**rest, name: Check(name, FAIL, expected, found, name)}


def _refuse_impossible_schedule(header: ReportHeader) -> None:
    """Raise where a run's times do not add up to its makespan."""
    found = None if header.schedule is None else header.schedule.contradiction()
    if found is not None:
        place, expected, stated = found
        raise IntegrityRefusal(
            place,
            f"states {stated} where the times in the same file add up to {expected}",
            "the report was changed after it was made: replay the canary again",
        )


def _refuse_contradiction(
    header: ReportHeader, samples: Samples, events: Events, again: Stored[ReportHeader] | None
) -> None:
    """Raise where a summary is not that of the samples beside it."""
    if len(samples) % len(events):
        raise IntegrityRefusal("samples", f"{len(samples)} rows for {len(events)} events", "replay the canary again")
    own = summarise(samples, events, header.replay_protocol.ablations)
    for name in Metrics.__struct_fields__:
        found = first_difference(name, getattr(own, name), getattr(header, name))
        if found is None:
            continue
        place, expected, actual = found
        row = _named_row(place, own)
        sample = "" if again is None else _changed_sample(samples, again, events, header)
        raise IntegrityRefusal(
            f"{place}{row}",
            f"states {actual} where the samples in the same file give {expected}{sample}",
            "the report was changed after it was made: replay the canary again",
        )


def _named_row(place: str, own: Metrics) -> str:
    """`` (operation 'all_reduce')`` for a place in a breakdown."""
    for name, word in (("by_op", "operation"), ("by_phase", "phase")):
        if place.startswith(f"{name}["):
            index = int(place[len(name) + 1 :].partition("]")[0])
            return f" ({word} {getattr(own, name)[index].name!r})"
    return ""


def _changed_sample(samples: Samples, again: Stored[ReportHeader], events: Events, header: ReportHeader) -> str:
    """What to add where a sample is not the recomputed one: its row, event, operation, field and values."""
    found = _first_other_sample(samples, again)
    if found is None:
        return ""
    row, field, expected, actual = found
    event = int(replayed_order(events, header.replay_protocol.ablations)[row % len(events)])
    operation = events.signatures[events.signature[event]].op
    return f"; samples row {row} (event {event}, operation {operation!r}) {field} is {actual}, recomputed {expected}"


def _first_other_sample(samples: Samples, again: Stored[ReportHeader]) -> tuple[int, str, float, float] | None:
    assert again.table is not None
    recomputed = samples_of(again.table)
    first: tuple[int, str, float, float] | None = None
    for field in _SAMPLE_FIELDS:
        ours, theirs = getattr(recomputed, field), getattr(samples, field)
        allowed = ABSOLUTE_TOLERANCE_US + RELATIVE_TOLERANCE * np.abs(ours)
        wrong = np.flatnonzero(~(np.abs(ours - theirs) <= allowed))
        if len(wrong) and (first is None or wrong[0] < first[0]):
            row = int(wrong[0])
            first = row, field, float(ours[row]), float(theirs[row])
    return first


def _checks(header: ReportHeader, again: Stored[ReportHeader], samples: Samples | None) -> list[Check]:
    found = {name: Check(name, PASS) for name in REPORT_CHECKS}
    for field in header.__struct_fields__:
        name = _CHECK_OF.get(field, "metrics")
        if field == "samples_digest" or not found[name].passed:
            continue
        check = _field_check(field, again.header, header)
        found[name] = Check(name, check.status, check.expected, check.actual, check.place)
    found["samples"] = _samples_check(header, again, samples)
    return list(found.values())


def _field_check(name: str, expected: Any, actual: Any) -> Check:
    found = first_difference(name, getattr(expected, name), getattr(actual, name))
    if found is None:
        return Check(name, PASS)
    place, ours, theirs = found
    return Check(name, FAIL, in_words(ours), in_words(theirs), place)


def _samples_check(header: ReportHeader, again: Stored[ReportHeader], samples: Samples | None) -> Check:
    if samples is None:
        if header.samples_digest == again.header.samples_digest:
            return Check("samples", PASS)
        place = "samples_digest (the report holds no samples; with them 0.000001 us could be allowed for)"
        return Check("samples", FAIL, again.header.samples_digest, header.samples_digest, place)
    assert again.table is not None
    if again.table.num_rows != len(samples):
        return Check("samples", FAIL, again.table.num_rows, len(samples), "samples rows")
    found = _first_other_sample(samples, again)
    if found is None:
        return Check("samples", PASS)
    row, field, expected, actual = found
    return Check("samples", FAIL, expected, actual, f"samples row {row} {field}")
