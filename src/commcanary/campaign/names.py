"""Names that become files and folders: each once, whatever the case, and none that the campaign writes itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commcanary.campaign.config import NAME_PATTERN
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

TAKEN_IN_RESULTS = ("index.html", "index.log")
"""What lies in ``results/`` beside the campaigns."""

TAKEN_IN_CAMPAIGN = (
    "benchmarks",
    "expectations.json",
    "figures",
    "logs",
    "manifest.json",
    "manifests",
    "overlap",
    "overlap-study",
    "reconcile",
    "report.html",
    "seal.json",
    "seal.sha256",
    "seal.sha256.sig",
    "superseded",
    "tables",
    "timings.html",
)
"""What lies in a campaign's folder beside its workloads."""

TAKEN_IN_WORKLOAD = ("ablations.json", "trace.parquet")
"""What lies in a workload's folder beside its representations."""

TAKEN_IN_COMPARISONS = ("index",)
"""What lies in ``comparisons/`` beside the configurations, without ``.json``."""


def free_name(place: str, name: str, taken: Collection[str]) -> None:
    """Raise ``InputRefusal`` for no name of a file, and for one that is ``taken``, on any file system."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise InputRefusal(place, f"is {name!r}", f"names become files: {NAME_PATTERN}")
    if name.casefold() in taken:
        found = f"{name!r} is the name of a file or folder of the results themselves"
        raise InputRefusal(place, found, f"choose another than {', '.join(taken)}")


def free_names(place: str, names: Sequence[str | None], taken: Collection[str] = ()) -> list[str]:
    """``names`` of the entries of the list at ``place``.

    Raises ``InputRefusal`` for one that is missing, no name of a file, ``taken``, or there already: names that
    differ by case alone are one where the file system says so.
    """
    found: list[str] = []
    first: dict[str, str] = {}
    for number, name in enumerate(names):
        here = f"{place}[{number}].name"
        if name is None:
            raise InputRefusal(here, "is missing", "name every configuration")
        free_name(here, name, taken)
        before = first.setdefault(name.casefold(), name)
        if before == name and name in found:
            raise InputRefusal(here, f"{name!r} is used {names.count(name)} times", "give each its own name")
        if before != name:
            raise InputRefusal(here, f"{name!r} differs from {before!r} by case alone", "give each its own name")
        found.append(name)
    return found


def free_logs(pairs: Iterable[tuple[str, str]]) -> None:
    """Raise ``InputRefusal`` where two (workload, representation) would write one log, ``WORKLOAD.REPRESENTATION``."""
    first: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        before = first.setdefault(".".join(pair).casefold(), pair)
        if before != pair:
            found = f"{' with '.join(pair)} and {' with '.join(before)} both make {'.'.join(pair)}"
            raise InputRefusal("workloads", found, "rename one of them, names of logs are joined by a dot")
