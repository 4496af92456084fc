"""Nodes of an execution trace, in the order of their numbers, out of each of its encodings."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from commcanary.artifacts.jsontext import decode
from commcanary.errors import InputRefusal
from commcanary.sources.execution_trace.protobuf import fields, messages, signed, zigzag

if TYPE_CHECKING:
    from collections.abc import Mapping

_SIGNED = {7: signed, 9: signed, 15: zigzag, 17: zigzag, 23: signed, 25: signed}
"""Fields of an AttributeProto that hold signed numbers, by how they are written."""

_UNSIGNED = {11, 13, 19, 21}


@dataclass(frozen=True)
class Node:
    """A node. ``kind`` is Chakra's node type (0: none); ``parent`` the node that it ran inside, None where unknown.

    ``inputs`` are values, shapes and types of the operator's arguments, in PyTorch's encodings only.
    """

    number: int
    name: str
    kind: int = 0
    parent: int | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Any, Any, Any] = (None, None, None)


@dataclass(frozen=True)
class Nodes:
    """The nodes of one file and its ``schema``; ``flavour`` says which of the two formats it is."""

    flavour: Literal["pytorch", "chakra"]
    schema: str
    nodes: tuple[Node, ...]


class _Head(msgspec.Struct):
    """What tells the JSON formats apart; nodes are decoded one by one, so that a refusal names one."""

    schema: Any = None
    nodes: list[msgspec.Raw] | None = None
    workload_graph: list[msgspec.Raw] | None = None


class _Arguments(msgspec.Struct):
    values: Any = None
    shapes: Any = None
    types: Any = None


class _Attribute(msgspec.Struct):
    name: str
    value: Any = None


class _TorchNode(msgspec.Struct):
    """A node of schemas 1.0.3 and later, and of 1.0.1, which had the parts of ``inputs`` beside it."""

    id: int
    name: str
    ctrl_deps: int | None = None
    parent: int | None = None
    inputs: Any = None
    input_shapes: Any = None
    input_types: Any = None
    attrs: list[_Attribute] = []


class _ChakraNode(msgspec.Struct):
    """A node of Chakra's JSON flavour."""

    Id: int
    Name: str
    NodeType: int
    is_cpu_op: bool | None = None
    comm_type: int | str | None = None
    comm_size: int | str | None = None
    pg_name: str | None = None


def read_nodes(data: bytes) -> Nodes:
    """The nodes in ``data``; raises ``InputRefusal`` naming the node that cannot be read."""
    if data.lstrip()[:1] in (b"{", b"["):
        return _from_json(data)
    return _from_protobuf(data)


def _from_json(data: bytes) -> Nodes:
    head = decode(data, _Head)
    if head.nodes is None and head.workload_graph is None:
        raise InputRefusal("nodes", "is missing", "give a trace of ExecutionTraceObserver, or a Chakra trace")
    if head.nodes is None:
        found = [_chakra_json(raw, number) for number, raw in enumerate(head.workload_graph or [])]
        return Nodes("chakra", "JSON", _in_order(found))
    nodes = [_torch(raw, number) for number, raw in enumerate(head.nodes)]
    return Nodes("pytorch", str(head.schema), _in_order(nodes))


def _torch(raw: msgspec.Raw, number: int) -> Node:
    read = decode(bytes(raw), _TorchNode, f"nodes[{number}]")
    parts = read.inputs
    if isinstance(parts, dict):
        arguments = (parts.get("values"), parts.get("shapes"), parts.get("types"))
    else:
        arguments = (parts, read.input_shapes, read.input_types)
    parent = read.ctrl_deps if read.parent is None else read.parent
    return Node(read.id, read.name, 0, parent, {a.name: a.value for a in read.attrs}, arguments)


def _chakra_json(raw: msgspec.Raw, number: int) -> Node:
    read = decode(bytes(raw), _ChakraNode, f"workload_graph[{number}]")
    said = {name: getattr(read, name) for name in ("is_cpu_op", "comm_type", "comm_size", "pg_name")}
    return Node(read.Id, read.Name, read.NodeType, None, {k: v for k, v in said.items() if v is not None})


def _from_protobuf(data: bytes) -> Nodes:
    """Chakra: a GlobalMetadata, then Nodes, each behind its length."""
    schema = ""
    nodes = []
    for index, (at, message) in enumerate(messages(data)):
        place = f"message {index} (byte {at})"
        if index == 0:
            version = next((v for n, v in fields(message, place) if n == 1), b"")
            schema = _text(version, place)
        else:
            nodes.append(_node(message, place))
    if not nodes:
        raise InputRefusal("text", "holds no node", "give a Chakra trace (protobuf), or PyTorch's as JSON")
    return Nodes("chakra", schema, _in_order(nodes))


def _node(message: bytes, place: str) -> Node:
    number, name, kind = 0, "", 0
    attributes: dict[str, Any] = {}
    for key, value in fields(message, place):
        if key == 1 and isinstance(value, int):
            number = value
        elif key == 2:
            name = _text(value, place)
        elif key == 3 and isinstance(value, int):
            kind = value
        elif key == 10 and isinstance(value, bytes):
            attribute, said = _attribute(value, place)
            attributes[attribute] = said
    if not name and not kind:
        raise InputRefusal(place, "is no node: it has neither a name nor a type", "give a Chakra trace (protobuf)")
    return Node(number, name, kind, None, attributes)


def _attribute(message: bytes, place: str) -> tuple[str, Any]:
    """Name and value; a value of a type that no communication attribute has is None."""
    name = ""
    said: Any = None
    for key, value in fields(message, place):
        if key == 1:
            name = _text(value, place)
        elif isinstance(value, bytes):
            said = _text(value, place) if key == 29 else said
        elif key in _SIGNED:
            said = _SIGNED[key](value)
        elif key in _UNSIGNED:
            said = value
        elif key == 27:
            said = bool(value)
    return name, said


def _text(value: int | bytes, place: str) -> str:
    if isinstance(value, int):
        raise InputRefusal(place, "has a number where a text should be", "give a Chakra trace (protobuf)")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputRefusal(place, "has a text that is no UTF-8", "give a Chakra trace (protobuf)") from error


def _in_order(nodes: list[Node]) -> tuple[Node, ...]:
    """By number: that is the order in which operators began. Raises ``InputRefusal`` for a number used twice."""
    ordered = sorted(nodes, key=lambda node: node.number)
    for before, after in pairwise(ordered):
        if before.number == after.number:
            raise InputRefusal("nodes", f"hold number {after.number} twice", "export the trace again")
    return tuple(ordered)
