"""Whether two reports may be compared at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import IntegrityRefusal
from commcanary.judge.comparison import Mismatch

if TYPE_CHECKING:
    from commcanary.replay.report import ReportHeader


def mismatches(baseline: ReportHeader, candidate: ReportHeader, seeds_may_differ: bool) -> tuple[Mismatch, ...]:
    """What differs that must agree: canary content, model, version, protocol and assumptions.

    Seed values may differ where intervals are asked for; their number never.
    """
    return tuple(
        Mismatch(field, str(left), str(right))
        for (field, left), (_, right) in zip(
            _identity(baseline, seeds_may_differ), _identity(candidate, seeds_may_differ), strict=True
        )
        if left != right
    )


def refuse(found: tuple[Mismatch, ...]) -> None:
    """Raise IntegrityRefusal naming the first mismatch, if there is one."""
    if found:
        first = found[0]
        raise IntegrityRefusal(
            first.field,
            f"the baseline has {first.baseline}, the candidate {first.candidate}",
            _REMEDY.get(first.field, "replay both with the same settings, or say --allow-mismatch"),
        )


_REMEDY = {
    "canary.content_id": "replay one canary under both configurations, or say --allow-mismatch",
    "replay_protocol.seeds": "replay both with the same seeds, or ask for --confidence 0.95",
}


def _identity(header: ReportHeader, seeds_may_differ: bool) -> list[tuple[str, object]]:
    protocol = header.replay_protocol
    identity: list[tuple[str, object]] = [
        ("canary.content_id", header.canary.content_id),
        ("simulation_model.name", header.simulation_model.name),
        ("simulation_model.version", header.simulation_model.version),
        ("replay_protocol.iterations", protocol.iterations),
        ("replay_protocol.number_of_seeds", len(protocol.seeds)),
        ("replay_protocol.ablations", protocol.ablations),
        ("replay_protocol.quantile_method", protocol.quantile_method),
        ("assumptions", header.assumptions),
    ]
    if not seeds_may_differ:
        identity.append(("replay_protocol.seeds", protocol.seeds))
    return identity
