"""The profile reader against ijson, an independent reader that takes a file token by token.

Its pure Python backend: the one in C refuses integers above 2^63, which profiles have.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import ijson
import msgspec
import pytest
from ijson.common import IncompleteJSONError, JSONError

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.document import Args
from commcanary.sources.kineto.text import ProfileText

from .profiles import group, info, kernel, profile, record, span

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = ijson.get_backend("python")
FIELDS = dict(zip(Args.__struct_fields__, Args.__struct_encode_fields__, strict=True))
FILES = [
    "kineto/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
    "kineto/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "kineto/torch2.14_cpu_record_param_comms_real_emitter.pt.trace.json",
    "kineto/distributed_info_not_found.json.gz",
    "gloo/gloo_rank0.pt.trace.json.gz",
    "gloo/gloo_rank1.pt.trace.json.gz",
]


def by_the_reader(text: bytes, slice_bytes: int) -> tuple[list[dict[str, Any]], Any]:
    reader = ProfileText(io.BytesIO(text), slice_bytes)
    found = []
    for part in reader.slices():
        for event in part:
            values = {} if event.args is None else {f: decoded(getattr(event.args, f)) for f in FIELDS}
            args = {f: value for f, value in values.items() if value is not None}
            shown = {key: getattr(event, key) for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur")}
            found.append(plain({**shown, "args": args}))
    return found, reader.head.distributedInfo


def decoded(value: Any) -> Any:
    """Shapes and types stay text in the reader until somebody needs them."""
    if not isinstance(value, msgspec.Raw):
        return value
    return json.loads(bytes(value)) if bytes(value) else None


def by_ijson(text: bytes) -> tuple[list[dict[str, Any]], Any]:
    found = []
    for event in PYTHON.items(io.BytesIO(text), "traceEvents.item"):
        given = event.get("args") or {}
        args = {f: given[name] for f, name in FIELDS.items() if given.get(name) is not None}
        shown = {key: event.get(key, "") for key in ("ph", "cat", "name")}
        found.append(plain({**shown, **{key: event.get(key) for key in ("pid", "tid", "ts", "dur")}, "args": args}))
    return found, next(iter(PYTHON.items(io.BytesIO(text), "distributedInfo")), None)


def plain(value: Any) -> Any:
    """Decimals as floats: ijson keeps every digit, the reader keeps nanoseconds."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", FILES)
def test_a_real_profile_has_the_same_events(shared_traces: Path, name: str) -> None:
    data = (shared_traces / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    ours, ours_head = by_the_reader(text, 1 << 16)
    theirs, theirs_head = by_ijson(text)
    assert len(ours) == len(theirs) > 10
    assert ours == theirs
    assert ours_head == plain(theirs_head)


def test_what_both_read_of_mutated_text_is_the_same() -> None:
    """Whatever the reader takes, ijson takes too, and reads the same events in it."""
    job = info(rank=0, world=4, groups=[group("0", [0, 1, 2, 3], 'a "quoted" \\ name')])
    events = [span("## forward {[,]} ##", "user_annotation", 90, 250), kernel("gemm", 105.25, 10, 7, correlation=90)]
    events += [record(ts=100 + n, dur=10, elements=100 + n, Seq=n, **{"Comms Id": 2**64 - 1 - n}) for n in range(4)]
    text = json.dumps(profile(events, distributedInfo=job), indent=1).encode()
    rng = random.Random(20261129)
    read = refused = 0
    for _ in range(600):
        data = bytearray(text)
        at = rng.randrange(len(data))
        if rng.random() < 0.5:
            data[at] = rng.choice(b'"\\{}[],: 019abx\n')
        else:
            del data[at : at + rng.choice([1, 2, 30])]
        try:
            ours = by_the_reader(bytes(data), rng.choice([64, 512, 1 << 20]))
        except InputRefusal:
            refused += 1
            continue
        read += 1
        try:
            theirs = by_ijson(bytes(data))
        except (JSONError, IncompleteJSONError) as error:
            pytest.fail(f"ijson refuses what was read: {error} in {bytes(data)!r}")
        assert ours == (theirs[0], plain(theirs[1])), bytes(data)
    assert min(read, refused) > 50
