"""Names of annotations that are phases, as frameworks and people write them."""

from __future__ import annotations

UNKNOWN_PHASE = "unknown"
_PHASES = frozenset({"forward", "backward", "optimizer", "prefill", "decode"})
_DECORATION = " #\t"


def phase_of_block(name: str, more: tuple[str, ...] = ()) -> str | None:
    """Phase that an annotation names (``## forward ##``: forward), None for other annotations.

    ``more`` are annotation names that become phases of their own. ``Optimizer.step#SGD.step`` is the
    optimizer's, ``DistributedDataParallel.forward`` forward.
    """
    if name in more:
        return name
    plain = name.strip(_DECORATION).lower()
    if plain in _PHASES:
        return plain
    if plain.startswith("optimizer.step#"):
        return "optimizer"
    return "forward" if plain.endswith("dataparallel.forward") else None
