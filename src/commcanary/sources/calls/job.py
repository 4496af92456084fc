"""What a profile says of its job: own rank, world, process groups (``distributedInfo``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from commcanary.artifacts.events import ProcessGroup
from commcanary.errors import InputRefusal

_LISTED = re.compile(r"^\s*\[(?P<inside>[^\[\]]*)\]\s*\Z")


@dataclass(frozen=True)
class KnownGroup:
    """A process group of ``pg_config``; ``ranks`` is None where the profile does not list them all."""

    name: str
    description: str
    size: int | None
    ranks: tuple[int, ...] | None


@dataclass(frozen=True)
class Job:
    """Own rank and job of one profile. ``base_ns`` is added to time stamps to make them absolute."""

    rank: int
    world: int | None
    backend: str | None
    groups: tuple[KnownGroup, ...]
    base_ns: int | None

    def group(self, name: str) -> KnownGroup | None:
        """The listed group of that name."""
        return next((group for group in self.groups if group.name == name), None)

    @property
    def default_group(self) -> ProcessGroup | None:
        """The group of all ranks: the one described as default, else what ``world_size`` implies."""
        for group in self.groups:
            if group.description == "default_pg" and group.ranks is not None:
                return ProcessGroup.of(group.name, group.ranks)
        if not self.groups and self.world is not None:
            return ProcessGroup("default", self.world)
        return None


def job_of(info: Any, base_ns: Any) -> Job:
    """The job behind ``distributedInfo``; raises ``InputRefusal`` where it names no rank."""
    remedy = "initialise torch.distributed before the profiler starts, or write the rank into distributedInfo"
    if info is None:
        raise InputRefusal("distributedInfo", "is missing, so the profile does not say which rank it is", remedy)
    if not isinstance(info, dict):
        raise InputRefusal("distributedInfo", f"is {info!r}", "it is an object with rank and world_size")
    rank = _whole(info.get("rank"))
    if rank is None:
        raise InputRefusal(
            "distributedInfo.rank",
            f"is {info.get('rank')!r}" if "rank" in info else "is missing",
            remedy,
        )
    world = _whole(info.get("world_size"))
    if world is not None and not rank < world:
        raise InputRefusal("distributedInfo.rank", f"is {rank} in a world of {world}", "export the profile again")
    return Job(rank, world, _name(info.get("backend")), _groups(info.get("pg_config"), world), _base(base_ns))


def listed_ranks(value: Any, place: str) -> tuple[int, ...] | None:
    """Ranks of a list or of its text ``"[0, 1]"``; None where absent, empty or truncated (``...``).

    An empty list is what the profiler writes for groups that it cannot describe: it is not the world.
    """
    if value is None:
        return None
    if isinstance(value, str):
        match = _LISTED.match(value)
        if match is None:
            raise InputRefusal(place, f"is {value!r}", "a list of ranks looks like [0, 1]")
        parts: list[Any] = [part.strip() for part in match["inside"].split(",") if part.strip()]
        if any("..." in part for part in parts):
            return None
    elif isinstance(value, list):
        parts = value
    else:
        raise InputRefusal(place, f"is {value!r}", "a list of ranks looks like [0, 1]")
    ranks = tuple(_whole(part) for part in parts)
    if any(rank is None for rank in ranks) or len(set(ranks)) < len(ranks):
        raise InputRefusal(place, f"is {value!r}", "ranks are different whole numbers from 0 on")
    return tuple(rank for rank in ranks if rank is not None) or None


def _groups(config: Any, world: int | None) -> tuple[KnownGroup, ...]:
    if config is None:
        return ()
    if not isinstance(config, list) or not all(isinstance(entry, dict) for entry in config):
        raise InputRefusal("distributedInfo.pg_config", f"is {config!r}", "it is a list of process groups")
    groups = []
    for number, entry in enumerate(config):
        place = f"distributedInfo.pg_config[{number}]"
        size = _whole(entry.get("pg_size"))
        ranks = listed_ranks(entry.get("ranks"), f"{place}.ranks")
        if ranks is None and entry.get("ranks") in ([], "[]") and size is not None and size == world:
            ranks = tuple(range(size))  # the profiler leaves the list empty where every rank is a member
        if ranks is not None and size is not None and len(ranks) != size:
            raise InputRefusal(
                f"{place}.ranks",
                f"lists {len(ranks)} ranks but pg_size is {size}",
                "export the profile again",
            )
        name = _name(entry.get("pg_name"))
        groups.append(KnownGroup("" if name is None else name, _name(entry.get("pg_desc")) or "", size, ranks))
    names = [group.name for group in groups]
    for name in names:
        if names.count(name) > 1:
            raise InputRefusal(
                "distributedInfo.pg_config", f"names process group {name!r} twice", "export the profile again"
            )
    return tuple(groups)


def _base(value: Any) -> int | None:
    if value is None:
        return None
    base = _whole(value)
    if base is None or base >= 2**62:
        raise InputRefusal("baseTimeNanoseconds", f"is {value!r}", "it is a whole number of nanoseconds")
    return base


def _whole(value: Any) -> int | None:
    """A whole number from 0 on, also where it is written as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _name(value: Any) -> str | None:
    return None if value is None else str(value)
