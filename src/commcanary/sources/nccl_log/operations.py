"""Operations, element types and operators as NCCL's log writes them: names and the numbers of its enumerations."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """How many elements an operation puts in and gets out, in counts: ``n`` is one for each rank.

    ``rooted`` says that only its root has the side of ``n``.
    """

    op: str
    into: str = "1"
    out: str = "1"
    rooted: bool = False

    def elements(self, count: int, ranks: int, is_root: bool) -> tuple[int, int]:
        """Elements in and out on a rank, of ``count`` as the job gave it to NCCL."""
        into, out = (count * ranks if side == "n" else count for side in (self.into, self.out))
        if self.rooted and not is_root:
            into, out = (0 if side == "n" else elements for side, elements in ((self.into, into), (self.out, out)))
        return into, out


OPERATIONS = {
    "AllReduce": Operation("all_reduce"),
    "AllGather": Operation("all_gather", out="n"),
    "ReduceScatter": Operation("reduce_scatter", into="n"),
    "Broadcast": Operation("broadcast"),
    "Reduce": Operation("reduce"),
    "AlltoAll": Operation("all_to_all", into="n", out="n"),
    "AllToAll": Operation("all_to_all", into="n", out="n"),
    "Gather": Operation("gather", out="n", rooted=True),
    "Scatter": Operation("scatter", into="n", rooted=True),
    "Send": Operation("send"),
    "Recv": Operation("recv"),
}
"""A count is that of one rank's argument: what each rank gives in an all-gather and gets in a reduce-scatter, and what
one peer gets in an all-to-all (``src/collectives.cc``).
"""

DATATYPES = {
    0: "int8",
    1: "uint8",
    2: "int32",
    3: "uint32",
    4: "int64",
    5: "uint64",
    6: "float16",
    7: "float32",
    8: "float64",
    9: "bfloat16",
    10: "float8_e4m3fn",
    11: "float8_e5m2",
}
"""``ncclDataType_t`` of ``src/nccl.h.in``."""
