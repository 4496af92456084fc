"""Functional collectives: the operators ``_c10d_functional`` that DTensor and compiled graphs call, recorded.

They are seen in the dispatcher: a kernel for each device's key calls PyTorch's own and records. Below autograd and
below tracing, it sees eager calls, their backward passes and the calls that a compiled graph makes when it runs; fake
tensors, with which PyTorch traces, never reach it, and the operators that are traced stay the same objects.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from commcanary.capture.recorder import RECORDER, Recorder, now
from commcanary.capture.torch_calls import TorchCalls, fingerprint
from commcanary.capture.torch_readers import Seen

RULE = "functional collective"
NAMESPACE = "_c10d_functional"
DEVICES = ("CPU", "CUDA", "XPU", "PrivateUse1")
OWN_KERNEL = "CompositeExplicitAutograd"
"""The dispatch key under which PyTorch keeps the one kernel of such an operator for all devices."""


class Form(NamedTuple):
    """Which operation an operator is, and the places of its group, reduction operator and root among its arguments."""

    op: str
    group: int
    reduction: int | None = None
    root: int | None = None


FORMS = {
    "all_reduce": Form("all_reduce", 2, reduction=1),
    "all_gather_into_tensor": Form("all_gather", 2),
    "reduce_scatter_tensor": Form("reduce_scatter", 3, reduction=1),
    "all_to_all_single": Form("all_to_all", 3),
    "broadcast": Form("broadcast", 2, root=1),
}
"""Of the operators and of their variants: in place, coalesced, with an output given."""
VARIANTS = ("", "_", "_out", "_coalesced", "_coalesced_")
MESSAGES = ("isend", "irecv", "batch_p2p_ops")
"""Only compiled graphs have them, and their peer is not the same number in every version: counted as unknown."""

_LIBRARIES: list[Any] = []
"""Kernels are there as long as the library that brought them."""


def attach(module: Any) -> None:
    """Record the operators behind ``torch.distributed._functional_collectives`` as soon as that module is there."""
    if RECORDER is None:
        return
    calls = FunctionalCalls(module.torch, module.c10d, RECORDER)
    kernels = {name + variant: form for name, form in FORMS.items() for variant in VARIANTS}
    for device in DEVICES:
        library = module.torch.library.Library(NAMESPACE, "IMPL", device)
        _LIBRARIES.append(library)
        for name, form in kernels.items():
            calls.take(library, device, name, functools.partial(calls.recorded, form=form))
        for name in MESSAGES:
            calls.take(library, device, name, functools.partial(calls.counted, name=name))
        calls.take(library, device, "wait_tensor", calls.waiting)


class Flight(NamedTuple):
    """A call that nobody has waited for yet, and the calls in flight of the thread that issued it."""

    row: int
    issued_by: dict[int, None]


class FunctionalCalls:
    """Kernels that record into ``recorder``.

    A result is known by its storage, as PyTorch's own registry of these works knows it. The weak reference to the
    storage keeps its address from being another's.
    """

    def __init__(self, torch: Any, c10d: Any, recorder: Recorder) -> None:
        self._torch, self._c10d, self.recorder = torch, c10d, recorder
        self._calls = TorchCalls(c10d, recorder)
        self._reference = sys.modules["torch.multiprocessing.reductions"].StorageWeakRef
        self._known: dict[tuple[Any, ...], tuple[int, bool, weakref.ref[Any]]] = {}  # keeps no group alive
        self._flying: dict[int, tuple[Any, list[Flight]]] = {}
        recorder.on_restart(self._known.clear)
        recorder.on_restart(self._flying.clear)

    def take(self, library: Any, device: str, name: str, kernel: Callable[[Callable[..., Any]], Any]) -> None:
        """Put a kernel in front of PyTorch's own on one device; not where there is none, or the device has its own."""
        full, has = f"{NAMESPACE}::{name}", self._torch._C._dispatch_has_kernel_for_dispatch_key
        operator = getattr(getattr(self._torch.ops, NAMESPACE), name, None)
        if operator is None or not has(full, OWN_KERNEL) or has(full, device):
            return
        own, key = operator.default._op_dk, getattr(self._torch._C.DispatchKey, OWN_KERNEL)
        library.impl(name, kernel(lambda *args, **kwargs: own(key, *args, **kwargs)))

    def recorded(self, own: Callable[..., Any], form: Form) -> Callable[..., Any]:
        """A kernel with one record a call that does not raise."""
        recorder = self.recorder

        def kernel(*args: Any, **kwargs: Any) -> Any:
            begin, state = now(), recorder.here()
            if state.depth:
                return own(*args, **kwargs)
            recorder.entered(state, begin)
            state.depth = 1
            issue = now()
            try:
                result = own(*args, **kwargs)
            finally:
                state.depth = 0
                state.since = now()
            number, on_host = self._read(form, args, result)
            if number is not None:
                row = recorder.append(state, number, issue)
                if on_host:
                    state.in_flight[row] = None
                    self._fly(_tensors(result), Flight(row, state.in_flight))
            state.since = now()
            return result

        return kernel

    def counted(self, own: Callable[..., Any], name: str) -> Callable[..., Any]:
        """A kernel whose calls are counted only."""
        recorder = self.recorder

        def kernel(*args: Any, **kwargs: Any) -> Any:
            begin, state = now(), recorder.here()
            recorder.entered(state, begin)
            try:
                return own(*args, **kwargs)
            finally:
                state.since = end = now()
                recorder.not_taken(RULE, "unknown", f"{name} of a compiled graph", end - begin)

        return kernel

    def waiting(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel of ``wait_tensor``: the first wait for any result of a call is the call's."""
        recorder, flying = self.recorder, self._flying

        def kernel(tensor: Any) -> Any:
            begin = now()
            entry = flying.pop(tensor.untyped_storage()._cdata, None) if flying else None
            if entry is None:
                return own(tensor)
            state = recorder.here()
            recorder.entered(state, begin)
            try:
                return own(tensor)
            finally:
                state.since = now()
                for flight in entry[1]:
                    recorder.settle(flight.row, flight.issued_by, begin, state.since, False)

        return kernel

    def _read(self, form: Form, args: tuple[Any, ...], result: Any) -> tuple[int | None, bool]:
        """The number of the call's key, None where it is no record; whether it runs on the host."""
        try:
            group = args[form.group]
            if isinstance(group, str):
                group = self._c10d._resolve_process_group(group)
            others = (*args[: form.group], *args[form.group + 1 :])
            shape = (form, id(group), *fingerprint(others, []))
            found = self._known.get(shape)
            if found is None or found[2]() is not group:
                given, got = _tensors(args[0]), _tensors(result)
                root = None if form.root is None else args[form.root]
                reduction = None if form.reduction is None else args[form.reduction]
                key = self._calls.key(Seen(form.op, given, got, group, False, reduction, group_root=root))
                if key is None:
                    return None, False
                found = (self.recorder.number(key), key.device == "cpu", weakref.ref(group))
                self._known[shape] = found
        except Exception:
            self.recorder.not_taken(RULE, "unknown", f"{form.op} with arguments that the recorder cannot read")
            return None, False
        return found[0], found[1]

    def _fly(self, results: Sequence[Any], flight: Flight) -> None:
        for tensor in results:
            reference = self._reference(tensor.untyped_storage())
            self._flying.setdefault(reference.cdata, (reference, []))[1].append(flight)


def _tensors(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]
