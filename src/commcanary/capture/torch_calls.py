"""The functions of ``torch.distributed`` and its Work objects, recorded."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from commcanary.capture.clock import calibrate, clock_id
from commcanary.capture.recorder import RECORDER, UNKNOWN, CallKey, Recorder, now
from commcanary.capture.torch_readers import CONTROL, READERS, Seen

RULE = "torch.distributed call"


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
        self._groups: weakref.WeakKeyDictionary[Any, tuple[int, tuple[int, ...]]] = weakref.WeakKeyDictionary()
        self._keys: dict[tuple[Any, ...], CallKey] = {}

    def recorded(self, function: Callable[..., Any], reader: Callable[..., Seen]) -> Callable[..., Any]:
        """``function`` with one record a call."""
        recorder = self.recorder

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if recorder.thread.depth:
                return function(*args, **kwargs)
            recorder.entered(now())
            try:
                seen = reader(*args, **kwargs)
                key = self.key(seen)
            except Exception:
                recorder.not_taken(RULE, "unknown", f"{function.__name__} with arguments that the recorder cannot read")
                return self._inside(function, args, kwargs)
            if key is None:
                return self._inside(function, args, kwargs)
            index = recorder.issued(key, now())
            try:
                result = self._inside(function, args, kwargs)
            except BaseException:
                recorder.revoke(index)
                raise
            self._after(index, seen, key, result)
            return result

        return call

    def _after(self, index: int, seen: Seen, key: CallKey, result: Any) -> None:
        recorder = self.recorder
        if getattr(self.c10d._world, "pg_coalesce_state", None) or key.device != "cpu":
            return  # returned before it ran: what the host sees then is neither its waiting nor its end
        if seen.blocking:
            recorder.blocked(index, recorder.thread.since)
            if key.peer == UNKNOWN and isinstance(result, int):
                recorder.rename(index, key._replace(peer=result))
        elif isinstance(result, self.c10d.Work):
            recorder.watch(result, index)

    def control(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function`` counted as moving no data; its time is no compute."""
        recorder = self.recorder

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if recorder.thread.depth:
                return function(*args, **kwargs)
            begin = now()
            recorder.entered(begin)
            try:
                return self._inside(function, args, kwargs)
            finally:
                recorder.not_taken(RULE, "skipped", f"control: {function.__name__}", now() - begin)

        return call

    def joining(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``init_process_group``: the recorder learns rank and world, and clocks are compared."""
        c10d, recorder = self.c10d, self.recorder

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = self._inside(function, args, kwargs)
            rank, world = c10d.get_rank(), c10d.get_world_size()
            calibration = recorder.calibration
            if calibration is None:
                try:
                    calibration = calibrate(c10d._get_default_store(), rank, world, clock_id())
                except Exception as error:
                    recorder.not_taken("clock calibration", "unknown", f"{type(error).__name__} of the store")
            recorder.join(rank, world, str(c10d.get_backend()), calibration)
            recorder.left(now())
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
            index = recorder.waited_for(work)
            if index == UNKNOWN or recorder.thread.depth:
                return function(work, *args, **kwargs)
            begin = now()
            recorder.entered(begin)
            early = work.is_completed()
            recorder.waits(index, begin)
            result = function(work, *args, **kwargs)
            end = now()
            recorder.finished(work, index, end, early)
            key = recorder.key_of(index)
            if key.peer == UNKNOWN and key.op == "recv":
                sender = work._source_rank()
                recorder.rename(index, key._replace(peer=recorder.ranks_of(key.group)[sender]))
            recorder.left(end)
            return result

        return wait

    def _inside(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        thread = self.recorder.thread
        thread.depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            thread.depth -= 1
            self.recorder.left(now())

    def key(self, seen: Seen) -> CallKey | None:
        """What repeats of a call; None for a call of a group that this process is not in, or without elements."""
        group = seen.group
        if group is None:
            group = self.c10d._get_default_group()
        elif group is self.c10d.GroupMember.NON_GROUP_MEMBER:
            return None
        known = self._groups.get(group)
        if known is None:
            ranks = tuple(self.c10d.get_process_group_ranks(group))
            known = self._groups[group] = (self.recorder.group(str(group.group_name), ranks), ranks)
        number, ranks = known
        first = (seen.given or seen.got)[0]
        given, got = _elements(seen.given), _elements(seen.got)
        reduction = _reduction(seen.reduction)
        shape = (seen.op, given, got, first.dtype, first.device, number, seen[6:], reduction)
        key = self._keys.get(shape)
        if key is not None:
            return key
        if not given and not got:
            self.recorder.not_taken(RULE, "skipped", "empty: no elements")
            return None
        message = seen.op in ("send", "recv")
        key = self._keys[shape] = CallKey(
            seen.op,
            max(given, got) * first.element_size(),
            given,
            got,
            str(first.dtype)[6:],  # torch.float32
            number,
            _global(seen.root, seen.group_root, ranks),
            reduction,
            _global(seen.peer, seen.group_peer, ranks),
            str(seen.tag) if message and seen.tag else None,
            "unknown",
            first.device.type,
        )
        return key


def _elements(tensors: Sequence[Any]) -> int:
    elements: int = sum([tensor.numel() for tensor in tensors])
    return elements


def _global(rank: int | None, number: int | None, ranks: tuple[int, ...]) -> int | None:
    return rank if number is None else ranks[number]


def _reduction(op: Any) -> str | None:
    """``sum`` of ReduceOp.SUM; None for operators with operands of their own, which have no name."""
    name = op if isinstance(op, str) else getattr(op, "name", None)
    return name.lower() if isinstance(name, str) else None
