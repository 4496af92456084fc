"""Several ranks: matching by invocation order, divergence, missing ranks, clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.calls.imported import Imported
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings

from .profiles import group, info, kernel, profile, record, written

if TYPE_CHECKING:
    from pathlib import Path

WORLD = [0, 1, 2, 3]
PAIRS = [group("0", WORLD, "default_pg"), group("a", [0, 1]), group("b", [2, 3])]
SHARED = KinetoSettings(assume_shared_clock=True)


def imported(
    tmp_path: Path,
    ranks: dict[int, list[dict[str, Any]]],
    settings: KinetoSettings | None = None,
    world: int = 2,
    groups: list[dict[str, Any]] | None = None,
    heads: dict[int, dict[str, Any]] | None = None,
) -> Imported:
    paths = []
    for rank, events in ranks.items():
        head = {"distributedInfo": info(rank, world, groups), **(heads or {}).get(rank, {})}
        paths.append(written(tmp_path / f"rank{rank}.json", profile(events, **head)))
    return import_kineto(paths, settings)


def test_offsets_and_gaps_on_a_shared_clock(tmp_path: Path) -> None:
    ranks = {0: [record(ts=100), record(ts=200.5)], 1: [record(ts=103), record(ts=190)]}
    trace = imported(tmp_path, ranks, SHARED).trace
    assert trace.start_ns.tolist() == [0, 90_000]
    assert trace.events.gap_ns.tolist() == [0, 90_000]
    assert [trace.events.offsets_ns.row(i) for i in (0, 1)] == [[0, 3000], [10_500, 0]]
    assert "rank_arrival_us" not in trace.header.unknown


def test_offsets_stand_in_the_order_of_the_group(tmp_path: Path) -> None:
    groups = [group("0", [0, 1], "default_pg"), group("r", [1, 0])]
    ranks = {r: [record(ts=100 + 7 * r, name="r", ranks="[1, 0]")] for r in (0, 1)}
    trace = imported(tmp_path, ranks, SHARED, groups=groups).trace
    assert trace.events.offsets_ns.row(0) == [7000, 0]


def test_declared_offsets_are_added(tmp_path: Path) -> None:
    ranks = {0: [record(ts=100)], 1: [record(ts=1_000_100)]}
    settings = KinetoSettings(clock_offsets_us={0: 0.0, 1: -999_990.0})
    assert imported(tmp_path, ranks, settings).trace.events.offsets_ns.row(0) == [0, 10_000]


def test_bases_of_different_quarters(tmp_path: Path) -> None:
    quarter = 7_776_000_000_000_000
    heads = {
        0: {"baseTimeNanoseconds": 1_711_964_646_000_000_000},
        1: {"baseTimeNanoseconds": 1_711_964_646_000_000_000 + quarter},
    }
    ranks = {0: [record(ts=7_776_000_000_100.125)], 1: [record(ts=100.25)]}
    trace = imported(tmp_path, ranks, SHARED, heads=heads).trace
    assert trace.events.offsets_ns.row(0) == [0, 125]


def test_absolute_time_stamps_keep_their_nanoseconds(tmp_path: Path) -> None:
    text = '{"distributedInfo": %s, "traceEvents": [%s, %s]}'
    import json

    def at(ts: str) -> str:
        return json.dumps(record(ts=0)).replace('"ts": 0', f'"ts": {ts}')

    path = written(
        tmp_path / "p.json", text % (json.dumps(info()), at("1712195495520871.001"), at("1712195495520999.008"))
    )
    assert import_kineto([path]).trace.events.gap_ns.tolist() == [0, 128_007]


REFUSED_OFFSETS = [
    ({0: 0.0}, "rank 1 has no offset"),
    ({0: 0.0, 1: 0.0, 5: 1.0}, "rank 5 has an offset but no profile"),
]


@pytest.mark.parametrize(("offsets", "message"), REFUSED_OFFSETS)
def test_offsets_for_every_rank_and_no_other(tmp_path: Path, offsets: dict[int, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        imported(tmp_path, {0: [record()], 1: [record()]}, KinetoSettings(clock_offsets_us=offsets))


def test_two_clock_options_are_a_usage_error() -> None:
    with pytest.raises(UsageError):
        KinetoSettings(assume_shared_clock=True, estimate_clock=True)


def test_clocks_hours_apart_are_not_shared(tmp_path: Path) -> None:
    ranks = {0: [record(ts=100)], 1: [record(ts=100 + 3 * 3600e6)]}
    with pytest.raises(InputRefusal, match="rank 1 arrives 10800 s after rank 0"):
        imported(tmp_path, ranks, SHARED)


def test_leaving_before_another_rank_arrives_is_not_one_clock(tmp_path: Path) -> None:
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
    ranks = {
        r: [record(ts=100, **{"External id": 5}), kernel(name, at, 50, **{"External id": 5, "correlation": 9})]
        for r, at in ((0, 200.0), (1, 5200.0))
    }
    with pytest.raises(InputRefusal, match="a rank leaves 4950 us before rank 1 arrives"):
        imported(tmp_path, ranks, SHARED)
    # a clock estimated from the ends puts both ends together
    estimated = imported(tmp_path, ranks, KinetoSettings(estimate_clock=True)).trace
    assert estimated.events.offsets_ns.row(0) == [0, 0]
    assert estimated.header.system["clock"]["offsets_us"] == {"0": 0.0, "1": -5000.0}
    assert estimated.header.system["clock"]["error_bound_us"] == 0.0


def test_a_base_on_some_profiles_only(tmp_path: Path) -> None:
    heads = {0: {"baseTimeNanoseconds": 1_711_964_646_000_000_000}}
    with pytest.raises(InputRefusal, match="baseTimeNanoseconds: is missing while other profiles have it"):
        imported(tmp_path, {0: [record()], 1: [record()]}, SHARED, heads=heads)


def test_nothing_to_estimate_from(tmp_path: Path) -> None:
    with pytest.raises(InputRefusal, match="shares no synchronising collective of known end"):
        imported(tmp_path, {0: [record()], 1: [record()]}, KinetoSettings(estimate_clock=True))


DIVERGING = [
    (
        [record(ts=1), record("broadcast", ts=50)],
        [record(ts=1), record(ts=50)],
        "call 1.*calls broadcast.*calls all_reduce",
    ),
    ([record(ts=1), record(ts=50)], [record(ts=1)], "call 1.*calls all_reduce.*has no such call"),
    ([record(ts=1, elements=8)], [record(ts=1, elements=9)], "call 0.*of 32 bytes.*of 36 bytes"),
    ([record(ts=1, Seq=5)], [record(ts=1, Seq=9)], "call 0.*Seq 5.*Seq 9"),
    ([record(ts=1, dtype="Float")], [record(ts=1, dtype="Int")], "call 0"),
]


@pytest.mark.parametrize(("one", "other", "message"), DIVERGING)
def test_first_divergence_is_reported(
    tmp_path: Path, one: list[dict[str, Any]], other: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputRefusal, match=f"process group '0' {message}"):
        imported(tmp_path, {0: one, 1: other})


def test_uneven_all_to_all_is_no_divergence(tmp_path: Path) -> None:
    ranks = {0: [record("all_to_allv", elements=10, out=30)], 1: [record("all_to_allv", elements=40, out=20)]}
    trace = imported(tmp_path, ranks).trace
    (row,) = trace.events.signatures
    assert (row.bytes, row.in_elements, row.out_elements) == (160, None, None)
    assert "in_elements" in trace.header.unknown


def test_uneven_shares_of_one_all_gather(tmp_path: Path) -> None:
    ranks = {0: [record("allgather", elements=10, out=30)], 1: [record("allgather", elements=20, out=30)]}
    (row,) = imported(tmp_path, ranks).trace.events.signatures
    assert (row.bytes, row.in_elements, row.out_elements) == (120, None, None)
    ranks[1][0]["args"]["Out msg nelems"] = 31
    with pytest.raises(InputRefusal, match=r"calls all_gather of 120 bytes .* calls all_gather of 124 bytes"):
        imported(tmp_path, ranks)


def test_one_rank_twice(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{n}.json", profile([record()])) for n in "ab"]
    with pytest.raises(InputRefusal, match=r"b\.json: distributedInfo\.rank: is 0 in a\.json as well"):
        import_kineto(paths)


def test_missing_ranks_are_named(tmp_path: Path) -> None:
    events = [record(ranks="[0, 1, 2, 3]", size=4)]
    with pytest.raises(InputRefusal, match="2 of 4 ranks of process group '0' have no profile: 1, 3"):
        imported(tmp_path, {0: events, 2: events}, world=4)


def test_profiles_of_different_jobs(tmp_path: Path) -> None:
    heads = {1: {"distributedInfo": info(1, 4)}}
    with pytest.raises(InputRefusal, match="world_size: is 4 but 2"):
        imported(tmp_path, {0: [record()], 1: [record(ranks=None, size=4)]}, heads=heads)
    heads = {1: {"distributedInfo": info(1, 2, [group("0", [1, 0], "default_pg")])}}
    with pytest.raises(InputRefusal, match="give profiles of one job"):
        imported(tmp_path, {0: [record()], 1: [record(ranks=None)]}, heads=heads)


def test_messages_are_paired_and_run_beside_collectives(tmp_path: Path) -> None:
    # rank 0 sends before the collective, rank 1 receives after it
    ranks = {
        0: [record("send", ts=100, **{"Dst Rank": 1}), record(ts=200)],
        1: [record(ts=210), record("recv", ts=300, **{"Src Rank": 0})],
    }
    events = imported(tmp_path, ranks, SHARED).trace.events
    rows = [events.signatures[i] for i in events.signature]
    assert [r.op for r in rows] == ["point_to_point", "all_reduce"]
    assert (rows[0].sender_rank, rows[0].receiver_rank) == (0, 1)
    assert [events.offsets_ns.row(i) for i in (0, 1)] == [[0, 200_000], [0, 10_000]]


def test_groups_without_the_first_rank_are_ordered_by_what_they_share(tmp_path: Path) -> None:
    def program(rank: int, shift: float) -> list[dict[str, Any]]:
        own, ranks = ("a", "[0, 1]") if rank < 2 else ("b", "[2, 3]")
        return [
            record(ts=shift + 100, ranks=WORLD, size=4),
            record(ts=shift + 200 + rank, ranks=ranks, name=own, elements=5 + rank // 2),
            record(ts=shift + 300, ranks=WORLD, size=4),
        ]

    ranks = {rank: program(rank, 1e6 * rank) for rank in range(4)}  # four unrelated clocks
    trace = imported(tmp_path, ranks, world=4, groups=PAIRS).trace
    rows = [trace.events.signatures[i] for i in trace.events.signature]
    assert [r.bytes for r in rows] == [4096, 20, 24, 4096]
    assert trace.start_ns.tolist() == [0, 100_000, 102_000, 200_000]
    assert not trace.events.offsets_ns.known.any()


def test_order_of_files_only_decides_whose_timeline_is_used(tmp_path: Path) -> None:
    ranks = {0: [record(ts=100), record(ts=200)], 1: [record(ts=103), record(ts=204)]}
    forward = imported(tmp_path, ranks, SHARED).trace
    backward = imported(tmp_path, dict(reversed(ranks.items())), SHARED).trace
    assert forward.start_ns.tolist() == backward.start_ns.tolist()
    assert forward.events.offsets_ns.row(1) == backward.events.offsets_ns.row(1) == [0, 4000]
