"""Communicators of one process by the pointers that its log names: from their creation to their end.

A pointer is an address in one process. After a communicator ends, the next may lie at the same address, so what a
pointer means depends on the lines before. What tells a communicator apart from others, on every rank alike, is its
``commId``, or for one that was split off its parent, the parent, how many were before it, and its colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from commcanary.sources.nccl_log.lines import CommunicatorLine


class Communicator(NamedTuple):
    """``name`` is the same on all ranks, None where the log does not tell; ``rank`` is unknown with its creation.

    ``device`` is the GPU that it was made for, -1 unknown; ``pointer`` is where it lies.
    """

    pointer: bytes
    name: str | None
    rank: int | None
    ranks: int
    device: int


class Communicators:
    """What each pointer of a log means at the line that is read."""

    def __init__(self) -> None:
        self.known: list[Communicator] = []
        self._live: dict[bytes, int] = {}
        self._starting: set[bytes] = set()

    def read(self, line: CommunicatorLine) -> None:
        """Follow the creation or the end of a communicator."""
        if line.what.endswith("COMPLETE") and not line.what.startswith("Init"):
            self._live.pop(line.pointer, None)
            self._starting.discard(line.pointer)
            return
        name = self._name(line)
        if line.what == "Init COMPLETE" and line.pointer in self._starting:
            began = self._live[line.pointer]
            if self.known[began].rank == line.rank and self.known[began].ranks == line.ranks:
                self.known[began] = self.known[began]._replace(name=name or self.known[began].name)
                self._starting.discard(line.pointer)
                return
        device = int(line.fields.get("cudaDev", b"-1"))
        self._live[line.pointer] = len(self.known)
        self.known.append(Communicator(line.pointer, name, line.rank, line.ranks, device))
        (self._starting.add if line.what == "Init START" else self._starting.discard)(line.pointer)

    def of_call(self, pointer: bytes, ranks: int) -> int:
        """The number in ``known`` of the communicator of a call; one without a rank where none was seen to begin."""
        number = self._live.get(pointer)
        if number is None:
            number = self._live[pointer] = len(self.known)
            self.known.append(Communicator(pointer, None, None, ranks, -1))
        return number

    def _name(self, line: CommunicatorLine) -> str | None:
        fields = line.fields
        before = fields.get("childCount", fields.get("splitCount"))
        if "parent" in fields and before is not None and "color" in fields:
            number = self._live.get(fields["parent"])
            parent = None if number is None else self.known[number].name
            return None if parent is None else f"{parent}/{before.decode()}.{fields['color'].decode()}"
        if "commId" in fields and int(fields["commId"], 16):
            return fields["commId"].decode().lower()
        return None
