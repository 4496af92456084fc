"""Canary -> PARAM basic trace, for train/comms/pt's commsTraceReplay.

The array is what PARAM reads; the account beside it says what is in it. Sizes are element counts of one
rank's tensors: ``param_counts`` says how they follow from an event's bytes. An event without an exact
equivalent refuses the export, or is left out and counted where the user says so.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.errors import InputRefusal, IntegrityRefusal, UsageError
from commcanary.targets.param_account import PARAM_ACCOUNT, NotCarried, ParamAccount, SkippedEvents
from commcanary.targets.param_check import check_array, verdicts
from commcanary.targets.param_counts import Obstacle
from commcanary.targets.param_entries import entries_of
from commcanary.targets.param_format import PARAM_DTYPES, Entry, param_dtype
from commcanary.targets.param_messages import lost_ends
from commcanary.targets.param_progress import partners, standstill
from commcanary.targets.param_shapes import Shape, shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.events import Events

_SKIP = "or leave such events out and have them counted with --skip-unsupported"


@dataclass(frozen=True)
class ParamSettings:
    """``dtype`` is used where the canary knows none; ``skip_unsupported`` leaves out what has no equivalent.

    Raises ``UsageError`` for a dtype that PARAM has no name for.
    """

    dtype: str | None = None
    skip_unsupported: bool = False

    def __post_init__(self) -> None:
        if self.dtype is not None and param_dtype(self.dtype) is None:
            known = ", ".join([*PARAM_DTYPES, "int64", "int16"])
            raise UsageError(f"--dtype is {self.dtype!r}; PARAM knows {known}")


@dataclass(frozen=True)
class ParamExport:
    """The array's entries and file bytes, and the account of them."""

    entries: tuple[Entry, ...]
    array: bytes
    account: ParamAccount

    def file_bytes(self) -> tuple[bytes, bytes]:
        """(the array's file, the account's file): UTF-8 JSON, each with a final line feed."""
        return self.array, json_bytes(PARAM_ACCOUNT, Stored(self.account)) + b"\n"


def export_param(canary: Canary, settings: ParamSettings) -> ParamExport:
    """Export ``canary`` as a PARAM basic trace.

    Raises ``InputRefusal`` naming the first event without an equivalent, unless
    ``settings.skip_unsupported``; and always where no event has one.
    """
    events = canary.events
    declared = None if settings.dtype is None else param_dtype(settings.dtype)
    shapes = [shape_of(s, events.groups[s.group], declared) for s in events.signatures]
    left_out = _without_equivalent(events, shapes)
    if left_out and not settings.skip_unsupported:
        raise _refusal(events, min(left_out), left_out[min(left_out)])
    entries = entries_of(events, shapes, left_out)
    while stuck := _standing_still(entries):
        left_out |= stuck
        if not settings.skip_unsupported:
            raise _refusal(events, min(stuck), stuck[min(stuck)])
        entries = entries_of(events, shapes, left_out)
    if len(left_out) == len(events):
        raise _refusal(events, min(left_out), left_out[min(left_out)], skip=False)
    for broken in check_array(entries):
        raise IntegrityRefusal(f"entries[{broken.entry}]", broken.found, "report this: the export broke its own rules")
    array = b"[\n" + b",\n".join(canonical_json(entry) for entry in entries) + b"\n]\n"
    account = _account(canary, shapes, left_out, entries, array, settings.dtype)
    return ParamExport(tuple(entries), array, account)


def empty_export(canary: Canary, settings: ParamSettings, refusal: InputRefusal) -> ParamExport:
    """An array of no entries, and an account in which every event was left out because of ``refusal``.

    For a campaign, of which the export is one output among many and stops no other.
    """
    obstacle = Obstacle(
        f"export refused: {refusal.place} {refusal.found}", refusal.place, refusal.found, refusal.remedy
    )
    array = b"[]\n"
    shapes = [obstacle] * len(canary.events.signatures)
    account = _account(canary, shapes, dict.fromkeys(range(len(canary.events)), obstacle), (), array, settings.dtype)
    return ParamExport((), array, account)


def _without_equivalent(events: Events, shapes: Sequence[Shape | Obstacle]) -> dict[int, Obstacle]:
    obstacles = {number: shape for number, shape in enumerate(shapes) if isinstance(shape, Obstacle)}
    hit = np.flatnonzero(np.isin(events.signature, list(obstacles)))
    left_out = {int(event): obstacles[int(events.signature[event])] for event in hit}
    while lost := lost_ends(events, shapes, left_out):
        left_out |= lost
    return left_out


def _standing_still(entries: Sequence[Entry]) -> dict[int, Obstacle]:
    """The events of the messages that keep ranks waiting for ever, with both their ends."""
    met = partners(entries)
    ends = {end for index in standstill(entries) if index in met for end in (index, met[index])}
    return {
        entries[end]["req"]: Obstacle(
            "messages wait for each other",
            "op",
            "blocks a rank that its other end depends on, so that a replay would stand still",
            "give both ends beside each other, or a consumer (consumed_by) to wait at",
        )
        for end in ends
    }


def _refusal(events: Events, event: int, obstacle: Obstacle, *, skip: bool = True) -> InputRefusal:
    s = events.signatures[int(events.signature[event])]
    what = f"{obstacle.found} ({s.op}, {s.bytes} bytes, group {events.groups[s.group].name})"
    remedy = f"{obstacle.remedy}, {_SKIP}" if skip else f"{obstacle.remedy}; no event of the canary can be exported"
    return InputRefusal(f"events[{event}].{obstacle.field}", what, remedy)


def _account(
    canary: Canary,
    shapes: Sequence[Shape | Obstacle],
    left_out: Mapping[int, Obstacle],
    entries: Sequence[Entry],
    array: bytes,
    declared: str | None,
) -> ParamAccount:
    events = canary.events
    kept = np.ones(len(events), np.bool_)
    kept[list(left_out)] = False
    per_signature = np.bincount(events.signature[kept], minlength=len(events.signatures)).tolist()
    exported: Counter[str] = Counter()
    for signature, count in zip(events.signatures, per_signature, strict=True):
        exported[signature.op] += count
    inits = [entry for entry in entries if entry["comms"] == "init"]
    return ParamAccount(
        canary_content_id=canary.content_id,
        array_sha256=hashlib.sha256(array).hexdigest(),
        events=len(events),
        exported={op: count for op, count in sorted(exported.items()) if count},
        skipped=_skipped(events, left_out),
        entries=dict(sorted(Counter(entry["comms"] for entry in entries).items())),
        process_groups=len(inits),
        world_size_needed=1 + max((rank for entry in inits for rank in entry["global_ranks"]), default=-1),
        declared_dtype=declared,
        declared_dtype_events=sum(
            count
            for shape, count in zip(shapes, per_signature, strict=True)
            if isinstance(shape, Shape) and shape.declared
        ),
        not_carried=_not_carried(events, kept),
        consumers=verdicts(entries),
    )


def _skipped(events: Events, left_out: Mapping[int, Obstacle]) -> tuple[SkippedEvents, ...]:
    where: dict[tuple[str, str], list[int]] = {}
    for event in sorted(left_out):
        op = events.signatures[int(events.signature[event])].op
        where.setdefault((op, left_out[event].reason), []).append(event)
    return tuple(SkippedEvents(op, reason, len(hit), hit[0]) for (op, reason), hit in sorted(where.items()))


def _not_carried(events: Events, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> NotCarried:
    per_signature = np.bincount(events.signature[kept], minlength=len(events.signatures)).tolist()
    used = list(zip(events.signatures, per_signature, strict=True))
    skew = events.skew_ns[kept]
    return NotCarried(
        arrival_skew=int((skew > 0).sum()),
        arrival_unknown=int((skew < 0).sum()),
        compute_overlap_unknown=int((events.compute_overlap_ns[kept] < 0).sum()),
        reduction_other_than_sum=sum(n for s, n in used if s.reduction_op not in (None, "sum")),
        root_unknown=sum(n for s, n in used if s.op == "broadcast" and s.root_rank is None),
        tag=sum(n for s, n in used if s.tag is not None),
        channel=sum(n for s, n in used if s.channel is not None),
        concurrent_groups=sum(n for s, n in used if s.concurrent_groups > 1),
    )
