"""Reading a file of configurations, as ``verify-behavior`` and campaigns take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.jsontext import convert
from commcanary.errors import InputRefusal
from commcanary.judge.reference import MAX_CONFIGURATIONS, by_name
from commcanary.replay.configuration import Configuration
from commcanary.stages.reading import naming

if TYPE_CHECKING:
    from pathlib import Path


def read_configurations(path: Path) -> list[Configuration]:
    """The configurations in a YAML or JSON file with the one key ``configurations``, in its order."""
    from commcanary.campaign.yaml_text import load_yaml  # most commands are given no file of configurations

    with naming(path):
        document = load_yaml(path)
        if not isinstance(document, dict) or set(document) != {"configurations"}:
            raise InputRefusal("top level", "is not a mapping with the one key configurations", "see config/README.md")
        found = convert(document["configurations"], list[Configuration])
        if not found:
            raise InputRefusal("configurations", "is an empty list", "give one or more")
        if len(found) > MAX_CONFIGURATIONS:
            remedy = f"at most {MAX_CONFIGURATIONS} are ranked together: give several files"
            raise InputRefusal("configurations", f"is a list of {len(found):,}", remedy)
        by_name(found)
        return found
