"""The manifest: all that a campaign is made from, fixed before the first job.

Configuration files count by what they resolve to, so that a comment changes nothing. Holds no time, host or
path: two checkouts of one commit write the same bytes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

import commcanary
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import read_bytes
from commcanary.campaign.config_file import checked_config
from commcanary.campaign.environment import Environment, locked_environment
from commcanary.campaign.plan import Plan
from commcanary.campaign.provenance import CodeDigests, code_digest, code_digests
from commcanary.errors import InputRefusal, Refusal
from commcanary.replay.model import model_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commcanary.campaign.plan import Cell

MANIFEST_FORMAT = "commcanary.manifest.v1"

_COMPILED = {"canary": ("compile",), "searched": ("behavior_search",)}
_BY_RANKING = ("searched", "ddmin")
"""Methods that look at every configuration, not only at the cell's own."""


def _stages(method: str) -> tuple[str, ...]:
    """The stages that a cell's report has gone through."""
    return ("trace", *_COMPILED.get(method, ("represent", "compile")), "replay")


class InputFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that a workload's trace is made from: its workload, base name, size in bytes and hex SHA-256.

    ``workload`` is ``overlap/NAME`` for the profiles of a measurement of overlap, ``overlap-study/NAME`` for
    the files of a study.
    """

    workload: str
    name: str
    bytes: int
    sha256: str


class ExpectedCell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cell that the campaign must end with; ``id`` digests all that its report follows from."""

    workload: str
    representation: str
    configuration: str
    id: str


class Manifest(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=MANIFEST_FORMAT
):
    """Inputs, resolved configuration, cells, code and environment of one campaign.

    ``policy`` and ``expected`` (workload -> representation -> status) repeat what ``config`` declares, because
    they are what must be fixed before results are known.
    """

    campaign: str
    package_version: str
    code: CodeDigests
    environment: Environment | None
    models: dict[str, str]
    config: Any
    policy: Any
    expected: dict[str, dict[str, str]]
    inputs: tuple[InputFile, ...]
    cells: tuple[ExpectedCell, ...]


MANIFEST = document_kind("manifest", MANIFEST_FORMAT, Manifest)


def manifest_of(plan: Plan) -> Manifest:
    """The manifest of ``plan`` as its files, this code and this environment are now."""
    inputs = tuple(_input_file(workload, path) for workload, path in _input_files(plan))
    return Manifest(
        campaign=plan.name,
        package_version=commcanary.__version__,
        code=code_digests(),
        environment=locked_environment(),
        models=models_of(plan),
        config=plan.resolved,
        policy=msgspec.to_builtins(plan.config.policy),
        expected={workload.name: workload.expect for workload in plan.config.workloads},
        inputs=inputs,
        cells=expected_cells(plan, inputs),
    )


def models_of(plan: Plan) -> dict[str, str]:
    """Replay models of ``plan``'s workloads -> the versions that run now."""
    models = (model_named(name) for name in sorted({plan.model(workload) for workload in plan.workloads}))
    return {model.name: model.version for model in models}


def input_names(plan: Plan) -> list[tuple[str, str]]:
    """Workload and base name of every source file of ``plan``, in the order of ``Manifest.inputs``."""
    return [(workload, path.name) for workload, path in _input_files(plan)]


def _input_files(plan: Plan) -> Iterator[tuple[str, Path]]:
    for workload in plan.workloads:
        yield from ((workload, path) for path in plan.source_files(workload))
    for name in plan.overlaps:
        yield from ((f"overlap/{name}", path) for path in plan.overlap_files(name))
    for name in plan.studies:
        yield from ((f"overlap-study/{name}", path) for path in plan.study_files(name))


def expected_cells(plan: Plan, inputs: tuple[InputFile, ...]) -> tuple[ExpectedCell, ...]:
    """Every cell of ``plan`` with its id, its source files being ``inputs``."""
    return tuple(
        ExpectedCell(cell.workload, cell.representation, cell.configuration, _cell_id(plan, cell, inputs))
        for cell in plan.cells()
    )


def plan_of(manifest: Manifest, folder: Path) -> Plan:
    """The plan that a manifest froze; ``folder`` holds ``manifest.json``, and its relative source paths start there.

    What the manifest says was checked when it was made, and is again: anyone can write one. Raises ``InputRefusal``
    for a configuration that no file could have given.
    """
    try:
        return Plan(checked_config(manifest.config, None), folder)
    except Refusal as refusal:
        place = "config" if refusal.place == "top level" else f"config.{refusal.place}"
        found = f"no campaign has this: {refusal.found} ({refusal.remedy})"
        raise InputRefusal(
            place, found, "restore the manifest, or run the campaign again", file=str(folder / "manifest.json")
        ) from refusal


def _input_file(workload: str, path: Path) -> InputFile:
    data = read_bytes(path)
    return InputFile(workload, path.name, len(data), hashlib.sha256(data).hexdigest())


def _cell_id(plan: Plan, cell: Cell, inputs: tuple[InputFile, ...]) -> str:
    """Digest of a cell's sources, settings and code; of source files count content and base name, not the folder."""
    workload = plan.workload(cell.workload)
    representation = plan.representation(cell.workload, cell.representation)
    configurations = plan.configurations(cell.workload)
    made_from = {
        "workload": cell.workload,
        "source": plan.without_folders(cell.workload).source,
        "inputs": [file.sha256 for file in inputs if file.workload == cell.workload],
        "representation": representation,
        "configuration": next(c for c in configurations if c.name == cell.configuration),
        "ranked": [configurations, plan.config.tolerances] if representation.method in _BY_RANKING else None,
        "protocol": plan.protocol(cell.workload),
        "model": [plan.model(cell.workload), model_named(plan.model(cell.workload)).version],
        "assume": workload.assume,
        "code": {stage: code_digest(f"commcanary.stages.{stage}") for stage in _stages(representation.method)},
    }
    return hashlib.sha256(canonical_json(made_from)).hexdigest()
