"""The ledger of a behaviour search: every candidate, what it weighs, and why it was not taken.

A document of its own, beside the canary and never in it: the canary states only its content id.
"""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind

LEDGER_FORMAT = "commcanary.behavior_search.v1"


class CandidateSettings(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What was tried; nothing given means that nothing is lost."""

    timing_sample_limit: int | None = None
    quantum_us: float | None = None
    signature_limits: dict[str, int] = {}


class Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One canary that was tried.

    ``canary_bytes`` is its exchange JSON as a plain compile writes it. ``status`` is the gate's word, or
    ``over_budget`` where a fidelity budget forbade it before any replay. ``worst_error_pct`` is in percent of
    what the gate tolerates, null where it was not replayed or a number is missing. ``equal_to`` is the number
    of the candidate whose timing is the same: its outcome stands here too. ``held_out_status`` is the gate's
    word on configurations that decide nothing here.
    """

    number: int
    settings: CandidateSettings
    canary_bytes: int
    timing_records: int
    replayed_events: int
    status: str
    accepted: bool
    worst_error_pct: float | None
    first_failed_check: str | None
    held_out_status: str | None
    equal_to: int | None


class SearchLedger(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=LEDGER_FORMAT
):
    """All candidates, the Pareto front of (bytes, worst error, replayed events) among the accepted, the choice.

    ``truncated`` says that the limit on candidates ended the search.
    """

    source_content_id: str
    source_events: int
    fidelity_budget: dict[str, float]
    candidates: tuple[Candidate, ...]
    evaluated_count: int
    accepted_candidates: int
    truncated: bool
    front: tuple[int, ...]
    selected: int


SEARCH_LEDGER = document_kind("behavior search ledger", LEDGER_FORMAT, SearchLedger)
"""The ledger as an artifact kind."""
