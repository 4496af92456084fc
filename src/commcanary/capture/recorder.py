"""What one process of the job recorded: a column per quantity, one entry per communication call.

Times are ns of CLOCK_MONOTONIC; -1 is unknown. Each stretch of a thread's time outside communication calls is
counted once: as overlapped compute of the call that the thread issued last and has not waited for, else as
compute before its next call.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

from commcanary.capture.clock import Calibration, clock_id
from commcanary.capture.shard import write_shard

UNKNOWN = -1
now = time.monotonic_ns

COLUMNS = ("key", "issue", "wait", "done", "before", "overlap", "early")
"""A row of the recorder: one flat array, because a call must cost a few microseconds in a cold cache."""
WIDTH = len(COLUMNS)
WAIT, DONE, OVERLAP, EARLY = (COLUMNS.index(name) for name in ("wait", "done", "overlap", "early"))

FOLDER_VARIABLE = "COMMCANARY_CAPTURE_DIR"
SESSION_VARIABLE = "COMMCANARY_CAPTURE_SESSION"
SHARD_FORMAT = "commcanary.capture-shard.v1"


class CallKey(NamedTuple):
    """All of a call but its times. ``group`` numbers the recorder's groups; ``root`` and ``peer`` are global ranks."""

    op: str
    bytes: int
    in_elements: int
    out_elements: int
    dtype: str | None
    group: int
    root: int | None = None
    reduction: str | None = None
    peer: int | None = None
    tag: str | None = None
    phase: str = "unknown"
    device: str = "cpu"


class ThreadState:
    """Where one thread stands. ``depth`` is above 0 inside a communication call."""

    __slots__ = ("compute", "depth", "in_flight", "returning", "since")

    def __init__(self) -> None:
        self.depth = 0
        self.since = UNKNOWN
        self.compute = 0
        self.in_flight: dict[int, None] = {}
        self.returning: list[int] = []


class Recorder:
    """The calls of this process; ``write`` puts them into the session's folder."""

    def __init__(self, folder: str, session: str) -> None:
        self.folder, self.session = folder, session
        self._forgetting: list[Callable[[], None]] = []
        self.restart()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.restart)

    def restart(self) -> None:
        """Forget everything: a forked process starts empty, its parent writes the parent's calls."""
        for forget in self._forgetting:
            forget()
        self._lock = threading.RLock()
        self._threads = threading.local()
        self.rank = self.world_size = UNKNOWN
        self.backend: str | None = None
        self.calibration: Calibration | None = None
        self.conflict: str | None = None
        self.groups: dict[tuple[str, tuple[int, ...]], int] = {}
        self.keys: dict[CallKey, int] = {}
        self.rows = array("q")
        self.left_out: dict[tuple[str, str, str], list[int]] = {}
        self.waiting: dict[int, tuple[Any, int, dict[int, None]]] = {}
        self._changed = self._hooked = False

    def on_restart(self, forget: Callable[[], None]) -> None:
        """Have ``forget`` called in a forked process: what was kept of keys and rows names the parent's."""
        self._forgetting.append(forget)

    def join(self, rank: int, world_size: int, backend: str | None, calibration: Calibration | None) -> None:
        """Say which rank of which world this process is; two different answers in one process are a conflict."""
        if self.rank not in (UNKNOWN, rank) or self.world_size not in (UNKNOWN, world_size):
            self.conflict = f"was rank {self.rank} of {self.world_size}, then rank {rank} of {world_size}"
        self.rank, self.world_size = rank, world_size
        self.backend = backend or self.backend
        if self.calibration is None:
            self.calibration = calibration
        self._will_write()

    def group(self, name: str, ranks: tuple[int, ...]) -> int:
        """The number of a process group."""
        return self.groups.setdefault((name, ranks), len(self.groups))

    def here(self) -> ThreadState:
        """The state of the calling thread."""
        try:
            state: ThreadState = self._threads.state
        except AttributeError:
            state = self._threads.state = ThreadState()
        return state

    def entered(self, state: ThreadState, at: int) -> None:
        """A communication call begins on a thread: what lies behind it since the last one was compute."""
        since = state.since
        if state.returning:
            since = max([since] + [self.rows[row * WIDTH + DONE] for row in state.returning])
            state.returning = []
        state.since = at
        if since == UNKNOWN:
            state.compute = UNKNOWN
        elif at > since:
            if state.in_flight:
                self.rows[next(reversed(state.in_flight)) * WIDTH + OVERLAP] += at - since
            elif state.compute != UNKNOWN:
                state.compute += at - since

    def append(self, state: ThreadState, key: int, issue: int, wait: int = UNKNOWN, done: int = UNKNOWN) -> int:
        """A call of key number ``key`` was made; its row."""
        before, state.compute = state.compute, 0
        with self._lock:
            row = len(self.rows) // WIDTH
            self.rows.extend((key, issue, wait, done, before, 0, 0))
        self._changed = True
        if not self._hooked:
            self._will_write()
        return row

    def number(self, key: CallKey) -> int:
        """The number of a key."""
        with self._lock:
            return self.keys.setdefault(key, len(self.keys))

    def watch(self, state: ThreadState, work: Any, row: int) -> None:
        """The call is in flight behind ``work``: this thread's time is its overlapped compute until the wait."""
        flights, name = state.in_flight, id(work)
        flights[row] = None

        def dropped(_: Any) -> None:
            flights.pop(row, None)
            entry = self.waiting.get(name)
            if entry is not None and entry[1] == row:
                del self.waiting[name]

        self.waiting[name] = (weakref.ref(work, dropped), row, flights)

    def waited_for(self, work: Any) -> int:
        """The row of the call behind ``work`` if nobody has waited for it yet, else -1."""
        entry = self.waiting.get(id(work))
        return UNKNOWN if entry is None or entry[0]() is not work else entry[1]

    def finished(self, work: Any, begin: int, end: int, early: bool) -> None:
        """Somebody waited for ``work``; ``early`` says that it had completed before, some time since its issue."""
        _, row, flights = self.waiting.pop(id(work))
        self.settle(row, flights, begin, end, early)

    def settle(self, row: int, flights: dict[int, None], begin: int, end: int, early: bool) -> None:
        """Row ``row`` was waited for; ``flights`` are its issuing thread's. Later waits change nothing."""
        flights.pop(row, None)
        at = row * WIDTH
        if self.rows[at + WAIT] != UNKNOWN:
            return
        self.rows[at + WAIT], self.rows[at + DONE], self.rows[at + EARLY] = begin, end, early

    def add(self, key: CallKey, issue: int, wait: int, done: int, before: int) -> None:
        """A call that another library made, with its times; the thread's own account is not touched."""
        state = ThreadState()
        state.compute = before
        row = self.append(state, self.number(key), issue, wait, done)
        self.rows[row * WIDTH + OVERLAP] = UNKNOWN if wait == UNKNOWN else wait - issue

    def name_sender(self, row: int, sender: int) -> None:
        """A message from any rank has come: its key gets the sender's global rank as its peer."""
        at = row * WIDTH
        self.rows[at] = self.number(list(self.keys)[self.rows[at]]._replace(peer=sender))

    def not_taken(self, rule: str, fate: str, reason: str, ns: int = 0) -> None:
        """Count a call that is no record: ``fate`` is skipped or unknown."""
        with self._lock:
            count = self.left_out.setdefault((rule, fate, reason), [0, 0])
            count[0] += 1
            count[1] += ns
            self._changed = True

    def write(self) -> None:
        """Write what there is, replacing this process's earlier shard; nothing where nothing changed."""
        if not self._changed:
            return
        with self._lock:
            calibration = self.calibration or Calibration(clock_id(), None, None)
            document = {
                "format": SHARD_FORMAT,
                "session": self.session,
                "rank": self.rank,
                "world_size": self.world_size,
                "backend": self.backend,
                "conflict": self.conflict,
                "clock": calibration._asdict(),
                "groups": [{"name": name, "ranks": list(ranks)} for name, ranks in self.groups],
                "keys": [key._asdict() for key in self.keys],
                "records": len(self.rows) // WIDTH,
                "columns": {name: self.rows[at::WIDTH].tolist() for at, name in enumerate(COLUMNS)},
                "left_out": [
                    {"rule": rule, "fate": fate, "reason": reason, "count": count, "ns": ns}
                    for (rule, fate, reason), (count, ns) in self.left_out.items()
                ],
            }
            write_shard(self.folder, f"rank{self.rank}-{os.getpid()}.json", document)
            self._changed = False

    def _will_write(self) -> None:
        self._changed = True
        if self._hooked:
            return
        self._hooked = True
        atexit.register(self.write)
        util = sys.modules.get("multiprocessing.util")
        if util is not None:  # a forked worker ends with os._exit: only these run
            util.Finalize(None, self.write, exitpriority=0)


def _from_environment() -> Recorder | None:
    folder, session = os.environ.get(FOLDER_VARIABLE), os.environ.get(SESSION_VARIABLE)
    return Recorder(folder, session) if folder and session else None


RECORDER = _from_environment()
"""The recorder of this process; None where nobody captures."""
