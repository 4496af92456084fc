"""verify-behavior TRACE CANARY: does the canary behave like its source, and rank configurations like it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.controls.registry import is_control
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT
from commcanary.judge.behavior import (
    FAILED,
    FULL_SOURCE,
    NOT_COVERED,
    PARTIAL_SOURCE,
    UNVERIFIED,
    VERIFIED,
    BehaviorVerification,
    ConfigurationBehavior,
    HeldOut,
    ReferenceProtocol,
)
from commcanary.judge.behavior_checks import behavior_under, failures
from commcanary.judge.checks import first_failure
from commcanary.judge.ranking import Ranking, rank
from commcanary.judge.reference import Outcome, Reference, ranked_values
from commcanary.judge.remarks import remarks
from commcanary.judge.source_verification import PARTIAL_SOURCE_VERIFIED, SOURCE_VERIFIED
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_source import verify_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.artifacts.canary import Canary
    from commcanary.judge.source_verification import SourceVerification

_BOUND_NAMES = ("max_", "fidelity_")


def verify_behavior(reference: Reference, canary: Canary, tolerances: Tolerances | None = None) -> BehaviorVerification:
    """The verdict on ``canary`` against the reference's trace.

    ``behaviorally_verified`` only where source, coverage, behaviour and ranking all hold and nothing is
    assumed or uncertain; held-out configurations count too, and are reported apart.
    Raises ``UnknownValueRefusal`` for a value that the canary does not know and nobody assumed.
    """
    tolerances = tolerances or Tolerances()
    source = verify_source(reference.trace, canary)
    outcomes = reference.replayed(canary.events)
    seen = [name for name in reference.configurations if name not in reference.held_out]
    configurations, ranking = _compared(reference, outcomes, seen, tolerances)
    held_out = None
    if reference.held_out:
        rest = [name for name in reference.configurations if name in reference.held_out]
        apart, apart_ranking = _compared(reference, outcomes, rest, tolerances)
        held_out = HeldOut(_all_pass(apart, apart_ranking), apart, apart_ranking)
    coverage = _coverage(reference, canary, source)
    blocked = tuple(_blockers(reference, canary))
    holds = (
        source.status == SOURCE_VERIFIED
        and coverage == FULL_SOURCE
        and _all_pass(configurations, ranking) == "pass"
        and (held_out is None or held_out.status == "pass")
    )
    protocol = reference.protocol
    return BehaviorVerification(
        status=FAILED if not holds else UNVERIFIED if blocked else VERIFIED,
        representation_fidelity_status=_representation(canary, source),
        source_verified_status=source.status,
        source_coverage_status=coverage,
        behavioral_fidelity_status="pass" if all(c.status == "pass" for c in configurations) else "fail",
        configuration_ranking_status=ranking.status,
        trace=reference.trace.content_id,
        canary=canary.content_id,
        source_events=len(reference.trace),
        canary_events=len(canary.events),
        protocol=ReferenceProtocol(
            reference.model.name, reference.model.version, protocol.seeds, protocol.iterations, protocol.ablations
        ),
        tolerances=tolerances,
        assumptions={**reference.assumptions, **canary.header.compiler.assumptions},
        blocked_by=blocked,
        reasons=tuple(_reasons(source, coverage, configurations, ranking, held_out)),
        configurations=configurations,
        ranking=ranking,
        held_out=held_out,
        remarks=tuple(remarks(tolerances, configurations, ranking, held_out)),
    )


def behavior_exit_code(verification: BehaviorVerification) -> int:
    """0 only for behaviorally_verified."""
    return EXIT_DONE if verification.status == VERIFIED else EXIT_NEGATIVE_VERDICT


def worst_error_pct(verification: BehaviorVerification) -> float:
    """The largest latency error of any configuration, in percent of what the tolerance allows.

    Each error counts by the tolerance that it meets more easily; above 100 it fails. Infinite where a number
    is missing or must be equal and is not.
    """
    worst = 0.0
    for configuration in verification.configurations:
        for check in (
            *configuration.checks,
            *configuration.queue_wait_checks,
            *configuration.phase_checks,
            *configuration.op_checks,
        ):
            if check.delta is None or (check.tolerance == 0 and check.tolerance_pct is None):
                worst = max(worst, 0.0 if check.status == "pass" else float("inf"))
                continue
            allowed = max(check.tolerance, (check.tolerance_pct or 0.0) / 100 * (check.source or 0.0))
            worst = max(
                worst, 100 * abs(check.delta) / allowed if allowed else 0.0 if check.delta == 0 else float("inf")
            )
    return worst


def _compared(
    reference: Reference, outcomes: dict[str, Outcome], names: list[str], tolerances: Tolerances
) -> tuple[tuple[ConfigurationBehavior, ...], Ranking]:
    ours = {name: reference.outcomes[name] for name in names}
    theirs = {name: outcomes[name] for name in names}
    behaviors = tuple(
        behavior_under(name, reference.configurations[name], ours[name], theirs[name], tolerances) for name in names
    )
    return behaviors, rank(ranked_values(ours), ranked_values(theirs), tolerances.ranking_tie_us)


def _all_pass(configurations: tuple[ConfigurationBehavior, ...], ranking: Ranking) -> str:
    failed = ranking.status == "fail" or any(c.status == "fail" for c in configurations)
    return "fail" if failed else "pass"


def _coverage(reference: Reference, canary: Canary, source: SourceVerification) -> str:
    """Which part of the given trace the canary stands for, by content ids: equal counts are no coverage."""
    trace, lineage = reference.trace, canary.header.lineage
    if source.status == SOURCE_VERIFIED and canary.header.compiler.source_content_id == trace.content_id:
        return FULL_SOURCE
    if source.status == PARTIAL_SOURCE_VERIFIED:
        return PARTIAL_SOURCE
    if lineage is not None and lineage.derived_from == trace.content_id and not is_control(lineage.method):
        return PARTIAL_SOURCE
    return NOT_COVERED


def _representation(canary: Canary, source: SourceVerification) -> str:
    """The canary's timing mode where its bounds hold against this source, else failed."""
    bounds = [check for check in source.checks if check.name.startswith(_BOUND_NAMES)]
    if not bounds or first_failure(bounds) is not None:
        return FAILED
    return canary.header.compiler.timing_mode


def _blockers(reference: Reference, canary: Canary) -> Iterator[str]:
    assumptions = {**reference.assumptions, **canary.header.compiler.assumptions}
    for field, value in sorted(assumptions.items()):
        yield f"assumed: {field}={value:g}"
    uncertain = int(reference.trace.events.compute_uncertain.sum())
    if uncertain:
        yield f"uncertain: {uncertain:,} of {len(reference.trace):,} events have guessed compute fields"


def _reasons(
    source: SourceVerification,
    coverage: str,
    configurations: tuple[ConfigurationBehavior, ...],
    ranking: Ranking,
    held_out: HeldOut | None,
) -> Iterator[str]:
    wrong = first_failure(source.checks)
    if wrong is not None:
        ours, theirs = _short(wrong.expected), _short(wrong.actual)
        yield f"source: {wrong.name} at {wrong.place}: the source has {ours}, the canary {theirs}"
    if coverage != FULL_SOURCE:
        yield f"coverage: {coverage}"
    for configuration in configurations:
        yield from failures(configuration)
    yield from _ranking_reasons("", ranking)
    if held_out is not None:
        for configuration in held_out.configurations:
            yield from (f"held out: {line}" for line in failures(configuration))
        yield from _ranking_reasons("held out: ", held_out.ranking)


def _ranking_reasons(prefix: str, ranking: Ranking) -> Iterator[str]:
    for pair in ranking.pairwise:
        if pair.status == "fail":
            yield (
                f"{prefix}ranking: {pair.metric} of {pair.left} - {pair.right} is {pair.source_delta_us:+g} us in the "
                f"source ({pair.source_relation}), {pair.canary_delta_us:+g} us in the canary ({pair.canary_relation})"
            )


def _short(value: object) -> object:
    """A digest by its first digits; anything else as it is."""
    return value[:12] if isinstance(value, str) and len(value) == _DIGEST_LENGTH else value


_DIGEST_LENGTH = 64
