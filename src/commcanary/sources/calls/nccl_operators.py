"""NCCL's operators as its log and its payloads state them: by number."""

from __future__ import annotations

REDUCTIONS = {0: "sum", 1: "prod", 2: "max", 3: "min", 4: "avg"}
"""``ncclRedOp_t``; numbers from 5 on are operators that the job made."""
