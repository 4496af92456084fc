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
from typing import Any, NamedTuple

from commcanary.capture.clock import Calibration, clock_id
from commcanary.capture.shard import write_shard

UNKNOWN = -1
now = time.monotonic_ns

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


class ThreadState(threading.local):
    """Where one thread stands. ``depth`` is above 0 inside a communication call."""

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
        self._lock = threading.RLock()
        self.thread = ThreadState()
        self.restart()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.restart)

    def restart(self) -> None:
        """Forget everything: a forked process starts empty, its parent writes the parent's calls."""
        self._lock = threading.RLock()
        self.thread = ThreadState()
        self.rank = self.world_size = UNKNOWN
        self.backend: str | None = None
        self.calibration: Calibration | None = None
        self.conflict: str | None = None
        self.groups: dict[tuple[str, tuple[int, ...]], int] = {}
        self.keys: dict[CallKey, int] = {}
        self.key, self.issue, self.wait, self.done, self.before, self.overlap = (array("q") for _ in range(6))
        self.early = array("b")
        self.left_out: dict[tuple[str, str, str], list[int]] = {}
        self._waiting: dict[int, tuple[Any, int, dict[int, None]]] = {}
        self._changed = self._hooked = False

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

    def entered(self, at: int) -> None:
        """A communication call begins on this thread: what lies behind it since the last one was compute."""
        thread = self.thread
        since = thread.since
        if thread.returning:
            since = max([since] + [self.done[index] for index in thread.returning])
            thread.returning = []
        if since == UNKNOWN:
            thread.compute = UNKNOWN
            return
        span = max(0, at - since)
        thread.since = at
        if thread.in_flight:
            last = next(reversed(thread.in_flight))
            self.overlap[last] += span
        elif thread.compute != UNKNOWN:
            thread.compute += span

    def issued(self, key: CallKey, at: int) -> int:
        """A call of ``key`` was issued; its index, to be finished with ``blocked``, ``watch`` or ``unfinished``."""
        thread = self.thread
        with self._lock:
            index = self._append(key, at, thread.compute)
        thread.compute = 0
        return index

    def _append(self, key: CallKey, issue: int, before: int) -> int:
        self.key.append(self.keys.setdefault(key, len(self.keys)))
        self.issue.append(issue)
        self.before.append(before)
        self.wait.append(UNKNOWN)
        self.done.append(UNKNOWN)
        self.overlap.append(0)
        self.early.append(0)
        self._changed = True
        if not self._hooked:
            self._will_write()
        return len(self.key) - 1

    def left(self, at: int) -> None:
        """The thread leaves a communication call."""
        self.thread.since = at
        if self.thread.compute == UNKNOWN:
            self.thread.compute = 0

    def blocked(self, index: int, at: int) -> None:
        """The call returned ``at`` with its result: its caller waited from its issue on."""
        self.wait[index], self.done[index] = self.issue[index], at

    def fly(self, index: int) -> None:
        """The call is in flight: time of this thread is its overlapped compute until somebody waits for it."""
        self.thread.in_flight[index] = None

    def watch(self, work: Any, index: int) -> None:
        """The call is in flight behind ``work``."""
        self.fly(index)
        flights, number = self.thread.in_flight, id(work)

        def dropped(_: Any) -> None:
            flights.pop(index, None)
            if number in self._waiting and self._waiting[number][1] == index:
                del self._waiting[number]

        self._waiting[number] = (weakref.ref(work, dropped), index, flights)

    def waited_for(self, work: Any) -> int:
        """The index of the call behind ``work`` if nobody has waited for it yet, else -1."""
        entry = self._waiting.get(id(work))
        return UNKNOWN if entry is None or entry[0]() is not work else entry[1]

    def waits(self, index: int, at: int) -> None:
        """This thread begins to wait for a call."""
        self.wait[index] = at
        self.thread.in_flight.pop(index, None)

    def finished(self, work: Any, index: int, at: int, early: bool) -> None:
        """The wait returned; ``early`` says that the call had completed before, some time since its issue."""
        _, _, flights = self._waiting.pop(id(work))
        flights.pop(index, None)
        self.done[index], self.early[index] = at, early

    def add(self, key: CallKey, issue: int, wait: int, done: int, before: int) -> None:
        """A call that another library made, with its times; the thread's own account is not touched."""
        with self._lock:
            index = self._append(key, issue, before)
            self.wait[index], self.done[index] = wait, done
            self.overlap[index] = UNKNOWN if wait == UNKNOWN else wait - issue

    def revoke(self, index: int) -> None:
        """The call raised: it is no record, for nobody knows what the other ranks saw of it."""
        self.key[index] = UNKNOWN
        self.not_taken("torch.distributed call", "skipped", "the call raised an exception")

    def rename(self, index: int, key: CallKey) -> None:
        """Replace the key of a call, whose sender is known only when the message is there."""
        with self._lock:
            self.key[index] = self.keys.setdefault(key, len(self.keys))

    def key_of(self, index: int) -> CallKey:
        """The key of a call."""
        return list(self.keys)[self.key[index]]

    def ranks_of(self, group: int) -> tuple[int, ...]:
        """The global ranks of a group."""
        return list(self.groups)[group][1]

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
            names = ("key", "issue", "wait", "done", "before", "overlap", "early")
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
                "records": len(self.key),
                "columns": {name: getattr(self, name).tolist() for name in names},
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
