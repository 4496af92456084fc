"""Sizes, counts that close or do not, and rates only where they do."""

from __future__ import annotations

from typing import Any

import pytest

from commcanary.artifacts.events import ProcessGroup
from commcanary.timeline.overlap import Payload
from commcanary.timeline.payload import bus_factor, payload, shown_bytes
from commcanary.timeline.windows import Window

from .timelines import K, calls, ranges, timeline

TWO_STEPS = ranges(("ProfilerStep#1", 0, 1_000), ("ProfilerStep#2", 1_000, 2_000))
CALLS = [
    ("all_reduce", 4, 10, 0),
    ("all_reduce", 8_388_608, 20, 0),
    ("all_reduce", 4, 1_010, 1),
    ("all_reduce", 8_388_608, 1_020, 1),
]
KERNELS = [
    K(100, 102, "all_reduce", call=0),
    K(200, 1_200, "all_reduce", call=1),
    K(1_300, 1_304, "all_reduce", call=2),
    K(1_400, 3_400, "all_reduce", call=3),
]


def rows(kernels: list[K], said: list[tuple[str, int, int, int]], ranks: int = 1, **more: Any) -> tuple[Payload, ...]:
    given = {"steps": TWO_STEPS, "calls": calls(said)} | more
    return payload([timeline(kernels, rank=rank, **given) for rank in range(ranks)], [None] * ranks)


def test_counts_that_close_have_rates() -> None:
    (row,) = rows(KERNELS, CALLS, ranks=2)
    assert (row.kind, row.group, row.group_ranks, row.dtypes) == ("all_reduce", "0", 4, ("float32",))
    assert (row.calls, row.kernels, row.ranks, row.steps, row.per_step) == (8, 8, 2, 2, 2)
    assert row.calls == row.ranks * row.steps * (row.per_step or 0)
    assert row.open_because == ()
    assert [(s.bytes, s.shown, s.calls) for s in row.sizes] == [(4, "4 B", 4), (8_388_608, "8.00 MiB", 4)]
    assert (row.bytes_p50, row.bytes_p99, row.bytes_total) == (4, 8_388_608, 4 * 8_388_612)
    assert row.bytes_per_rank_step == 8_388_612
    assert [(r.rank, r.calls, r.kernels, r.bytes) for r in row.per_rank] == [
        (0, 4, 4, 2 * 8_388_612),
        (1, 4, 4, 2 * 8_388_612),
    ]
    assert row.rates is not None
    # 4 B in 2 and 4 ns, 8 MiB in 1000 and 2000 ns: 2, 1, 8388.608 and 4194.304 GB/s
    assert row.rates.algbw_p50_gb_s == pytest.approx((2 + 4194.304) / 2)
    assert row.rates.algbw_total_gb_s == pytest.approx(2 * 8_388_612 / 3_006, abs=1e-3)
    assert row.rates.bus_factor == 1.5
    assert row.rates.busbw_p50_gb_s == pytest.approx(1.5 * (2 + 4194.304) / 2)


@pytest.mark.parametrize(
    ("kernels", "said", "why"),
    [
        (KERNELS[:3], CALLS, "rank 0: 1 of 4 calls have no kernel"),
        ([*KERNELS, K(4_000, 4_010, "all_reduce")], CALLS, "1 kernels of this kind have no call"),
        ([*KERNELS, K(4_000, 4_010, "all_reduce", call=3)], CALLS, "rank 0: 1 of 4 calls have several kernels"),
        ([KERNELS[0]._replace(end=100), *KERNELS[1:]], CALLS, "rank 0: 1 kernels have no duration"),
        (KERNELS[:3], CALLS[:3], "a step has from 1 to 2 calls, so calls are not ranks x steps x a number"),
        (KERNELS[:2], CALLS[:2], "a step has from 0 to 2 calls, so calls are not ranks x steps x a number"),
        (KERNELS, [*CALLS[:3], ("all_reduce", 4, 5_000, -1)], "1 calls lie in no profiler step"),
    ],
)
def test_counts_that_do_not_close_have_no_rate(
    kernels: list[K], said: list[tuple[str, int, int, int]], why: str
) -> None:
    (row,) = rows(kernels, said)
    assert why in row.open_because
    assert row.rates is None
    assert (row.calls, row.kernels + row.unlinked_kernels) == (len(said), len(kernels))  # both counts are there


def test_ranks_with_different_numbers_of_calls_do_not_close() -> None:
    none = ranges()
    one = timeline(KERNELS[:2], calls=calls(CALLS[:2]), steps=none)
    other = timeline(KERNELS[:1], calls=calls(CALLS[:1]), steps=none, rank=1)
    (row,) = payload([one, other], [None, None])
    assert row.open_because == ("ranks have different numbers of calls",)
    assert row.per_step is None


def test_a_size_that_closes_has_its_rate_where_the_kind_does_not() -> None:
    said = [*CALLS[:3], ("all_reduce", 8_388_608, 1_020, 1), ("all_reduce", 16, 1_030, 1)]
    (row,) = rows([*KERNELS, K(4_000, 4_010, "all_reduce", call=4)], said)
    assert row.rates is None
    rates = {size.bytes: size.rates for size in row.sizes}
    assert rates[16] is None
    assert rates[4] is not None
    assert rates[4].algbw_p50_gb_s == 1.5
    assert {size.bytes: size.per_step for size in row.sizes} == {4: 1, 16: None, 8_388_608: 1}


def test_a_trim_keeps_the_calls_issued_in_it() -> None:
    one = timeline(KERNELS, calls=calls(CALLS), steps=TWO_STEPS)
    (row,) = payload([one], [Window("trim", "", 1_000, 2_000)])
    assert (row.calls, row.kernels, row.steps, row.per_step) == (2, 2, 1, 2)
    assert row.open_because == ()
    (row,) = payload([one], [Window("trim", "", 15, 2_000)])
    assert (row.calls, row.steps, row.per_step) == (3, 1, 2)
    assert row.open_because == ("1 calls are of steps that the trim cuts",)


def test_profiles_without_calls_have_no_rows() -> None:
    assert payload([timeline(KERNELS, rank=None)], [None]) == ()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (4, "4 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (5_242_880, "5.00 MiB"), (3 << 30, "3.00 GiB")],
)
def test_small_sizes_are_never_shown_as_nothing(count: int, text: str) -> None:
    assert shown_bytes(count) == text


@pytest.mark.parametrize(
    ("kind", "ranks", "factor"),
    [
        ("all_reduce", 8, 1.75),
        ("all_gather", 8, 0.875),
        ("reduce_scatter", 4, 0.75),
        ("all_to_all", 2, 0.5),
        ("broadcast", 8, 1.0),
        ("all_reduce", 1, None),
        ("home_made", 8, None),
    ],
)
def test_bus_factors_are_those_of_nccl_tests(kind: str, ranks: int, factor: float | None) -> None:
    assert bus_factor(kind, ranks) == factor


def test_groups_stand_apart() -> None:
    said = calls(CALLS[:2], ProcessGroup("tp", 2))
    one = timeline(KERNELS[:2], calls=said)
    other = timeline(KERNELS, calls=calls(CALLS), rank=1, steps=TWO_STEPS)
    assert {row.group for row in payload([one, other], [None, None])} == {"tp", "0"}
