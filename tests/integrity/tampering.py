"""How much of the tamper matrix is tried: a seeded sample, or all of it where COMMCANARY_TAMPER is ``all``."""

from __future__ import annotations

import os
import random
from typing import TypeVar

T = TypeVar("T")


def tried(attempts: list[T], most: int) -> list[T]:
    """All attempts, or a seeded ``most`` of them in their order."""
    if os.environ.get("COMMCANARY_TAMPER") == "all" or len(attempts) <= most:
        return attempts
    return [attempts[i] for i in sorted(random.Random(7).sample(range(len(attempts)), most))]
