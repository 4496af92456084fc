"""The document of a behaviour verification. Separate questions keep separate statuses."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.judge.ranking import Ranking
from commcanary.judge.tolerances import Tolerances
from commcanary.replay.configuration import Configuration

BEHAVIOR_FORMAT = "commcanary.behavior_verification.v1"

VERIFIED = "behaviorally_verified"
UNVERIFIED = "behaviorally_unverified"
FAILED = "failed"

FULL_SOURCE, PARTIAL_SOURCE, NOT_COVERED = "full_source", "partial_source", "not_covered"


class MetricCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One number of source and canary. ``of`` is the phase or operation, null for the whole run.

    Passes within ``tolerance`` (us, points or events) or ``tolerance_pct`` of the source. A phase or operation
    that one side does not have has null there, and fails.
    """

    name: str
    of: str | None
    status: str
    source: float | None
    canary: float | None
    delta: float | None
    relative_delta_pct: float | None
    tolerance: float
    tolerance_pct: float | None


class TailRecall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Share of the source's slow events that are among the canary's slowest: over the run, and per window.

    All null where the two have different numbers of events, which fails.
    """

    percentile: int
    status: str
    whole_run: float | None
    windows: tuple[float, ...]
    smallest: float | None
    required: float


class ConfigurationBehavior(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything checked under one configuration; ``status`` is pass or fail."""

    name: str
    status: str
    configuration: Configuration
    checks: tuple[MetricCheck, ...]
    queue_wait_checks: tuple[MetricCheck, ...]
    phase_checks: tuple[MetricCheck, ...]
    op_checks: tuple[MetricCheck, ...]
    tail_event_recall: tuple[TailRecall, ...]


class HeldOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same questions under configurations that no search has seen."""

    status: str
    configurations: tuple[ConfigurationBehavior, ...]
    ranking: Ranking


class ReferenceProtocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How source and canary were replayed."""

    model: str
    version: str
    seeds: tuple[int, ...]
    iterations: int
    ablations: tuple[str, ...]


class BehaviorVerification(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="format",
    tag=BEHAVIOR_FORMAT,
):
    """``status`` is behaviorally_verified, behaviorally_unverified or failed.

    ``blocked_by`` says what stands against the strong verdict though nothing failed: assumptions and capture
    uncertainty. ``reasons`` holds one line per failed check, ``remarks`` one for tolerances that are not the
    defaults and for each test that nothing could have failed. ``trace`` and ``canary`` are content ids.
    """

    status: str
    representation_fidelity_status: str
    source_verified_status: str
    source_coverage_status: str
    behavioral_fidelity_status: str
    configuration_ranking_status: str
    trace: str
    canary: str
    source_events: int
    canary_events: int
    protocol: ReferenceProtocol
    tolerances: Tolerances
    assumptions: dict[str, float]
    blocked_by: tuple[str, ...]
    reasons: tuple[str, ...]
    configurations: tuple[ConfigurationBehavior, ...]
    ranking: Ranking
    held_out: HeldOut | None = None
    remarks: tuple[str, ...] = ()


BEHAVIOR = document_kind("behavior verification", BEHAVIOR_FORMAT, BehaviorVerification)
"""The behaviour verification as an artifact kind."""
