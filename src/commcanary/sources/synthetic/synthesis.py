"""What a generator makes: a trace and, where it knows them, the device kernels behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace


@dataclass(frozen=True, slots=True)
class Kernel:
    """A device kernel of ``rank``, in ns from the first one; ``event`` is its row of the trace, None for compute."""

    rank: int
    stream: int
    name: str
    start_ns: int
    end_ns: int
    event: int | None = None


@dataclass(frozen=True, slots=True)
class Synthesis:
    """``kernels`` is empty where the generator knows the communication alone; ``steps_ns`` are the ends of steps."""

    trace: Trace
    kernels: tuple[Kernel, ...] = ()
    steps_ns: tuple[int, ...] = ()
