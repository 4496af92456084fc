"""The strict gate at compile time: did compilation lose anything that a replay would show?

A trace that was cut or sampled from another cannot answer for the original: it is refused unless the
original is given, and then the canary is verified against that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commcanary.errors import IntegrityRefusal
from commcanary.judge.behavior import VERIFIED
from commcanary.judge.reference import Reference
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_behavior import verify_behavior
from commcanary.replay.configuration import NAMED, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.trace import Trace
    from commcanary.judge.behavior import BehaviorVerification
    from commcanary.replay.configuration import Configuration


@dataclass(frozen=True)
class BehaviorGate:
    """Under what a canary must behave like its source."""

    model: str = "scheduler-v4"
    configurations: Sequence[Configuration] = tuple(NAMED.values())
    held_out: Sequence[Configuration] = ()
    protocol: Protocol = field(default_factory=Protocol)
    assumptions: Mapping[str, float] = field(default_factory=dict)
    tolerances: Tolerances = field(default_factory=Tolerances)

    def reference(self, trace: Trace, original: Trace | None) -> Reference:
        """The trace that must be behaved like: ``original`` where given, else ``trace`` itself.

        Raises ``IntegrityRefusal`` for a derived trace without its original, or with another one.
        """
        lineage = trace.header.lineage
        if lineage is not None and original is None:
            raise IntegrityRefusal(
                "lineage",
                f"the trace was made by {lineage.method} from a trace of {lineage.source_events} events, "
                "so that it cannot answer for that",
                "give the original with --reference-trace",
            )
        if lineage is not None and original is not None and original.content_id != lineage.derived_from:
            raise IntegrityRefusal(
                "lineage.derived_from",
                f"is {lineage.derived_from[:12]}, the reference trace is {original.content_id[:12]}",
                "give the trace that this one was made from",
            )
        return Reference(
            original or trace,
            self.model,
            self.configurations,
            self.protocol,
            assumptions=self.assumptions,
            held_out=self.held_out,
        )


def require_verified(gate: BehaviorGate, reference: Reference, canary: Canary) -> BehaviorVerification:
    """Verify ``canary`` against the gate's reference.

    Raises ``IntegrityRefusal`` with the first reason unless it is behaviorally_verified.
    """
    verification = verify_behavior(reference, canary, gate.tolerances)
    if verification.status != VERIFIED:
        reasons = (*verification.reasons, *verification.blocked_by)
        raise IntegrityRefusal(
            "behavior", f"{verification.status} ({reasons[0]})", "lose less, or compile without the gate"
        )
    return verification
