"""The account of an export: what became of every event, what an entry cannot say, and who can replay it."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.targets.param_check import ConsumerVerdict

PARAM_ACCOUNT_FORMAT = "commcanary.param-account.v1"


class SkippedEvents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events of one operation left out for one reason; ``first_event`` is an index into the canary."""

    op: str
    reason: str
    events: int
    first_event: int


class NotCarried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exported events that know or have something which no entry of a basic trace can say.

    ``arrival_skew`` counts events whose ranks arrive apart, ``arrival_unknown`` those whose arrivals the
    canary does not know: PARAM starts all ranks alike. Reductions other than a sum are replayed as a sum.
    """

    arrival_skew: int
    arrival_unknown: int
    compute_overlap_unknown: int
    reduction_other_than_sum: int
    root_unknown: int
    tag: int
    channel: int
    concurrent_groups: int


class ParamAccount(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=PARAM_ACCOUNT_FORMAT,
):
    """``events`` is the sum of ``exported`` and of the skipped events, always.

    ``array_sha256`` is the digest of the array's file; ``entries`` counts its elements by ``comms``.
    ``world_size_needed`` is the number of processes that a replay needs: one more than the largest rank.
    ``declared_dtype`` stood in for the dtype of ``declared_dtype_events`` events.
    """

    canary_content_id: str
    array_sha256: str
    events: int
    exported: dict[str, int]
    skipped: tuple[SkippedEvents, ...]
    entries: dict[str, int]
    process_groups: int
    world_size_needed: int
    declared_dtype: str | None
    declared_dtype_events: int
    not_carried: NotCarried
    consumers: tuple[ConsumerVerdict, ...]


PARAM_ACCOUNT = document_kind("PARAM account", PARAM_ACCOUNT_FORMAT, ParamAccount)
"""The account as an artifact kind."""
