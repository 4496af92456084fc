"""A sealed campaign described as a Workflow Run RO-Crate 0.5: one run of one workflow, its inputs and its results.

The profile (w3id.org/ro/wfrun/workflow/0.5) asks for a workflow as the crate's main entity, formal parameters of it,
and one ``CreateAction`` with the workflow as instrument, what went in as ``object`` and what came out as ``result``.
The crate is laid out as a checkout is: the workflow at the top, the campaign in ``results/NAME/``, as it was sealed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.seal import Seal

METADATA, README = "ro-crate-metadata.json", "README.md"
WORKFLOW = "Snakefile"
WORKFLOW_LICENSE = "https://spdx.org/licenses/Apache-2.0"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
_PROFILES = (
    ("https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
_LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_PARAMETER = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
_MEDIA = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".yml": "application/yaml",
}

Entity = dict[str, Any]


@dataclass(frozen=True)
class CrateFile:
    """One file of a crate: path from its root, size in bytes, hex SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Party:
    """A person or an organization: what it is called, and the URL that says which one (ORCID, ROR, home page)."""

    name: str
    url: str


@dataclass(frozen=True)
class Run:
    """When a run's cells were made (ISO 8601), under which licence (URL) its results are given, and by whom.

    ``author`` ran the campaign; ``organization`` is the author's, and publishes. Who is not named stands nowhere.
    """

    started: str
    ended: str
    license: str
    author: Party | None = None
    organization: Party | None = None


@dataclass(frozen=True)
class CrateFiles:
    """What a crate holds beside its description: the sealed results, what lies with them unsealed, and the workflow.

    ``seals`` are the seal's own files and its history, ``times`` the page of run times where there is one.
    """

    readme: CrateFile
    manifest: CrateFile
    results: Sequence[CrateFile]
    seals: Sequence[CrateFile]
    times: Sequence[CrateFile]
    workflow: Sequence[CrateFile]

    @property
    def all(self) -> tuple[CrateFile, ...]:
        """Every file, the order being that of the description."""
        return (self.readme, self.manifest, *self.results, *self.seals, *self.times, *self.workflow)


def results_folder(manifest: Manifest) -> str:
    """Where a crate holds the campaign."""
    return f"results/{manifest.campaign}"


def crate_document(manifest: Manifest, seal: Seal, run: Run, files: CrateFiles) -> Entity:
    """The JSON-LD document of the crate of ``files``."""
    sources = [_source(number, file) for number, file in enumerate(manifest.inputs)]
    frozen = _file(files.manifest, exampleOfWork={"@id": "#manifest"})
    frozen["name"] = "manifest: inputs, configuration, cells and code"
    results = [_file(file, exampleOfWork={"@id": "#results"}) for file in files.results]
    parts = [
        _file(files.readme, about={"@id": "./"}),
        frozen,
        *results,
        *map(_file, files.seals),
        *(_file(file, about={"@id": "#run"}, description="how long jobs took; not sealed") for file in files.times),
        *(_workflow_file(file, manifest) for file in files.workflow),
    ]
    graph: list[Entity] = [
        _descriptor(),
        _root(manifest, seal, run, parts),
        *({"@id": i, "@type": "CreativeWork", "name": n, "version": v} for i, n, v in _PROFILES),
        *_licenses(run),
        *_parties(run),
        _language(manifest),
        _parameter("#manifest", "manifest", "all that the campaign is made from", [frozen], required=True),
        _parameter("#results", "results", "all that the campaign made", results, required=False),
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
    title = manifest.config.get("title") or f"Results of the campaign {manifest.campaign}"
    held = f"{len(manifest.cells)} cells, {len(seal.files)} sealed files with Merkle root {seal.merkle_root}"
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"CommCanary campaign {manifest.campaign}",
        "description": f"{title}: {held}",
        "identifier": seal.merkle_root,
        "datePublished": run.ended,
        "license": {"@id": run.license},
        **_by(run, "author"),
        **({"publisher": {"@id": run.organization.url}} if run.organization else {}),
        "conformsTo": [{"@id": identifier} for identifier, _, _ in _PROFILES],
        "mainEntity": {"@id": WORKFLOW},
        "mentions": {"@id": "#run"},
        "hasPart": _references(parts),
    }


def _licenses(run: Run) -> list[Entity]:
    texts = {WORKFLOW_LICENSE: ("Apache License 2.0", "licence of the workflow")}
    if run.license in texts:
        texts[run.license] = (texts[run.license][0], "licence of the results and of the workflow")
    else:
        texts[run.license] = (run.license, "licence of the results")
    return [
        {"@id": url, "@type": "CreativeWork", "name": name, "description": text, "url": url}
        for url, (name, text) in texts.items()
    ]


def _parties(run: Run) -> list[Entity]:
    found: list[Entity] = []
    if run.author:
        person: Entity = {"@id": run.author.url, "@type": "Person", "name": run.author.name}
        found.append(person | ({"affiliation": {"@id": run.organization.url}} if run.organization else {}))
    if run.organization:
        own = run.organization
        found.append({"@id": own.url, "@type": "Organization", "name": own.name, "url": own.url})
    return found


def _by(run: Run, role: str) -> Entity:
    """``role`` filled with the author, or with the organization where no person is named."""
    party = run.author or run.organization
    return {role: {"@id": party.url}} if party else {}


def _language(manifest: Manifest) -> Entity:
    pinned = manifest.environment.packages.get("snakemake") if manifest.environment else None
    return {
        "@id": _LANGUAGE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
        "url": {"@id": "https://snakemake.readthedocs.io"},
        **({"version": pinned} if pinned else {}),
    }


def _workflow_file(file: CrateFile, manifest: Manifest) -> Entity:
    entity = _file(file, license={"@id": WORKFLOW_LICENSE})
    if file.path != WORKFLOW:
        return entity
    return entity | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "CommCanary campaign",
        "description": "traces compiled into canaries, replayed per configuration, compared and verified",
        "version": manifest.package_version,
        "programmingLanguage": {"@id": _LANGUAGE},
        "input": {"@id": "#manifest"},
        "output": {"@id": "#results"},
    }


def _parameter(identifier: str, name: str, text: str, examples: list[Entity], *, required: bool) -> Entity:
    return {
        "@id": identifier,
        "@type": "FormalParameter",
        "additionalType": "File",
        "conformsTo": {"@id": _PARAMETER},
        "name": name,
        "description": text,
        "encodingFormat": _single(sorted({entity["encodingFormat"] for entity in examples})),
        "valueRequired": required,
        "workExample": _references(examples),
    }


def _action(manifest: Manifest, seal: Seal, run: Run, inputs: list[Entity], results: list[Entity]) -> Entity:
    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"run of the campaign {manifest.campaign}",
        "description": f"sealed with Merkle root {seal.merkle_root}",
        **_by(run, "agent"),
        "startTime": run.started,
        "endTime": run.ended,
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "instrument": {"@id": WORKFLOW},
        "object": _references(inputs),
        "result": _references(results),
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


def _file(file: CrateFile, **more: Any) -> Entity:
    suffix = file.path[file.path.rfind(".") :]
    return {
        "@id": file.path,
        "@type": "File",
        "name": file.path,
        "encodingFormat": _MEDIA.get(suffix, "text/plain"),
        "contentSize": str(file.bytes),
        "sha256": file.sha256,
        **more,
    }


def _references(entities: Iterable[Entity]) -> Any:
    return _single([{"@id": entity["@id"]} for entity in entities])


def _single(values: list[Any]) -> Any:
    """Compact JSON-LD: a list of one is the one."""
    return values[0] if len(values) == 1 else values
