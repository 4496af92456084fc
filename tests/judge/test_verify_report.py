"""verify-report: eleven checks, and files that contradict themselves."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pytest

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.content import table_digest
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import InputRefusal, IntegrityRefusal
from commcanary.judge.report_verification import REPORT_CHECKS, REPORT_VERIFICATION
from commcanary.judge.verify_report import report_exit_code, verify_report
from commcanary.replay.configuration import NAMED, Configuration, Protocol
from commcanary.replay.metrics import summarise
from commcanary.replay.report import REPORT, Replayer, ReportHeader, samples_of, without_samples

Report = Stored[ReportHeader]


@pytest.fixture(scope="module")
def canary(small_trace: Trace) -> Canary:
    return compile_trace(small_trace, CompileSettings())


@pytest.fixture(scope="module")
def report(canary: Canary) -> Report:
    return Replayer(canary, "scheduler-v4").report(NAMED["congested"], Protocol(seeds=(3, 4), iterations=2))


def changed(report: Report, **fields: Any) -> Report:
    return Stored(msgspec.structs.replace(report.header, **fields), report.table)


def resampled(report: Report, column: str, row: int, by: float) -> Report:
    """One sample changed, and the digest of the samples recomputed as a forger would."""
    assert report.table is not None
    values = report.table.column(column).to_pylist()
    values[row] += by
    at = report.table.schema.get_field_index(column)
    table = report.table.set_column(at, column, pa.array(values, pa.float64()))
    return Stored(msgspec.structs.replace(report.header, samples_digest=table_digest(table)), table)


def test_an_honest_report_is_recomputed(report: Report, canary: Canary) -> None:
    found = verify_report(report, canary)
    assert found.status == "model_recomputed"
    assert tuple(check.name for check in found.checks) == (*REPORT_CHECKS, "labels")
    assert {check.status for check in found.checks} == {"pass"}
    assert len(REPORT_CHECKS) == 11
    assert found.samples == "stored"
    assert report_exit_code(found) == 0
    assert REPORT_VERIFICATION.from_json(json_bytes(REPORT_VERIFICATION, Stored(found))).header == found


def test_ablated_and_reordered_replays_are_recomputed(canary: Canary) -> None:
    protocol = Protocol(ablations=("operation_ordering", "observed_exposed", "noise"))
    report = Replayer(canary, "scheduler-v4", protocol.ablations).report(NAMED["baseline"], protocol)
    assert verify_report(report, canary).status == "model_recomputed"


def test_without_samples_the_digest_is_checked_and_said(report: Report, canary: Canary) -> None:
    found = verify_report(without_samples(report), canary)
    assert (found.status, found.samples) == ("model_recomputed", "digest")
    forged = verify_report(changed(without_samples(report), samples_digest="0" * 64), canary)
    assert [c.name for c in forged.checks if c.status == "fail"] == ["samples"]
    assert report_exit_code(forged) == 1


def test_a_summary_that_its_samples_contradict_is_refused_and_named(report: Report, canary: Canary) -> None:
    first = report.header.by_op[0]
    forged = changed(report, by_op=(msgspec.structs.replace(first, p99_us=1.0), *report.header.by_op[1:]))
    with pytest.raises(IntegrityRefusal) as refused:
        verify_report(forged, canary)
    text = str(refused.value)
    for part in ("by_op[0].p99_us", repr(first.name), "1.0", str(first.p99_us)):
        assert part in text


def test_a_changed_sample_is_named_by_row_event_operation_and_values(report: Report, canary: Canary) -> None:
    forged = resampled(report, "exposed_us", 30, 5.0)  # row 30 of runs of 24 events: event 6
    with pytest.raises(IntegrityRefusal, match=r"samples row 30 \(event 6, operation 'all_reduce'\) exposed_us"):
        verify_report(forged, canary)


@pytest.mark.parametrize("column", ["exposed_us", "total_us", "queue_wait_us", "skew_us", "rank_wait_us"])
def test_samples_and_summaries_changed_together_fail(report: Report, canary: Canary, column: str) -> None:
    forged = resampled(report, column, 5, 0.001)
    assert forged.table is not None
    own = summarise(samples_of(forged.table), canary.events)
    consistent = changed(forged, **{name: getattr(own, name) for name in own.__struct_fields__})
    found = verify_report(consistent, canary)
    assert found.status == "failed"
    samples = next(check for check in found.checks if check.name == "samples")
    assert (samples.status, samples.place) == ("fail", f"samples row 5 {column}")


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        ("scheduler-v4", "compute_slowdown", 3.0),
        ("scheduler-v4", "transfer_slowdown", 0.5),
        ("closed-loop-v1", "overlap_efficiency", 0.9),
    ],
)
def test_a_stated_number_that_the_model_does_not_read_fails(
    canary: Canary, model: str, field: str, value: float
) -> None:
    given = Configuration(name="own", bandwidth_gbps=20, **{field: value})  # type: ignore[arg-type]
    honest = Replayer(canary, model).report(given, Protocol())
    assert honest.header.backend == Configuration(name="own", bandwidth_gbps=20)
    assert verify_report(honest, canary).status == "model_recomputed"
    found = verify_report(changed(honest, backend=given), canary)
    assert found.status == "failed"
    assert [(c.name, c.actual, c.place) for c in found.checks if c.status == "fail"] == [
        ("backend", value, f"backend.{field}")
    ]


@pytest.mark.parametrize("backend", [{"label": "H100 measured"}, {"name": "H100"}, {"label": "a", "name": "b"}])
def test_what_the_author_calls_a_configuration_is_not_confirmed(canary: Canary, backend: dict[str, str]) -> None:
    found = verify_report(Replayer(canary, "scheduler-v4").report(Configuration(**backend), Protocol()), canary)
    assert found.status == "model_recomputed"
    assert found.checks[-1].name == "labels"
    assert found.checks[-1].status == "not_checkable"
    assert all(repr(text) in str(found.checks[-1].place) for text in backend.values())


@pytest.mark.parametrize(
    "forged", [{"name": "congested"}, {"name": ""}, {"label": ""}, {"label": "a\nbackend: pass"}, {"name": "\x1b[2K"}]
)
def test_a_report_under_a_name_that_is_not_its_own_is_not_read(canary: Canary, forged: dict[str, str]) -> None:
    honest = Replayer(canary, "scheduler-v4").report(NAMED["baseline"], Protocol())
    document = REPORT.to_json(honest)
    document["backend"].update(forged)
    with pytest.raises(InputRefusal, match=r"bandwidth_gbps|name|label"):
        REPORT.from_json(canonical_json(document))


def test_spliced_samples_are_refused(report: Report, canary: Canary) -> None:
    other = Replayer(canary, "scheduler-v4").report(NAMED["baseline"], Protocol(seeds=(3, 4), iterations=2))
    with pytest.raises(IntegrityRefusal, match="samples_digest"):
        verify_report(Stored(report.header, other.table), canary)


@pytest.mark.parametrize(
    ("fields", "check"),
    [
        ({"workload": {"name": "other"}}, "workload"),
        ({"backend": NAMED["baseline"]}, "samples"),
    ],
)
def test_a_false_header_fails(report: Report, canary: Canary, fields: dict[str, Any], check: str) -> None:
    found = verify_report(changed(report, **fields), canary)
    assert check in [c.name for c in found.checks if c.status == "fail"]


@pytest.mark.parametrize(
    ("part", "change", "check"),
    [
        ("simulation_model", {"version": "3"}, "simulation_model"),
        ("simulation_model", {"name": "scheduler-v3"}, "simulation_model"),
        ("replay_protocol", {"quantile_method": "nearest"}, "replay_protocol"),
        ("replay_protocol", {"ablations": ("magic",)}, "simulation_model"),
        ("canary_summary", {"canary_bytes": 1}, "canary_summary"),
        ("canary", {"source_events": 12}, "canary"),
    ],
)
def test_a_false_part_of_the_header_fails(
    report: Report, canary: Canary, part: str, change: dict[str, Any], check: str
) -> None:
    forged = changed(without_samples(report), **{part: msgspec.structs.replace(getattr(report.header, part), **change)})
    found = verify_report(forged, canary)
    assert check in [c.name for c in found.checks if c.status == "fail"]
    assert found.status == "failed"


def test_a_report_of_another_canary_is_refused(report: Report, small_trace: Trace) -> None:
    other = compile_trace(small_trace, CompileSettings(quantum_ns=1000))
    with pytest.raises(IntegrityRefusal, match=r"canary\.content_id"):
        verify_report(report, other)


def test_a_field_that_nobody_knows_does_not_survive_reading(report: Report) -> None:
    document = msgspec.json.decode(json_bytes(REPORT, report))
    document["backend"]["gpu"] = "H100 measured"
    with pytest.raises(InputRefusal, match="gpu"):
        REPORT.from_json(msgspec.json.encode(document))


@pytest.fixture(scope="module")
def scheduled(canary: Canary) -> Report:
    return Replayer(canary, "closed-loop-v1").report(NAMED["congested"], Protocol(seeds=(3, 4), iterations=2))


def rescheduled(report: Report, **fields: Any) -> Report:
    """The second run's schedule changed, as a forger who knows all digests would."""
    schedule = report.header.schedule
    assert schedule is not None
    runs = list(schedule.runs)
    runs[1] = msgspec.structs.replace(runs[1], **fields)
    return changed(report, schedule=msgspec.structs.replace(schedule, runs=tuple(runs)))


def test_a_schedule_is_recomputed(scheduled: Report, canary: Canary) -> None:
    assert scheduled.header.schedule is not None
    assert len(scheduled.header.schedule.runs) == 4
    assert verify_report(scheduled, canary).status == "model_recomputed"
    stored = REPORT.from_json(json_bytes(REPORT, without_samples(scheduled)))
    assert stored.content_id == scheduled.content_id
    assert verify_report(stored, canary).status == "model_recomputed"


def test_a_makespan_alone_contradicts_its_path(scheduled: Report, canary: Canary) -> None:
    with pytest.raises(IntegrityRefusal, match=r"schedule.runs\[1\].makespan_us: states 1.5 where"):
        verify_report(rescheduled(scheduled, makespan_us=1.5), canary)


def test_a_makespan_that_fits_is_noticed_all_the_same(scheduled: Report, canary: Canary) -> None:
    schedule = scheduled.header.schedule
    assert schedule is not None
    run = schedule.runs[1]
    path = run.critical_path
    first = msgspec.structs.replace(path.parts[0], total_us=path.parts[0].total_us + 1)
    forged = rescheduled(
        scheduled,
        makespan_us=round(run.makespan_us + 1, 3),
        idle_us=tuple(round(us + 1, 3) for us in run.idle_us),
        critical_path=msgspec.structs.replace(path, parts=(first, *path.parts[1:])),
    )
    found = verify_report(forged, canary)
    assert found.status == "failed"
    wrong = next(check for check in found.checks if check.status == "fail")
    assert wrong.name == "metrics"
    assert str(wrong.place).startswith("schedule.runs[1]")


@pytest.mark.parametrize("field", ["digest", "segments", "longest"])
def test_a_changed_path_is_noticed(scheduled: Report, canary: Canary, field: str) -> None:
    assert scheduled.header.schedule is not None
    path = scheduled.header.schedule.runs[1].critical_path
    other: dict[str, Any] = {"digest": "0" * 64, "segments": path.segments + 1, "longest": path.longest[1:]}
    forged = rescheduled(scheduled, critical_path=msgspec.structs.replace(path, **{field: other[field]}))
    found = verify_report(forged, canary)
    assert found.status == "failed"
    assert any(field in str(check.place) for check in found.checks)


def test_a_schedule_cannot_be_taken_away_or_added(scheduled: Report, report: Report, canary: Canary) -> None:
    assert report.header.schedule is None
    assert verify_report(changed(scheduled, schedule=None), canary).status == "failed"
    assert verify_report(changed(report, schedule=scheduled.header.schedule), canary).status == "failed"
