"""The gradient all-reduces of DistributedDataParallel, which its reducer would run unseen in C++."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any

from commcanary.capture.recorder import DONE, EARLY, RECORDER, UNKNOWN, WAIT, WIDTH, Recorder, now
from commcanary.capture.torch_calls import TorchCalls
from commcanary.capture.torch_readers import Seen

RULE = "DistributedDataParallel"


def attach(module: Any) -> None:
    """Give every DDP module that has no communication hook of its own one that does what DDP does and records."""
    if RECORDER is None:
        return
    ddp, recorder = module.DistributedDataParallel, RECORDER
    handled: weakref.WeakSet[Any] = weakref.WeakSet()
    forward, builtin = ddp.forward, ddp._register_builtin_comm_hook
    broadcast = module.dist._broadcast_coalesced

    @functools.wraps(forward)
    def forward_recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self not in handled:
            handled.add(self)
            if not getattr(self, "_comm_hooks", None) and not getattr(self, "_use_python_reducer", False):
                hook = BucketHook(module.dist, recorder, self.process_group)
                self.register_comm_hook(None, lambda _, bucket: hook(bucket))
        return forward(self, *args, **kwargs)

    @functools.wraps(builtin)
    def builtin_seen(self: Any, *args: Any, **kwargs: Any) -> Any:
        handled.add(self)
        recorder.not_taken(RULE, "unknown", "a built-in communication hook runs its collectives in C++")
        return builtin(self, *args, **kwargs)

    @functools.wraps(broadcast)
    def broadcast_seen(*args: Any, **kwargs: Any) -> Any:
        begin, state = now(), recorder.here()
        recorder.entered(state, begin)
        try:
            return broadcast(*args, **kwargs)
        finally:
            state.since = end = now()
            recorder.not_taken(RULE, "unknown", "broadcasts of parameters or buffers run in C++", end - begin)

    ddp.forward, ddp._register_builtin_comm_hook = forward_recorded, builtin_seen
    module.dist._broadcast_coalesced = broadcast_seen


class BucketHook:
    """Averages one bucket of gradients over ``group`` as DDP does without a hook, and records it."""

    def __init__(self, dist: Any, recorder: Recorder, group: Any) -> None:
        self.dist, self.recorder, self.group = dist, recorder, group
        self._calls = TorchCalls(dist.distributed_c10d, recorder)
        self._at_end = sys.modules["torch.autograd"].Variable._execution_engine.queue_callback
        self._pending: list[int] = []

    def __call__(self, bucket: Any) -> Any:
        """Issue the bucket's all-reduce; the future of the averaged gradients."""
        recorder, tensor = self.recorder, bucket.buffer()
        state = recorder.here()
        recorder.entered(state, now())
        tensor.mul_(1.0 / self.group.size())
        key = self._calls.key(Seen("all_reduce", [tensor], [tensor], self.group, False, "sum"))
        assert key is not None
        on_host = key.device == "cpu"
        row = recorder.append(state, recorder.number(key._replace(phase="backward")), now())
        state.depth += 1
        try:
            future = self.dist.all_reduce(tensor, group=self.group, async_op=True).get_future()
        finally:
            state.depth -= 1
        if on_host:
            if not self._pending:
                self._at_end(self._waits)  # queued before the reducer's own callback, which waits for all buckets
            self._pending.append(row)
            state.in_flight[row] = None
        state.since = now()

        def averaged(finished: Any) -> Any:
            if on_host:
                recorder.rows[row * WIDTH + DONE] = now()
            return finished.value()[0]

        return future.then(averaged)

    def _waits(self) -> None:
        """The backward pass has computed all gradients; DDP now waits for what is still in flight."""
        recorder, at, state = self.recorder, now(), self.recorder.here()
        recorder.entered(state, at)
        for row in self._pending:
            state.in_flight.pop(row, None)
            recorder.rows[row * WIDTH + WAIT] = at
            recorder.rows[row * WIDTH + EARLY] = recorder.rows[row * WIDTH + DONE] != UNKNOWN
        state.returning += self._pending
        self._pending = []
        state.since = at
