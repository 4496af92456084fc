"""``c10d::`` operators and communication annotations -> operation, sizes, root and peer.

Where operators stand alone (gloo, MPI: no ``record_param_comms``) they are the calls. Where a record
names nothing (profiles before 2023) the operator around it and the annotation inside it do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.sources.kineto.operations import annotated_operation, operator_operation

if TYPE_CHECKING:
    from commcanary.sources.kineto.rank_profile import HostShape


@dataclass(frozen=True)
class HostCall:
    """What an operator or annotation says. Counts are None where its shapes do not say them.

    ``tensors`` are the shapes by which an annotation pairs with its operator. ``root`` and ``peer`` are
    ranks within the process group.
    """

    op: str
    in_elements: int | None = None
    out_elements: int | None = None
    dtype: str | None = None
    tensors: str | None = None
    root: int | None = None
    peer: int | None = None


@dataclass(frozen=True)
class Layout:
    """Which arguments of a ``c10d::`` operator hold the tensors put in and got out, root and peer."""

    given: int | None
    got: int | None
    root: int | None = None
    peer: int | None = None


LAYOUTS = {
    "allreduce_": Layout(0, 0),
    "allreduce_coalesced_": Layout(0, 0),
    "broadcast_": Layout(0, 0, root=2),
    "reduce_": Layout(0, 0, root=3),
    "allgather_": Layout(1, None),
    "allgather_coalesced_": Layout(1, None),
    "_allgather_base_": Layout(1, 0),
    "allgather_into_tensor_coalesced_": Layout(1, 0),
    "reduce_scatter_": Layout(None, 0),
    "_reduce_scatter_base_": Layout(1, 0),
    "reduce_scatter_tensor_coalesced_": Layout(1, 0),
    "gather_": Layout(1, None, root=3),
    "scatter_": Layout(None, 0, root=3),
    "alltoall_": Layout(1, 0),
    "alltoall_base_": Layout(1, 0),
    "send": Layout(0, 0, peer=2),
    "recv_": Layout(0, 0, peer=2),
    "recv_any_source_": Layout(0, 0),
    "barrier": Layout(None, None),
    "monitored_barrier_": Layout(None, None),
}


def operator_call(shape: HostShape) -> HostCall:
    """What a ``c10d::`` operator says of its call."""
    op = operator_operation(shape.name)
    assert op is not None  # only such operators are collected
    layout = LAYOUTS[shape.name.removeprefix("c10d::")]
    dims, types, scalars = _listed(shape.dims), _listed(shape.types), _listed(shape.concrete)
    given, got = _tensor_dims(dims, types, layout.given), _tensor_dims(dims, types, layout.got)
    dtype = next(
        (
            t
            for at in (layout.given, layout.got)
            if isinstance(t := _argument(types, at), str) and t not in ("", "TensorList", "Scalar")
        ),
        None,
    )
    tensors = _tensors(given if layout.given is not None else got)
    return HostCall(
        op,
        None if given is None else elements(given),
        None if got is None else elements(got),
        dtype,
        None if tensors is None else msgspec.json.encode(tensors).decode(),
        _scalar(scalars, layout.root),
        _scalar(scalars, layout.peer),
    )


def annotation_call(shape: HostShape) -> HostCall:
    """What an annotation (``gloo:all_reduce``) says: its operation, the tensors put in, their type."""
    named = annotated_operation(shape.name)
    assert named is not None  # only such annotations are collected
    dims, types = _listed(shape.dims), _listed(shape.types)
    call = HostCall(named[1])
    if not dims or not types:
        return call
    kinds = {t for t in types if isinstance(t, str) and t not in ("", "Scalar", "TensorList")}
    tensors = _tensors(dims)
    counts = [elements(d) for d in tensors] if tensors is not None else [None]
    total = None if any(c is None for c in counts) else sum(c for c in counts if c is not None)
    return replace(
        call,
        in_elements=total,
        out_elements=total,
        dtype=kinds.pop() if len(kinds) == 1 else None,
        tensors=None if tensors is None else msgspec.json.encode(tensors).decode(),
    )


def record_tensors(dims: str | None, types: str | None) -> tuple[int | None, str | None]:
    """Elements and type of the first argument of an unnamed record, None where it is no plain tensor."""
    shapes, kinds = _listed(dims), _listed(types)
    kind = _argument(kinds, 0)
    if not isinstance(kind, str) or kind in ("", "TensorList", "Scalar"):
        return None, None
    return elements(_argument(shapes, 0)), kind


def elements(dims: Any) -> int | None:
    """Elements of a tensor ([2, 3]: 6; []: 1, a scalar) or of a list of tensors; None for anything else."""
    if not isinstance(dims, list):
        return None
    if dims and all(isinstance(d, list) for d in dims):
        parts = [elements(d) for d in dims]
        return None if any(p is None for p in parts) else sum(p for p in parts if p is not None)
    product = 1
    for d in dims:
        if not isinstance(d, int) or isinstance(d, bool) or d < 0:
            return None
        product *= d
    return product


def _tensors(dims: Any) -> list[Any] | None:
    """Shapes of the tensors of an argument, whether it holds one tensor or a list of them."""
    if not isinstance(dims, list):
        return None
    if dims and all(isinstance(d, list) for d in dims):
        return dims
    return [dims]


def _listed(text: str | None) -> list[Any]:
    if text is None:
        return []
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return []
    return value if isinstance(value, list) else []


def _tensor_dims(dims: list[Any], types: list[Any], at: int | None) -> Any:
    """Shape(s) of an argument; None where the profiler wrote ``[]`` for a list that it does not describe."""
    kind, shape = _argument(types, at), _argument(dims, at)
    if not isinstance(kind, str) or kind in ("", "Scalar", "ScalarList"):
        return None
    if kind == "TensorList" and not (isinstance(shape, list) and shape and isinstance(shape[0], list)):
        return None
    return shape


def _argument(values: list[Any], at: int | None) -> Any:
    return values[at] if at is not None and at < len(values) else None


def _scalar(values: list[Any], at: int | None) -> int | None:
    value = _argument(values, at)
    return int(value) if isinstance(value, str) and value.isdigit() else None
