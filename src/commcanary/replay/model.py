"""The interface of a replay model, and the registry that finds one by name without loading the others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from commcanary.errors import UsageError

if TYPE_CHECKING:
    from commcanary.artifacts.events import Events
    from commcanary.replay.configuration import Configuration
    from commcanary.replay.samples import Samples

DEFAULT_MODEL = "scheduler-v4"

MODELS: dict[str, str] = {
    "scheduler-v4": "commcanary.replay.scheduler_v4",
    "closed-loop-v1": "commcanary.replay.closed_loop",
}
"""Model name -> the module that holds it as ``MODEL``; loaded on first use, because kernels import numba."""

Prepared = TypeVar("Prepared")


class Model(Protocol[Prepared]):
    """A pure function of (events, configuration, seed), in two steps.

    ``prepare`` does all that depends on the canary and the ablations alone, once; ``run`` is cheap and may
    be called with the same prepared value for any number of configurations, seeds and iterations.
    """

    @property
    def name(self) -> str:
        """Public name, as in ``--model``."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever a sample could change."""
        ...

    @property
    def reads(self) -> frozenset[str]:
        """The numbers of a configuration that a sample can depend on."""
        ...

    def prepare(self, events: Events, ablations: tuple[str, ...] = ()) -> Prepared:
        """All that depends on the canary alone.

        Raises UnknownValueRefusal where the model needs a value that the events do not know, and
        InputRefusal for an unknown ablation.
        """
        ...

    def run(self, prepared: Prepared, configuration: Configuration, seeds: tuple[int, ...], iterations: int) -> Samples:
        """Samples of ``len(seeds) * iterations`` independent runs, seed-major."""
        ...


def model_named(name: str) -> Model[Any]:
    """The model called ``name``. Raises UsageError, listing the known names, where there is none."""
    if name not in MODELS:
        raise UsageError(f"no replay model is called {name!r}; known are {', '.join(MODELS)}")
    return cast("Model[Any]", import_module(MODELS[name]).MODEL)
