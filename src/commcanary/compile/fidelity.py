"""How far the events of a canary are from those of its source, per field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.canary import Fidelity
from commcanary.artifacts.events import UNKNOWN, Events, Ragged
from commcanary.errors import BudgetRefusal
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

LOSSLESS = "lossless_timing"
BOUNDED = "bounded_approximate"

ERROR_FIELDS = tuple(name for name in Fidelity.__struct_fields__ if name != "mode")
"""The eight error fields, in the order of the fidelity line."""


def fidelity(source: Events, canary: Events) -> Fidelity:
    """Largest absolute difference per field between two equally long columns of events, in us.

    The mode is ``lossless_timing`` exactly when nothing differs. What is unknown on one side only differs
    infinitely; a compiler that produced that is broken, so it is an assertion.
    """
    gap = canary.gap_ns - source.gap_ns
    errors = {
        "max_gap_error_us": _largest(gap),
        "max_skew_error_us": _largest(_known_difference(source.skew_ns, canary.skew_ns)),
        "max_arrival_offset_error_us": _ragged_difference(source.offsets_ns, canary.offsets_ns),
        "max_compute_before_error_us": max(
            _largest(_known_difference(source.compute_before_ns, canary.compute_before_ns)),
            _ragged_difference(source.rank_compute_before_ns, canary.rank_compute_before_ns),
        ),
        "max_overlap_error_us": _largest(_known_difference(source.compute_overlap_ns, canary.compute_overlap_ns)),
        "max_pressure_error": float(np.abs(canary.compute_pressure - source.compute_pressure).max(initial=0.0)),
        "max_observed_exposed_error_us": _largest(
            _known_difference(source.observed_exposed_ns, canary.observed_exposed_ns)
        ),
        "max_prefix_gap_error_us": _largest(np.cumsum(gap)),
    }
    return Fidelity(mode=BOUNDED, **errors) if any(errors.values()) else Fidelity(mode=LOSSLESS)


def check_budget(achieved: Fidelity, budget: Mapping[str, float], instead: Callable[[], str]) -> None:
    """Raise ``BudgetRefusal`` for the first field of ``budget`` (field -> largest error) that is exceeded.

    ``instead`` finds out, where one is, which setting would meet it.
    """
    for name in ERROR_FIELDS:
        if name in budget and getattr(achieved, name) > budget[name]:
            error = getattr(achieved, name)
            said = f"{error:g}" if name == "max_pressure_error" else f"{error:.3f} us"
            unit = "" if name == "max_pressure_error" else " us"
            raise BudgetRefusal("", f"timing fidelity {name}={said} exceeds budget {budget[name]:g}{unit}", instead())


def _known_difference(source: NDArray[np.int64], canary: NDArray[np.int64]) -> NDArray[np.int64]:
    assert ((source == UNKNOWN) == (canary == UNKNOWN)).all(), "unknown on one side only"
    return canary - source


def _ragged_difference(source: Ragged, canary: Ragged) -> float:
    assert np.array_equal(source.bounds, canary.bounds), "lists of other lengths"
    assert np.array_equal(source.known, canary.known), "unknown on one side only"
    return _largest(canary.values - source.values)


def _largest(difference_ns: NDArray[np.int64]) -> float:
    return int(np.abs(difference_ns).max(initial=0)) / NS_PER_US
