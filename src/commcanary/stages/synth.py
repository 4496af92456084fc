"""Stage: name and seed -> synthetic trace, and the profiles of its ranks where they are asked for."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_bytes
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.errors import UsageError
from commcanary.sources.synthetic.kineto_profile import kineto_profiles
from commcanary.sources.synthetic.registry import SIZES, synthesis

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from commcanary.artifacts.trace import Trace


def synth_stage(
    name: str,
    output: Path,
    *,
    seed: int,
    events: int | None,
    sizes: Mapping[str, int] = MappingProxyType({}),
    repeat: int = 1,
    profiles: Path | None = None,
) -> Trace:
    """Write the synthetic trace ``name`` to ``output``, and one Kineto profile a rank into the folder ``profiles``.

    Raises ``UsageError`` for a name or size that does not exist, or profiles of a trace that knows no kernels.
    """
    check_suffix(output)
    made = synthesis(name, seed, events, sizes, repeat)
    if profiles is not None:
        if not made.kernels:
            raise UsageError(f"--profile: {name} knows no kernels; {', '.join(SIZES)} do")
        for rank, document in kineto_profiles(made).items():
            write_bytes(profiles / f"rank{rank}.pt.trace.json", canonical_json(document) + b"\n")
    write_artifact(output, TRACE, to_stored(made.trace))
    return made.trace
