"""What-if: the predicted length of a segment under other schedules of its buckets."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.stored import SourceFile
from commcanary.errors import InputRefusal, UnknownValueRefusal
from commcanary.timeline.alpha_beta import AlphaBeta, AlphaBetaFit, fit_alpha_beta
from commcanary.timeline.segment import Parameter, Segment, Variant, check_segment
from commcanary.timeline.segment_schedule import Interference, interference_of_slowdown, scheduled
from commcanary.timeline.splits import Sweep, swept
from commcanary.units import r3

if TYPE_CHECKING:
    from commcanary.timeline.segment import Bucket
    from commcanary.timeline.segment_schedule import Placed, Schedule

WHATIF_FORMAT = "commcanary.whatif.v1"

AS_IT_IS = "as it is"
"""Name of the segment's own schedule."""

ASSUMPTIONS = (
    "a prediction, not a measurement",
    "a collective takes startup + bytes / bandwidth, the same for every piece of a bucket",
    "collectives run one after another on one stream, in the order listed, with all ranks ready at once",
    "compute and its order do not change; ready times count the compute done",
    "a bucket holds one buffer of its bytes from ready to complete",
)


class PlacedBucket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One bucket in a predicted schedule, us from the segment's start; ``wait_us`` is from ready to start."""

    name: str
    bytes: int
    ready_us: float
    start_us: float
    completion_us: float
    needed_us: float
    wait_us: float


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A schedule's predicted length: ``step_us`` = ``compute_us`` + ``tail_us`` + ``slowdown_us``.

    ``low_us`` and ``high_us`` are the lengths at the ends of the law's intervals, null where those are
    unknown. ``gain_us`` is against the segment as it is; ``gain_without_interference_us`` what a model without
    slowdown promises. ``compute_slowdown`` is the a that was used.
    """

    name: str
    step_us: float
    low_us: float | None
    high_us: float | None
    gain_us: float
    gain_without_interference_us: float
    compute_us: float
    tail_us: float
    slowdown_us: float
    compute_slowdown: float
    startups: int
    startup_us: float
    peak_buffer_bytes: int
    extra_buffer_bytes: int
    buckets: tuple[PlacedBucket, ...]


class ModelCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The prediction for the segment as it is beside its measurement: predicted - measured, us and percent."""

    measured_us: float
    predicted_us: float
    error_us: float
    error_pct: float


class ParameterReady(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When one parameter of a bucket is ready, us of the segment's compute."""

    bucket: str
    name: str
    bytes: int
    ready_us: float


class WhatIf(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=WHATIF_FORMAT
):
    """Predictions for one segment. ``law_from`` says whose law it is; ``fit`` is null where it was given.

    ``model_check`` is null where ``model_unchecked`` says why, ``parameters`` empty where its profile does not
    say when they are ready. ``skipped`` names orders that would stand still.
    """

    label: str
    segment: Segment
    law: AlphaBeta
    law_from: str
    fit: AlphaBetaFit | None
    compute_slowdown: float
    transfer_slowdown: float
    sweep: Sweep
    outcome: Outcome
    variants: tuple[Outcome, ...]
    skipped: tuple[str, ...]
    best: str
    model_check: ModelCheck | None
    model_unchecked: str | None
    parameters: tuple[ParameterReady, ...]
    assumptions: tuple[str, ...]
    source_files: tuple[SourceFile, ...] = ()


WHATIF = document_kind("what-if", WHATIF_FORMAT, WhatIf)


def predict(
    segment: Segment, sweep: Sweep | None = None, fit: AlphaBetaFit | None = None, fit_from: str | None = None
) -> WhatIf:
    """Predict the segment as it is and every variant, declared and swept.

    ``fit`` (named by ``fit_from``) stands in place of the segment's own law. Raises ``InputRefusal`` for an
    impossible segment, ``UnknownValueRefusal`` where nothing gives a law.
    """
    sweep = Sweep() if sweep is None else sweep
    check_segment(segment)
    fit, law, law_from = _law(segment, fit, fit_from)
    own = Variant(name=AS_IT_IS, buckets=segment.buckets)
    base = _Predicted(segment, own, law, fit)
    outcomes, skipped = [], []
    for variant in segment.variants:
        outcomes.append(_Predicted(segment, variant, law, fit).outcome(base))
    for variant in swept(segment, sweep):
        try:
            outcomes.append(_Predicted(segment, variant, law, fit).outcome(base))
        except InputRefusal as refusal:  # an order in which compute waits for ever
            skipped.append(f"{variant.name}: {refusal.place} {refusal.found}")
    first = base.outcome(base)
    unchecked = _unchecked(segment, base)
    return WhatIf(
        label="prediction",
        segment=segment,
        law=law,
        law_from=law_from,
        fit=fit,
        compute_slowdown=segment.compute_slowdown,
        transfer_slowdown=segment.transfer_slowdown,
        sweep=sweep,
        outcome=first,
        variants=tuple(outcomes),
        skipped=tuple(skipped),
        best=min([first, *outcomes], key=lambda outcome: (outcome.step_us, outcome.startups)).name,
        model_check=None if unchecked else _model_check(segment, base),
        model_unchecked=unchecked,
        parameters=tuple(_listed(bucket, p) for bucket in segment.buckets for p in bucket.parameters),
        assumptions=(*ASSUMPTIONS, *_said(segment)),
    )


class _Predicted:
    """One variant's schedules: as predicted, without interference, at the ends of the law's intervals."""

    def __init__(self, segment: Segment, variant: Variant, law: AlphaBeta, fit: AlphaBetaFit | None) -> None:
        self.variant = variant
        self.compute = segment.compute_us
        self.law = law
        self.interference = Interference(segment.compute_slowdown, segment.transfer_slowdown)
        if variant.slowdown_us is not None:
            try:
                self.interference = interference_of_slowdown(
                    self.compute, variant.buckets, law, segment.transfer_slowdown, variant.slowdown_us
                )
            except InputRefusal as refusal:
                place = f"variant {variant.name}: {refusal.place}"
                raise InputRefusal(place, refusal.found, refusal.remedy) from refusal
        self.schedule = self._at(law)
        self.free = scheduled(self.compute, variant.buckets, law)
        self.low, self.high = self._ends(fit)

    def _at(self, law: AlphaBeta) -> Schedule:
        return scheduled(self.compute, self.variant.buckets, law, self.interference)

    def _ends(self, fit: AlphaBetaFit | None) -> tuple[float | None, float | None]:
        if fit is None or fit.startup_interval_us is None or fit.bandwidth_interval_gb_s is None:
            return None, None
        startups = [max(0.0, end) for end in fit.startup_interval_us]
        slow, fast = fit.bandwidth_interval_gb_s
        bandwidths = [slow, _UNBOUNDED_GB_S if fast is None else fast]
        steps = [self._at(AlphaBeta(a, b)).step for a, b in product(startups, bandwidths)]
        return min(steps), max(steps)

    def outcome(self, base: _Predicted) -> Outcome:
        schedule = self.schedule
        buckets = self.variant.buckets
        return Outcome(
            name=self.variant.name,
            step_us=r3(schedule.step),
            low_us=None if self.low is None else r3(self.low),
            high_us=None if self.high is None else r3(self.high),
            gain_us=r3(base.schedule.step - schedule.step),
            gain_without_interference_us=r3(base.free.step - self.free.step),
            compute_us=r3(self.compute),
            tail_us=r3(schedule.tail),
            slowdown_us=r3(schedule.slowdown),
            compute_slowdown=r3(self.interference.compute),
            startups=len(buckets),
            startup_us=r3(len(buckets) * self.law.startup_us),
            peak_buffer_bytes=schedule.peak_buffer_bytes,
            extra_buffer_bytes=schedule.peak_buffer_bytes - base.schedule.peak_buffer_bytes,
            buckets=tuple(_placed(placed) for placed in schedule.placed),
        )


_UNBOUNDED_GB_S = 1e12
"""In place of a bandwidth that the measurements do not bound: the transfer then takes no time."""


def _placed(placed: Placed) -> PlacedBucket:
    return PlacedBucket(
        placed.bucket.name,
        placed.bucket.size,
        r3(placed.ready),
        r3(placed.start),
        r3(placed.completion),
        r3(placed.needed),
        r3(placed.start - placed.ready),
    )


def _law(
    segment: Segment, fit: AlphaBetaFit | None, fit_from: str | None
) -> tuple[AlphaBetaFit | None, AlphaBeta, str]:
    if fit is not None:
        return fit, fit.law, fit_from or "fit"
    if segment.law is not None:
        if segment.collectives:
            raise InputRefusal("law", "is given beside measured collectives", "leave one of them out")
        return None, segment.law, "given"
    if not segment.collectives:
        raise UnknownValueRefusal(
            "law",
            "is unknown: neither law nor collectives are given",
            "give law: {startup_us, bandwidth_gb_s}, measured collectives, or --nccl-tests LOG",
        )
    sizes = [int(measured.bytes) for measured in segment.collectives]
    fit = fit_alpha_beta(sizes, [measured.us for measured in segment.collectives])
    return fit, fit.law, "measured collectives"


NOT_MEASURED = "the segment was not measured"
NO_WAIT = "nothing waited for a bucket, as measured and as predicted: the two lengths are one number"


def _unchecked(segment: Segment, base: _Predicted) -> str | None:
    """Why the measurement says nothing about the model, or None."""
    if segment.measured_us is None:
        return NOT_MEASURED
    if r3(segment.measured_us) == r3(segment.compute_us) == r3(base.schedule.step):
        return NO_WAIT
    return None


def _model_check(segment: Segment, base: _Predicted) -> ModelCheck:
    assert segment.measured_us is not None
    error = base.schedule.step - segment.measured_us
    percent = 100 * error / segment.measured_us if segment.measured_us else 0.0
    return ModelCheck(r3(segment.measured_us), r3(base.schedule.step), r3(error), r3(percent))


def _listed(bucket: Bucket, parameter: Parameter) -> ParameterReady:
    return ParameterReady(bucket.name, parameter.name, int(parameter.bytes), parameter.ready_us)


def _said(segment: Segment) -> tuple[str, ...]:
    said = list(segment.assumptions)
    if not (segment.compute_slowdown or segment.transfer_slowdown):
        said.append("compute and collectives do not slow each other, but for a variant's measured slowdown_us")
    if any(variant.slowdown_us for variant in segment.variants):
        said.append("a measured slowdown is spread evenly over the time with a collective in flight")
    said += [
        f"parts of {bucket.name} become ready evenly from {bucket.ready_from_us:g} to {bucket.ready_us:g} us"
        for bucket in segment.buckets
        if bucket.ready_from_us is not None
    ]
    return tuple(said)
