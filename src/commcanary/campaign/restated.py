"""What a manifest repeats, held against what it repeats: its own configuration, and the code that runs now.

Whoever can write files can write any manifest. Its fields that follow from ``config`` are derived again;
those that name code are compared with this code; the rest can only be stated, and ``STATED`` says what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

import commcanary
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.jsontext import decode
from commcanary.campaign.leaves import changed_leaves
from commcanary.campaign.manifest import expected_cells, input_names, models_of
from commcanary.campaign.provenance import code_digests
from commcanary.replay.model import MODELS, model_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.campaign.manifest import ExpectedCell, Manifest
    from commcanary.campaign.plan import Plan

STATED = (
    "environment (the packages that were installed)",
    "inputs (size and SHA-256 of source files, which lie elsewhere)",
    "config.title and other free text",
    "the history before the manifest in force",
)
"""What a sealed campaign says about itself that nothing in its folder can confirm."""


def contradictions(manifest: Manifest, plan: Plan) -> Iterator[str]:
    """Every field of ``manifest`` that does not follow from its ``config``, which ``plan`` was made of.

    Ids of cells digest the code too: where another version made the manifest, only their names are compared.
    """
    stated = {
        "campaign": manifest.campaign,
        "config": manifest.config,
        "policy": manifest.policy,
        "expected": manifest.expected,
        "models": sorted(manifest.models),
        "inputs": [[file.workload, file.name] for file in manifest.inputs],
    }
    follows = {
        "campaign": plan.name,
        "config": plan.resolved,
        "policy": msgspec.to_builtins(plan.config.policy),
        "expected": {workload.name: workload.expect for workload in plan.config.workloads},
        "models": sorted(models_of(plan)),
        "inputs": [list(names) for names in input_names(plan)],
    }
    for line in changed_leaves(_plain(stated), _plain(follows), "{path}: is {old}, its configuration gives {new}"):
        yield f"manifest.json: {line}"
    known = not any(other_version(manifest))
    cells = {_name(cell): cell.id for cell in manifest.cells}
    again = {_name(cell): cell.id for cell in expected_cells(plan, manifest.inputs)}
    if len(cells) != len(manifest.cells) or [*cells] != [*again]:
        yield "manifest.json: cells: are not those of its configuration, in its order"
    for name in again:
        if name not in cells or (known and cells[name] != again[name]):
            yield f"manifest.json: cells: {name} does not follow from its configuration"


def other_version(manifest: Manifest) -> Iterator[str]:
    """Every field of ``manifest`` that names other code than runs now: package, code digests, model versions."""
    stated = {"package_version": manifest.package_version, "code": manifest.code, "models": manifest.models}
    models = {name: model_named(name).version for name in manifest.models if name in MODELS}
    here = {"package_version": commcanary.__version__, "code": code_digests(), "models": models}
    yield from changed_leaves(_plain(stated), _plain(here), "{path}: {old}, here {new}")


def _name(cell: ExpectedCell) -> str:
    return f"{cell.workload}/{cell.representation}/{cell.configuration}"


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    return decode(canonical_json(document), dict[str, Any])
