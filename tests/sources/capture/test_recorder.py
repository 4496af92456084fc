"""The recorder's account of a thread's time, its shard, and clocks of two hosts."""

from __future__ import annotations

import ast
import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commcanary.capture.clock import Calibration, calibrate, clock_id
from commcanary.capture.recorder import COLUMNS, CallKey, Recorder
from commcanary.sources.capture.shard import read_shard

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM = Path(__file__).resolve().parents[3] / "src" / "commcanary" / "capture"
KEY = CallKey("all_reduce", 64, 16, 16, "float32", 0)


class Work:
    """Something that can be waited for."""


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    made = Recorder(str(tmp_path), "s")
    made.group("0", (0, 1))
    made.join(0, 2, "gloo", Calibration("c", 0, 0))
    made.here().since = 1000
    return made


def column(recorder: Recorder, name: str) -> list[int]:
    return recorder.rows[COLUMNS.index(name) :: len(COLUMNS)].tolist()


def issue(recorder: Recorder, at: int, returned: int) -> tuple[int, Work]:
    recorder.entered(recorder.here(), at)
    row, work = recorder.append(recorder.here(), recorder.number(KEY), at), Work()
    recorder.watch(recorder.here(), work, row)
    recorder.here().since = returned
    return row, work


def wait(recorder: Recorder, work: Work, at: int, returned: int) -> None:
    recorder.entered(recorder.here(), at)
    recorder.finished(work, at, returned, False)
    recorder.here().since = returned


def test_every_stretch_of_compute_counts_once(recorder: Recorder) -> None:
    first, one = issue(recorder, 1300, 1310)  # 300 before it
    second, two = issue(recorder, 1410, 1420)  # 100 beside the first
    wait(recorder, two, 1450, 1500)  # 30 beside the second
    wait(recorder, one, 1507, 1600)  # 7 beside the first, the only one left
    third, _ = issue(recorder, 1640, 1650)  # 40 before it
    assert column(recorder, "before") == [300, 0, 40]
    assert column(recorder, "overlap") == [107, 30, 0]
    assert [column(recorder, "wait")[i] for i in (first, second, third)] == [1507, 1450, -1]
    assert [column(recorder, "done")[i] for i in (first, second, third)] == [1600, 1500, -1]


def test_control_calls_are_no_compute_and_lose_none(recorder: Recorder) -> None:
    recorder.entered(recorder.here(), 1100)  # a barrier: 100 of compute before it
    recorder.here().since = 1900
    issue(recorder, 1950, 1960)  # and 50 after it
    assert column(recorder, "before") == [150]


def test_first_call_of_another_thread_does_not_know_what_was_before(recorder: Recorder) -> None:
    thread = threading.Thread(target=lambda: (issue(recorder, 1200, 1210), issue(recorder, 1260, 1270)))
    thread.start()
    thread.join()
    assert column(recorder, "before") == [-1, 0]
    assert column(recorder, "overlap") == [50, 0]


def test_dropped_work_is_in_flight_no_more(recorder: Recorder) -> None:
    _, work = issue(recorder, 1100, 1110)
    del work
    issue(recorder, 1150, 1160)
    assert column(recorder, "before") == [100, 40]


def test_second_wait_changes_nothing(recorder: Recorder) -> None:
    _, work = issue(recorder, 1100, 1110)
    wait(recorder, work, 1200, 1300)
    assert recorder.waited_for(work) == -1


def test_shard_is_what_the_reader_reads(recorder: Recorder, tmp_path: Path) -> None:
    issue(recorder, 1100, 1110)
    recorder.not_taken("x", "skipped", "control: barrier", 5)
    recorder.write()
    (path,) = tmp_path.glob("*")
    shard = read_shard(path)
    assert (shard.rank, shard.said.world_size, len(shard), shard.issue.tolist()) == (0, 2, 1, [1100])
    assert [(left.fate, left.count) for left in shard.said.left_out] == [("skipped", 1)]


def test_unchanged_shard_is_not_written_again(recorder: Recorder, tmp_path: Path) -> None:
    issue(recorder, 1100, 1110)
    recorder.write()
    (path,) = tmp_path.glob("*")
    path.unlink()
    recorder.write()
    assert list(tmp_path.glob("*")) == []


def test_failed_write_leaves_nothing(recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(OSError, match="No space"):
        recorder.write()
    assert list(tmp_path.glob("*")) == []


def test_forked_process_starts_empty(recorder: Recorder) -> None:
    kept = {"of": "the parent"}
    recorder.on_restart(kept.clear)
    issue(recorder, 1100, 1110)
    recorder.restart()
    assert (len(recorder.rows), recorder.rank, kept) == (0, -1, {})


def test_second_result_of_a_call_changes_nothing(recorder: Recorder) -> None:
    row, work = issue(recorder, 1100, 1110)
    wait(recorder, work, 1200, 1300)
    recorder.settle(row, recorder.here().in_flight, 1400, 1500, False)
    assert (column(recorder, "wait"), column(recorder, "done")) == ([1200], [1300])


def test_two_ranks_in_one_process_are_a_conflict(recorder: Recorder) -> None:
    recorder.join(1, 2, "gloo", None)
    assert recorder.conflict == "was rank 0 of 2, then rank 1 of 2"


class Store:
    """A store of torch.distributed in one process."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: str) -> None:
        with self._changed:
            self._values[key] = value
            self._changed.notify_all()

    def wait(self, keys: list[str], timeout: Any) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: all(key in self._values for key in keys), timeout.total_seconds()):
                raise RuntimeError("timed out")

    def get(self, key: str) -> bytes:
        with self._changed:
            return self._values[key].encode()


def both_ranks(ids: tuple[str, str], clocks: tuple[Callable[[], int], Callable[[], int]]) -> list[Calibration]:
    store, result = Store(), [Calibration("", None, None)] * 2

    def rank(number: int) -> None:
        result[number] = calibrate(store, number, 2, ids[number], clocks[number])

    threads = [threading.Thread(target=rank, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return result


def test_one_clock_has_no_offset() -> None:
    assert both_ranks(("a", "a"), (lambda: 1, lambda: 2)) == [Calibration("a", 0, 0)] * 2


@pytest.mark.parametrize("apart_ns", [-(10**15), 0, 7 * 10**12])
def test_offset_of_another_clock_is_found_within_its_bound(apart_ns: int) -> None:
    import time

    zero, one = both_ranks(("a", "b"), (lambda: time.monotonic_ns() + apart_ns, time.monotonic_ns))
    assert zero == Calibration("a", 0, 0)
    assert one.offset_ns is not None
    assert one.error_ns is not None
    assert 0 < one.error_ns < 10**9
    assert abs(one.offset_ns - apart_ns) <= one.error_ns


def test_clock_names_are_stable_and_say_nothing() -> None:
    assert clock_id() == clock_id()
    assert len(clock_id()) == 16


def test_room_needs_the_standard_library_only() -> None:
    for module in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name is not None
                assert name.split(".")[0] in sys.stdlib_module_names or name.startswith("commcanary.capture"), module
