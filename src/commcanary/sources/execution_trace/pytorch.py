"""PyTorch's execution traces: ``record_param_comms`` nodes, else ``c10d::`` operators (gloo, MPI) -> calls.

An operator and the record inside it are one call: the record is counted, the operator is its wrapper.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.events import ROOTED
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Call, Fate
from commcanary.sources.calls.job import Job, job_of
from commcanary.sources.kineto.operations import (
    CONTROL,
    annotated_operation,
    operator_operation,
    recorded_operation,
)
from commcanary.sources.kineto.operators import LAYOUTS, HostCall, elements
from commcanary.sources.kineto.rank_profile import RecordShape
from commcanary.sources.kineto.records import RULE, call_of_record
from commcanary.sources.kineto.unnamed import OPERATOR_RULE, GroupRule, call_of_host

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commcanary.sources.execution_trace.nodes import Node
    from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

WRAPPER_RULE = "c10d operator around a record"
ANNOTATION_RULE = "communication annotation"
RECORD = "record_param_comms"
GROUPS = "## process_group:init ##"
_TENSOR = re.compile(r"Tensor\(([^()]*)\)")


def torch_calls(nodes: Sequence[Node], job: Job, settings: ExecutionTraceSettings) -> list[tuple[int, Call]]:
    """Each communication node's place in ``nodes`` and what becomes of it.

    Raises ``InputRefusal`` at the first call that cannot be read for certain, unless ``on_error`` is skip.
    """
    numbers = {node.number: node for node in nodes}
    records = [node for node in nodes if node.name == RECORD]
    inside_record = {node.number for node in records if _above(node, numbers, lambda other: other.name == RECORD)}
    wrappers = {above.number for node in records for above in _chain(node, numbers)}
    rule = GroupRule(settings.process_group, settings.assume_default_group, 0)
    calls: list[tuple[int, Call]] = []
    for index, node in enumerate(nodes):
        place = f"nodes[{index}]"
        if node.name == RECORD:
            if node.number in inside_record:
                calls.append((index, Call(Fate.CONTROL, RULE, "nested: inside another record")))
                continue
            call = _guarded(
                RULE,
                settings,
                lambda node=node, place=place: call_of_record(  # type: ignore[misc]
                    record_shape(node, place), job, settings.process_group, place
                ),
            )
            calls.append((index, call))
        elif operator_operation(node.name) is not None and node.name.startswith("c10d::"):
            if node.number in wrappers:
                calls.append((index, Call(Fate.CONTROL, WRAPPER_RULE, "the record inside it is counted")))
                continue
            host, dtype = _host_call(node)
            call = _guarded(
                OPERATOR_RULE,
                settings,
                lambda host=host, dtype=dtype, place=place: call_of_host(  # type: ignore[misc]
                    host, dtype, job, rule, OPERATOR_RULE, place
                ),
            )
            calls.append((index, call))
        elif annotated_operation(node.name) is not None:
            calls.append((index, Call(Fate.CONTROL, ANNOTATION_RULE, "the backend's mark of a counted call")))
    return calls


def torch_job(nodes: Sequence[Node], given: int | None, settings: ExecutionTraceSettings) -> Job:
    """Own rank and process groups of a trace; ``given`` is the rank that the user states, or None.

    Without it the rank is what every record of a collective says that the caller is. Raises ``InputRefusal`` where
    none says so, or two say different ranks.
    """
    groups, world = _groups(nodes)
    world = settings.world_size or world
    config = [
        {"pg_name": name, "pg_desc": "", "pg_size": len(ranks), "ranks": list(ranks)}
        for name, ranks in settings.groups.items()
    ]
    listed = [*(g for g in groups if g["pg_name"] not in settings.groups), *config]
    rank = given if given is not None else _stated_rank(nodes)
    backend = next((str(g["backend"]) for g in groups if g.get("backend")), None)
    return job_of({"rank": rank, "world_size": world, "backend": backend, "pg_config": listed or None}, None)


def record_shape(node: Node, place: str) -> RecordShape:
    """The fields of a record: its attributes (schema 1.1.0 and later), else its inputs by their positions.

    Inputs are the tensors where there are any, then sequence, group, rank, name, splits, first rank, stride, size.
    """
    said = node.attributes
    after = _after_tensors(node, place)
    group = after[1]
    name, described = (group[0], group[1]) if isinstance(group, list) and len(group) > 1 else (group, None)
    dims = None
    if "collective_name" not in said and recorded_operation(str(after[3])) != CONTROL:
        raise InputRefusal(
            f"{place}.attrs",
            f"of schema 1.0.x do not say the sizes of this {after[3]}",
            "trace with PyTorch 2.5 or later, or leave the call out with --on-error skip",
        )
    return RecordShape(
        collective=said.get("collective_name", after[3]),
        dtype=said.get("dtype"),
        in_elements=said.get("in_msg_nelems"),
        out_elements=said.get("out_msg_nelems"),
        group_size=said.get("pg_size", after[8] if len(after) > 8 else None),
        group_name=said.get("pg_name", name) or None,
        group_description=said.get("pg_desc", described) or None,
        group_ranks=None,
        first_rank=said.get("global_rank_start"),
        rank_stride=said.get("global_rank_stride"),
        rank_in_group=after[2],
        source_rank=None,
        destination_rank=None,
        dims=dims,
        types=None,
        on_kernel=False,
    )


def _after_tensors(node: Node, place: str) -> list[Any]:
    """The inputs from the sequence number on: [sequence, group, rank, name, ...]."""
    values = node.inputs[0]
    if isinstance(values, list):
        name = next((at for at, value in enumerate(values) if isinstance(value, str) and at >= 3), None)
        if name is not None and len(values) >= name + 3:
            return values[name - 3 :]
    raise InputRefusal(f"{place}.inputs.values", f"are {str(values)[:60]}", "are those of record_param_comms")


def _stated_rank(nodes: Sequence[Node]) -> int:
    found: Counter[int] = Counter()
    places: dict[int, str] = {}
    for index, node in enumerate(nodes):
        if node.name != RECORD:
            continue
        place = f"nodes[{index}]"
        shape = record_shape(node, place)
        op = recorded_operation(str(shape.collective))
        first, stride, own = shape.first_rank, shape.rank_stride, shape.rank_in_group
        if op in (*ROOTED, "send", "recv") or not all(isinstance(v, int) for v in (first, stride, own)):
            continue  # there the number is the root's or the peer's
        rank = first + own * stride if shape.group_size != 1 else first
        found[rank] += 1
        places.setdefault(rank, place)
    remedy = "state it with --rank, once for each file in their order"
    if not found:
        raise InputRefusal("rank", "is said by no record of the trace", remedy)
    if len(found) > 1:
        told = " and ".join(f"{rank} in {places[rank]}" for rank in sorted(found)[:2])
        raise InputRefusal("rank", f"is {told}", remedy)
    return next(iter(found))


def _groups(nodes: Sequence[Node]) -> tuple[list[dict[str, Any]], int | None]:
    """The table of process groups as ``job_of`` reads it, and the size of the default group."""
    groups: list[dict[str, Any]] = []
    world = None
    for index, node in enumerate(nodes):
        values = node.inputs[0]
        if node.name != GROUPS or not isinstance(values, list) or not values or not isinstance(values[0], str):
            continue
        try:
            listed = msgspec.json.decode(values[0], type=list[dict[str, Any]])
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputRefusal(
                f"nodes[{index}].inputs.values[0]", f"is no list of process groups ({error})", "trace again"
            ) from error
        for entry in listed:
            size = entry.get("group_size")
            groups.append(
                {
                    "pg_name": entry.get("pg_name"),
                    "pg_desc": entry.get("pg_desc"),
                    "pg_size": size,
                    "ranks": entry.get("ranks"),
                    "backend": entry.get("backend_config"),
                }
            )
            if entry.get("pg_desc") == "default_pg" and isinstance(size, int):
                world = size
    return groups, world


def _host_call(node: Node) -> tuple[HostCall, str | None]:
    """What a ``c10d::`` operator says, and its element type as PyTorch spells it."""
    op = operator_operation(node.name)
    assert op is not None  # only such nodes get here
    layout = LAYOUTS[node.name.removeprefix("c10d::")]
    values, shapes, types = (part if isinstance(part, list) else [] for part in node.inputs)

    def at(part: list[Any], index: int | None) -> Any:
        return part[index] if index is not None and index < len(part) else None

    kinds = {k for where in (layout.given, layout.got) for k in _TENSOR.findall(str(at(types, where)))}
    given, got = (elements(at(shapes, where)) if where is not None else None for where in (layout.given, layout.got))
    root, peer = (
        v if isinstance(v, int) and v >= 0 else None for v in (at(values, layout.root), at(values, layout.peer))
    )
    return HostCall(op, given, got, root=root, peer=peer), kinds.pop() if len(kinds) == 1 else None


def _chain(node: Node, numbers: dict[int, Node]) -> list[Node]:
    """The nodes that ``node`` ran inside, innermost first."""
    found: list[Node] = []
    seen = {node.number}
    above = numbers.get(node.parent) if node.parent is not None else None
    while above is not None and above.number not in seen:
        found.append(above)
        seen.add(above.number)
        above = numbers.get(above.parent) if above.parent is not None else None
    return found


def _above(node: Node, numbers: dict[int, Node], wanted: Callable[[Node], bool]) -> bool:
    return any(wanted(above) for above in _chain(node, numbers))


def _guarded(rule: str, settings: ExecutionTraceSettings, read: Callable[[], Call]) -> Call:
    try:
        return read()
    except InputRefusal as refusal:
        if settings.on_error == "stop":
            raise
        return Call(Fate.REFUSED, rule, refusal.found)
