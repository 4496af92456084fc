"""A sealed campaign described as a Workflow Run RO-Crate 0.5: one run of one workflow, its inputs and its results.

The profile (w3id.org/ro/wfrun/workflow/0.5) asks for a workflow as the crate's main entity, formal parameters of it,
and one ``CreateAction`` with the workflow as instrument, what went in as ``object`` and what came out as ``result``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.seal import Seal, SealedFile

METADATA = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
_PROFILES = (
    ("https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
_PARAMETER = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
_MEDIA = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".parquet": "application/vnd.apache.parquet",
    ".sha256": "text/plain",
}

Entity = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """When a run's cells were made (ISO 8601) and under which licence (URL) its results are given."""

    started: str
    ended: str
    license: str


def crate_document(manifest: Manifest, seal: Seal, run: Run, workflow_files: Iterable[str]) -> Entity:
    """The JSON-LD document of the crate that holds the sealed files, the seal and ``workflow_files``."""
    sources = [_source(number, file) for number, file in enumerate(manifest.inputs)]
    results = [_result(file) for file in seal.files if file.path != "manifest.json"]
    frozen = _result(next(file for file in seal.files if file.path == "manifest.json"))
    frozen |= {"name": "manifest: inputs, configuration, cells and code", "exampleOfWork": {"@id": "#manifest"}}
    beside = ("seal.json", "seal.sha256", *(file.path for file in seal.history))
    parts = [frozen, *results, *map(_file, beside), *map(_file, workflow_files)]
    graph: list[Entity] = [
        _descriptor(),
        _root(manifest, seal, run, parts),
        *({"@id": i, "@type": "CreativeWork", "name": n, "version": v} for i, n, v in _PROFILES),
        {"@id": run.license, "@type": "CreativeWork", "name": "Licence of the results"},
        _workflow(manifest),
        {
            "@id": "#snakemake",
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": {"@id": "https://snakemake.github.io"},
            "url": {"@id": "https://snakemake.github.io"},
        },
        _parameter("#manifest", "manifest", [frozen], required=True),
        _parameter("#results", "results", results, required=False),
        _action(manifest, seal, run, [frozen, *sources], results),
        *sources,
        *parts,
    ]
    return {"@context": _CONTEXT, "@graph": graph}


def _descriptor() -> Entity:
    conforms = ("https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0")
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [{"@id": identifier} for identifier in conforms],
    }


def _root(manifest: Manifest, seal: Seal, run: Run, parts: list[Entity]) -> Entity:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"CommCanary campaign {manifest.campaign}",
        "description": manifest.config.get("title") or f"Results of the campaign {manifest.campaign}",
        "identifier": seal.merkle_root,
        "datePublished": run.ended,
        "license": {"@id": run.license},
        "conformsTo": [{"@id": identifier} for identifier, _, _ in _PROFILES],
        "mainEntity": {"@id": WORKFLOW},
        "mentions": {"@id": "#run"},
        "hasPart": [{"@id": WORKFLOW}, *({"@id": part["@id"]} for part in parts)],
    }


def _workflow(manifest: Manifest) -> Entity:
    return {
        "@id": WORKFLOW,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "CommCanary campaign",
        "version": manifest.package_version,
        "programmingLanguage": {"@id": "#snakemake"},
        "sha256": manifest.code.workflow or "",
        "input": {"@id": "#manifest"},
        "output": {"@id": "#results"},
    }


def _parameter(identifier: str, name: str, examples: list[Entity], *, required: bool) -> Entity:
    return {
        "@id": identifier,
        "@type": "FormalParameter",
        "additionalType": "File",
        "conformsTo": {"@id": _PARAMETER},
        "name": name,
        "valueRequired": required,
        "workExample": [{"@id": entity["@id"]} for entity in examples],
    }


def _action(manifest: Manifest, seal: Seal, run: Run, inputs: list[Entity], results: list[Entity]) -> Entity:
    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"run of the campaign {manifest.campaign}",
        "description": f"sealed with Merkle root {seal.merkle_root}",
        "startTime": run.started,
        "endTime": run.ended,
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "instrument": {"@id": WORKFLOW},
        "object": [{"@id": entity["@id"]} for entity in inputs],
        "result": [{"@id": entity["@id"]} for entity in results],
    }


def _source(number: int, file: Any) -> Entity:
    """A source file, which is named but not in the crate."""
    return {
        "@id": f"#source-{number}",
        "@type": "CreativeWork",
        "name": file.name,
        "description": f"source of workload {file.workload}; not in the crate",
        "contentSize": str(file.bytes),
        "sha256": file.sha256,
    }


def _result(file: SealedFile) -> Entity:
    own = {"contentSize": str(file.bytes), "sha256": file.sha256, "exampleOfWork": {"@id": "#results"}}
    return {**_file(file.path), **own}


def _file(path: str) -> Entity:
    suffix = path[path.rfind(".") :]
    return {"@id": path, "@type": "File", "name": path, "encodingFormat": _MEDIA.get(suffix, "text/plain")}
