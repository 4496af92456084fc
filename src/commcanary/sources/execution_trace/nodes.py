"""Nodes of an execution trace, in the order of their numbers, out of each of its encodings."""

from __future__ import annotations

import re
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

_COMMUNICATES = re.compile(r"^(?:record_param_comms$|c10d::|## process_group:init ##$|[a-z][a-z0-9_]*:[A-Za-z_]+$)")
"""Names of nodes whose arguments and attributes are needed."""

COMMUNICATION = (5, 6, 7)
"""Chakra's node types of sends, receives and collectives."""


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


class _Arguments(msgspec.Struct):
    values: Any = None
    shapes: Any = None
    types: Any = None


class _Attribute(msgspec.Struct):
    name: str
    value: Any = None


class _TorchNode(msgspec.Struct, gc=False):
    """A node of schemas 1.0.3 and later, and of 1.0.1, which had the parts of ``inputs`` beside it.

    Most nodes have nothing to do with communication, so their arguments and attributes stay undecoded.
    """

    id: int
    name: str
    ctrl_deps: int | None = None
    parent: int | None = None
    inputs: msgspec.Raw = msgspec.Raw()
    input_shapes: msgspec.Raw = msgspec.Raw()
    input_types: msgspec.Raw = msgspec.Raw()
    attrs: msgspec.Raw = msgspec.Raw()


class _ChakraNode(msgspec.Struct):
    """A node of Chakra's JSON flavour."""

    Id: int
    Name: str
    NodeType: int
    is_cpu_op: bool | None = None
    comm_type: int | str | None = None
    comm_size: int | str | None = None
    pg_name: str | None = None


class _Document(msgspec.Struct):
    """Either of the JSON formats: PyTorch's has ``nodes``, Chakra's a ``workload_graph``."""

    schema: Any = None
    nodes: list[_TorchNode] | None = None
    workload_graph: list[_ChakraNode] | None = None


def read_nodes(data: bytes) -> Nodes:
    """The nodes in ``data``; raises ``InputRefusal`` naming the node that cannot be read."""
    if data.lstrip()[:1] in (b"{", b"["):
        return _from_json(data)
    return _from_protobuf(data)


def _from_json(data: bytes) -> Nodes:
    document = decode(data, _Document)
    if document.nodes is not None:
        found = [_torch(node, number) for number, node in enumerate(document.nodes)]
        return Nodes("pytorch", str(document.schema), _in_order(found))
    if document.workload_graph is not None:
        return Nodes("chakra", "JSON", _in_order([_chakra_json(node) for node in document.workload_graph]))
    raise InputRefusal("nodes", "is missing", "give a trace of ExecutionTraceObserver, or a Chakra trace")


def _torch(read: _TorchNode, number: int) -> Node:
    parent = read.ctrl_deps if read.parent is None else read.parent
    if not _COMMUNICATES.search(read.name):
        return Node(read.id, read.name, 0, parent)
    place = f"nodes[{number}]"
    parts = _decoded(read.inputs, f"{place}.inputs")
    if isinstance(parts, dict):
        arguments = (parts.get("values"), parts.get("shapes"), parts.get("types"))
    else:
        shapes, types = (_decoded(raw, place) for raw in (read.input_shapes, read.input_types))
        arguments = (parts, shapes, types)
    listed = decode(bytes(read.attrs), list[_Attribute], f"{place}.attrs") if bytes(read.attrs) else []
    return Node(read.id, read.name, 0, parent, {a.name: a.value for a in listed}, arguments)


def _decoded(raw: msgspec.Raw, place: str) -> Any:
    return decode(bytes(raw), object, place) if bytes(raw) else None


def _chakra_json(read: _ChakraNode) -> Node:
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
    written: list[bytes] = []
    for key, value in fields(message, place):
        if key == 1 and isinstance(value, int):
            number = value
        elif key == 2:
            name = _text(value, place)
        elif key == 3 and isinstance(value, int):
            kind = value
        elif key == 10 and isinstance(value, bytes):
            written.append(value)
    if not name and not kind:
        raise InputRefusal(place, "is no node: it has neither a name nor a type", "give a Chakra trace (protobuf)")
    attributes = dict(_attribute(part, place) for part in written) if kind in COMMUNICATION else {}
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
