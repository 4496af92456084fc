"""The functions of ``torch.distributed`` and its Work objects, recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from commcanary.capture.clock import calibrate, clock_id
from commcanary.capture.recorder import RECORDER, UNKNOWN, WIDTH, CallKey, Recorder, now
from commcanary.capture.torch_readers import CONTROL, READERS, Seen

RULE = "torch.distributed call"


class Known(NamedTuple):
    """What a call's arguments say: key number, whether it returns with its result, runs on the host, has a sender."""

    key: int
    blocking: bool
    on_host: bool
    any_sender: bool


def attach(c10d: Any) -> None:
    """Wrap the functions of the module ``torch.distributed.distributed_c10d`` before others import them.

    PyTorch's own Work class is kept and its ``wait`` replaced, so that callers see the objects they know.
    """
    if RECORDER is None:
        return
    calls = TorchCalls(c10d, RECORDER)
    for name, reader in READERS.items():
        if hasattr(c10d, name):
            setattr(c10d, name, calls.recorded(getattr(c10d, name), reader))
    for name in CONTROL:
        if hasattr(c10d, name):
            setattr(c10d, name, calls.control(getattr(c10d, name)))
    c10d.init_process_group = calls.joining(c10d.init_process_group)
    c10d.destroy_process_group = calls.writing(c10d.destroy_process_group)
    c10d.Work.wait = calls.waiting(c10d.Work.wait)


class TorchCalls:
    """Wrappers that record into ``recorder``. A call made inside another one is part of that one."""

    def __init__(self, c10d: Any, recorder: Recorder) -> None:
        self.c10d, self.recorder = c10d, recorder
        self._known: dict[tuple[Any, ...], tuple[Known | None, list[Any]]] = {}
        self._unnamed: set[int] = set()
        recorder.on_restart(self._known.clear)
        recorder.on_restart(self._unnamed.clear)

    def recorded(self, function: Callable[..., Any], reader: Callable[..., Seen]) -> Callable[..., Any]:
        """``function`` with one record a call that does not raise."""
        recorder, known_calls, coalescing = self.recorder, self._known, self.c10d._world.pg_coalesce_state
        here, entered, append = recorder.here, recorder.entered, recorder.append

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            begin = now()
            state = here()
            if state.depth:
                return function(*args, **kwargs)
            kept: list[Any] = []
            shape = (reader, *fingerprint(args, kept))
            if kwargs:
                shape += (*kwargs, *fingerprint(kwargs.values(), kept))
            found = known_calls.get(shape)
            known = self._read(shape, kept, reader, args, kwargs) if found is None else found[0]
            entered(state, begin)
            state.depth = 1
            issue = now()
            try:
                result = function(*args, **kwargs)
            finally:
                state.depth = 0
                state.since = end = now()
            if known is None:
                return result
            if coalescing or not known.on_host:
                append(state, known.key, issue)  # returned before it ran: the host sees neither its wait nor its end
            elif known.blocking:
                row = append(state, known.key, issue, issue, end)
                if known.any_sender:
                    recorder.name_sender(row, result)
            else:
                row = append(state, known.key, issue)
                if isinstance(result, self.c10d.Work):
                    recorder.watch(state, result, row)
                    if known.any_sender:
                        self._unnamed.add(row)
            return result

        return call

    def _read(
        self, shape: tuple[Any, ...], kept: list[Any], reader: Callable[..., Seen], args: Any, kwargs: Any
    ) -> Known | None:
        """Read a call that is like none before it; None where it is no record."""
        try:
            seen = reader(*args, **kwargs)
            key = self.key(seen)
        except Exception:
            self.recorder.not_taken(
                RULE, "unknown", f"{reader.__name__[1:]} with arguments that the recorder cannot read"
            )
            return None
        if key is None:
            return None
        known = Known(self.recorder.number(key), seen.blocking, key.device == "cpu", key.peer == UNKNOWN)
        self._known[shape] = (known, kept)
        return known

    def control(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function`` counted as moving no data; its time is no compute. What was known of groups may be past."""
        recorder = self.recorder

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            state = recorder.here()
            if state.depth:
                return function(*args, **kwargs)
            begin = now()
            recorder.entered(state, begin)
            if "barrier" not in function.__name__:
                self._known.clear()
            state.depth = 1
            try:
                return function(*args, **kwargs)
            finally:
                state.depth = 0
                state.since = now()
                recorder.not_taken(RULE, "skipped", f"control: {function.__name__}", state.since - begin)

        return call

    def joining(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``init_process_group``: the recorder learns rank and world, and clocks are compared."""
        c10d, recorder = self.c10d, self.recorder

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            state = recorder.here()
            state.depth += 1
            try:
                result = function(*args, **kwargs)
            finally:
                state.depth -= 1
            self._known.clear()
            rank, world = c10d.get_rank(), c10d.get_world_size()
            calibration = recorder.calibration
            if calibration is None:
                try:
                    calibration = calibrate(c10d._get_default_store(), rank, world, clock_id())
                except Exception as error:
                    recorder.not_taken("clock calibration", "unknown", f"{type(error).__name__} of the store")
            recorder.join(rank, world, str(c10d.get_backend()), calibration)
            state.since, state.compute = now(), 0
            return result

        return call

    def writing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``destroy_process_group``: the shard is written, for some jobs end with ``os._exit`` after it."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            self.recorder.write()
            return result

        return call

    def waiting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``Work.wait``: the first wait for a recorded call is its."""
        recorder = self.recorder

        @functools.wraps(function)
        def wait(work: Any, *args: Any, **kwargs: Any) -> Any:
            if id(work) not in recorder.waiting or recorder.waited_for(work) == UNKNOWN:
                return function(work, *args, **kwargs)
            begin, row, state = now(), recorder.waited_for(work), recorder.here()
            recorder.entered(state, begin)
            early = work.is_completed()
            try:
                result = function(work, *args, **kwargs)
            finally:
                state.since = now()
            recorder.finished(work, begin, state.since, early)
            if row in self._unnamed:
                self._unnamed.remove(row)
                self._name_sender(work, row)
            return result

        return wait

    def _name_sender(self, work: Any, row: int) -> None:
        key = list(self.recorder.keys)[self.recorder.rows[row * WIDTH]]
        ranks = list(self.recorder.groups)[key.group][1]
        self.recorder.name_sender(row, ranks[work._source_rank()])

    def key(self, seen: Seen) -> CallKey | None:
        """What repeats of a call; None for a call of a group that this process is not in, or without elements."""
        group = seen.group
        if group is None:
            group = self.c10d._get_default_group()
        elif group is self.c10d.GroupMember.NON_GROUP_MEMBER:
            return None
        ranks = tuple(self.c10d.get_process_group_ranks(group))
        first = (seen.given or seen.got)[0]
        given, got = (sum(tensor.numel() for tensor in tensors) for tensors in (seen.given, seen.got))
        if not given and not got:
            self.recorder.not_taken(RULE, "skipped", "empty: no elements")
            return None
        message = seen.op in ("send", "recv")
        return CallKey(
            seen.op,
            max(given, got) * first.element_size(),
            given,
            got,
            str(first.dtype)[6:],  # torch.float32
            self.recorder.group(str(group.group_name), ranks),
            _global(seen.root, seen.group_root, ranks),
            _reduction(seen.reduction),
            _global(seen.peer, seen.group_peer, ranks),
            str(seen.tag) if message and seen.tag else None,
            "unknown",
            first.device.type,
        )


def fingerprint(values: Iterable[Any], kept: list[Any]) -> list[Any]:
    """What tells the arguments of one call from those of another that would make a different record.

    Groups and operators count by identity; ``kept`` gets them, so that no other object comes to have it.
    """
    parts: list[Any] = []
    for value in values:
        if hasattr(value, "numel"):
            parts += (value.numel(), value.dtype, value.device)
        elif isinstance(value, (list, tuple)):
            parts += ("list", len(value), *fingerprint(value, kept))
        elif value is None or isinstance(value, (int, str)):
            parts.append(value)
        else:
            parts.append(id(value))
            kept.append(value)
    return parts


def _global(rank: int | None, number: int | None, ranks: tuple[int, ...]) -> int | None:
    return rank if number is None else ranks[number]


def _reduction(op: Any) -> str | None:
    """``sum`` of ReduceOp.SUM; None for operators with operands of their own, which have no name."""
    name = op if isinstance(op, str) else getattr(op, "name", None)
    return name.lower() if isinstance(name, str) else None
