"""What a call of ``torch.distributed`` says before it runs: one reader a function, with that function's parameters.

Parameters that a reader does not need end in ``others``, so that later versions may add some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Seen(NamedTuple):
    """A call: the tensors it reads and writes, its group, whether it returns with the result.

    ``root`` and ``peer`` are global ranks, -1 where any rank may send. ``group_root`` and ``group_peer`` are
    the same as numbers within the group, in their place where the caller gave those.
    """

    op: str
    given: Sequence[Any]
    got: Sequence[Any]
    group: Any
    blocking: bool = True
    reduction: Any = None
    root: int | None = None
    group_root: int | None = None
    peer: int | None = None
    group_peer: int | None = None
    tag: int = 0


def _all_reduce(tensor: Any, op: Any = "sum", group: Any = None, async_op: bool = False, **others: Any) -> Seen:
    return Seen("all_reduce", [tensor], [tensor], group, not async_op, op)


def _all_reduce_coalesced(
    tensors: Any, op: Any = "sum", group: Any = None, async_op: bool = False, **others: Any
) -> Seen:
    return Seen("all_reduce", tensors, tensors, group, not async_op, op)


def _reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = "sum",
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
    **others: Any,
) -> Seen:
    return Seen("reduce", [tensor], [tensor], group, not async_op, op, dst, group_dst)


def _broadcast(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
    **others: Any,
) -> Seen:
    return Seen("broadcast", [tensor], [tensor], group, not async_op, None, src, group_src)


def _all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False, **others: Any) -> Seen:
    return Seen("all_gather", [tensor], tensor_list, group, not async_op)


def _all_gather_into(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False, **others: Any
) -> Seen:
    return Seen("all_gather", [input_tensor], [output_tensor], group, not async_op)


def _all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False, **others: Any
) -> Seen:
    outputs = [tensor for part in output_tensor_lists for tensor in part]
    return Seen("all_gather", input_tensor_list, outputs, group, not async_op)


def _gather(
    tensor: Any,
    gather_list: Any = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
    **others: Any,
) -> Seen:
    root = 0 if dst is None and group_dst is None else dst
    return Seen("gather", [tensor], gather_list or [], group, not async_op, None, root, group_dst)


def _scatter(
    tensor: Any,
    scatter_list: Any = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
    **others: Any,
) -> Seen:
    root = 0 if src is None and group_src is None else src
    return Seen("scatter", scatter_list or [], [tensor], group, not async_op, None, root, group_src)


def _reduce_scatter(
    output: Any, input_list: Any, op: Any = "sum", group: Any = None, async_op: bool = False, **others: Any
) -> Seen:
    return Seen("reduce_scatter", input_list, [output], group, not async_op, op)


def _reduce_scatter_tensor(
    output: Any,
    input: Any,
    op: Any = "sum",
    group: Any = None,
    async_op: bool = False,
    **others: Any,
) -> Seen:
    return Seen("reduce_scatter", [input], [output], group, not async_op, op)


def _all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False, **others: Any
) -> Seen:
    return Seen("all_to_all", input_tensor_list, output_tensor_list, group, not async_op)


def _all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
    **others: Any,
) -> Seen:
    return Seen("all_to_all", [input], [output], group, not async_op)


def _send(
    tensor: Any,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
    **others: Any,
) -> Seen:
    return Seen("send", [tensor], [tensor], group, peer=dst, group_peer=group_dst, tag=tag)


def _recv(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
    **others: Any,
) -> Seen:
    peer = -1 if src is None and group_src is None else src
    return Seen("recv", [tensor], [tensor], group, peer=peer, group_peer=group_src, tag=tag)


def _isend(*args: Any, **kwargs: Any) -> Seen:
    return _send(*args, **kwargs)._replace(blocking=False)


def _irecv(*args: Any, **kwargs: Any) -> Seen:
    return _recv(*args, **kwargs)._replace(blocking=False)


READERS: dict[str, Callable[..., Seen]] = {
    "all_reduce": _all_reduce,
    "all_reduce_coalesced": _all_reduce_coalesced,
    "reduce": _reduce,
    "broadcast": _broadcast,
    "all_gather": _all_gather,
    "all_gather_into_tensor": _all_gather_into,
    "all_gather_single": _all_gather_into,
    "_all_gather_base": _all_gather_into,
    "all_gather_coalesced": _all_gather_coalesced,
    "gather": _gather,
    "scatter": _scatter,
    "reduce_scatter": _reduce_scatter,
    "reduce_scatter_tensor": _reduce_scatter_tensor,
    "reduce_scatter_single": _reduce_scatter_tensor,
    "_reduce_scatter_base": _reduce_scatter_tensor,
    "all_to_all": _all_to_all,
    "all_to_all_single": _all_to_all_single,
    "send": _send,
    "recv": _recv,
    "isend": _isend,
    "irecv": _irecv,
}
"""Functions of ``torch.distributed`` that move a job's data."""

CONTROL = ("barrier", "monitored_barrier", "new_group", "split_group", "destroy_process_group")
"""Functions that move none: not recorded, counted, and their time is no compute."""
