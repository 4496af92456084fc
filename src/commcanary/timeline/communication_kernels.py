"""Which kernels are communication: one table of name patterns, which a user's own rules precede.

A kernel that no rule claims is compute. Each rule names its family, so that an account of time can say
which rule claimed which share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class KernelRule:
    """A family of communication kernels: ``pattern`` is searched in the kernel's name (case-sensitive)."""

    family: str
    pattern: str


KERNEL_RULES = (
    KernelRule("nccl", r"^nccl(Dev)?Kernel"),
    KernelRule("nccl", r"^nccl"),
    KernelRule("rccl", r"^(rccl|mscclKernel|msccl_)"),
    KernelRule("hccl", r"^hccl"),
    KernelRule("oneccl", r"(^|::)(oneccl|ccl)(::|_)"),
    KernelRule("symmetric_memory", r"multimem_|symm_mem|one_shot_all_reduce|two_shot_all_reduce"),
    KernelRule(
        "custom_all_reduce", r"cross_device_reduce|[cC]ustom_?[aA]ll_?[rR]educe|quick_?reduce|allreduce_prototype"
    ),
    KernelRule(
        "trtllm_all_reduce", r"[oO]ne[sS]hot[aA]ll[rR]educe|[tT]wo[sS]hot[aA]ll[rR]educe|lamport|allreduce_fusion"
    ),
    KernelRule("nvshmem", r"^nvshmem|nvshmemi?_|deep_ep::|internode::|intranode::"),
    KernelRule("userbuffers", r"userbuffers"),
    KernelRule("mscclpp", r"mscclpp"),
)
"""First match wins; a user's rules come before these."""


class CommunicationKernels:
    """The table with a user's rules in front. ``family`` is cached per name: profiles repeat few names."""

    def __init__(self, user_rules: tuple[KernelRule, ...] = ()) -> None:
        self._rules = [(rule.family, re.compile(rule.pattern)) for rule in (*user_rules, *KERNEL_RULES)]
        self.family = lru_cache(maxsize=None)(self._family)

    def _family(self, name: str) -> str | None:
        """Family of the first rule that claims the kernel ``name``; None where it is compute."""
        return next((family for family, pattern in self._rules if pattern.search(name)), None)
