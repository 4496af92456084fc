"""What a Workflow Run RO-Crate MUST be, a rule each, in own words after the four published texts.

RO-Crate 1.1, Process Run Crate 0.5, Workflow Run Crate 0.5 (researchobject.org) and Workflow RO-Crate 1.0
(about.workflowhub.eu). Each rule comes with a change that breaks it, so that none holds of anything whatever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

METADATA = "ro-crate-metadata.json"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROCESS, WORKFLOW = "https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5"
_SOFTWARE = {"SoftwareApplication", "SoftwareSourceCode", "ComputationalWorkflow"}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?(Z|[+-]\d{2}:\d{2}))?")
_TERMS = (
    r"about|actionStatus|additionalType|affiliation|agent|author|conformsTo|contentSize|datePublished|description|"
    r"encodingFormat|endTime|exampleOfWork|hasPart|identifier|input|instrument|license|mainEntity|mentions|name|object|"
    r"output|programmingLanguage|publisher|result|startTime|url|valueRequired|version|workExample"
)
"""Properties that the context of RO-Crate 1.1 defines; ``sha256`` is defined by that of workflow runs."""


@dataclass
class Crate:
    """A crate as it was read: the names in its archive and the document of its metadata file."""

    names: set[str]
    document: dict[str, Any]

    @property
    def graph(self) -> list[dict[str, Any]]:
        return list(self.document["@graph"])

    def entity(self, identifier: str) -> dict[str, Any]:
        """The entity of that id; empty where there is none."""
        return next((entity for entity in self.graph if entity["@id"] == identifier), {})

    def of_type(self, name: str) -> list[dict[str, Any]]:
        return [entity for entity in self.graph if name in types(entity)]

    @property
    def root(self) -> dict[str, Any]:
        return self.entity((ids(self.entity(METADATA).get("about")) or [""])[0])

    @property
    def workflow(self) -> dict[str, Any]:
        return self.entity((ids(self.root.get("mainEntity")) or [""])[0])

    def targets(self, entity: dict[str, Any], *properties: str) -> list[dict[str, Any]]:
        return [self.entity(i) for name in properties for i in ids(entity.get(name))]


def types(entity: dict[str, Any]) -> list[str]:
    found = entity.get("@type", [])
    return [found] if isinstance(found, str) else list(found)


def ids(value: Any) -> list[str]:
    """The ids that a property's value refers to."""
    return [one["@id"] for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _flat(value: Any) -> bool:
    if isinstance(value, list):
        return all(_flat(one) for one in value)
    return set(value) == {"@id"} if isinstance(value, dict) else isinstance(value, str | int | float | bool)


def _parts(crate: Crate) -> Iterator[str]:
    waiting, seen = ids(crate.root.get("hasPart")), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += ids(crate.entity(name).get("hasPart"))


def _declares(crate: Crate, profile: str) -> bool:
    return any(
        e.get("@id") == profile and types(e) == ["CreativeWork"] for e in crate.targets(crate.root, "conformsTo")
    )


def _slots_are_kept(crate: Crate) -> bool:
    """What realizes a parameter is an input of the run where the parameter is an input, a result where an output."""
    action = crate.of_type("CreateAction")[0]
    sides = (("input", "object"), ("output", "result"))
    allowed = {(slot, i) for side, end in sides for slot in ids(crate.workflow.get(side)) for i in ids(action.get(end))}
    return all((slot, e["@id"]) in allowed for e in crate.graph for slot in ids(e.get("exampleOfWork")))


@dataclass(frozen=True)
class Rule:
    text: str
    holds: Callable[[Crate], bool]
    breaks: Callable[[Crate], object]


def _without(identifier: str, key: str) -> Callable[[Crate], object]:
    return lambda crate: crate.entity(identifier).pop(key)


def _with(identifier: str, **properties: Any) -> Callable[[Crate], object]:
    return lambda crate: crate.entity(identifier).update(properties)


RULES = (
    Rule("the metadata file lies at the root", lambda c: METADATA in c.names, lambda c: c.names.remove(METADATA)),
    Rule(
        "the context of RO-Crate 1.1 is used by reference",
        lambda c: f"{SPECIFICATION}/context" in c.document["@context"],
        lambda c: c.document.update({"@context": {}}),
    ),
    Rule(
        "every term is defined by a context",
        lambda c: (
            all(re.fullmatch(f"@id|@type|sha256|{_TERMS}", key) for entity in c.graph for key in entity)
            and "https://w3id.org/ro/terms/workflow-run/context" in c.document["@context"]
        ),
        lambda c: c.document["@context"].pop(),
    ),
    Rule(
        "the graph is flat",
        lambda c: all(_flat(value) for entity in c.graph for value in entity.values()),
        _with("./", author={"@type": "Person", "name": "nested"}),
    ),
    Rule(
        "no two entities have one id",
        lambda c: len({entity["@id"] for entity in c.graph}) == len(c.graph),
        lambda c: c.document["@graph"].append({"@id": "#run", "@type": "Thing"}),
    ),
    Rule(
        "the descriptor is a CreativeWork",
        lambda c: types(c.entity(METADATA)) == ["CreativeWork"],
        _with(METADATA, **{"@type": "File"}),
    ),
    Rule("the descriptor is about the root", lambda c: bool(c.root), _without(METADATA, "about")),
    Rule(
        "the descriptor conforms to RO-Crate 1.1",
        lambda c: SPECIFICATION in ids(c.entity(METADATA).get("conformsTo")),
        _without(METADATA, "conformsTo"),
    ),
    Rule(
        "the root's id ends in a slash", lambda c: str(c.root.get("@id", "")).endswith("/"), _with("./", **{"@id": "."})
    ),
    Rule("the root is a Dataset", lambda c: types(c.root) == ["Dataset"], _with("./", **{"@type": "Thing"})),
    Rule("the root has a name", lambda c: bool(c.root.get("name")), _without("./", "name")),
    Rule("the root has a description", lambda c: bool(c.root.get("description")), _without("./", "description")),
    Rule("the root has a licence", lambda c: bool(c.root.get("license")), _without("./", "license")),
    Rule(
        "the root has a date of publication, ISO 8601",
        lambda c: bool(_DATE.fullmatch(c.root.get("datePublished", ""))),
        _with("./", datePublished="yesterday"),
    ),
    Rule(
        "every file is part of the root",
        lambda c: {entity["@id"] for entity in c.of_type("File")} <= set(_parts(c)),
        lambda c: c.root["hasPart"].pop(),
    ),
    Rule(
        "parts of the root are files or folders",
        lambda c: all({"File", "Dataset"} & set(types(entity)) for entity in c.targets(c.root, "hasPart")),
        _with("results/small/seal.json", **{"@type": "CreativeWork"}),
    ),
    Rule(
        "every part is in the archive under its id",
        lambda c: set(_parts(c)) <= c.names,
        lambda c: c.names.remove("workflow/rules/replay.smk"),
    ),
    Rule(
        "a language has name, address and version",
        lambda c: all({"name", "url", "version"} <= set(entity) for entity in c.of_type("ComputerLanguage")),
        lambda c: c.of_type("ComputerLanguage")[0].pop("version"),
    ),
    Rule(
        "a parameter that follows Bioschemas has name, kind and media type",
        lambda c: all({"name", "additionalType", "encodingFormat"} <= set(e) for e in c.of_type("FormalParameter")),
        _without("#results", "encodingFormat"),
    ),
    Rule("the main entity is described", lambda c: bool(c.workflow), _without("./", "mainEntity")),
    Rule(
        "the main workflow is file, source code and workflow",
        lambda c: types(c.workflow) == ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        _with("Snakefile", **{"@type": ["File", "SoftwareSourceCode"]}),
    ),
    Rule("the main workflow has a name", lambda c: bool(c.workflow.get("name")), _without("Snakefile", "name")),
    Rule(
        "the main workflow names its language",
        lambda c: [types(e) for e in c.targets(c.workflow, "programmingLanguage")] == [["ComputerLanguage"]],
        _without("Snakefile", "programmingLanguage"),
    ),
    Rule("the root declares Process Run Crate", lambda c: _declares(c, PROCESS), _without(PROCESS, "@type")),
    Rule("the root declares Workflow Run Crate", lambda c: _declares(c, WORKFLOW), _without("./", "conformsTo")),
    Rule(
        "an action has software as its instrument",
        lambda c: all(
            any(_SOFTWARE & set(types(tool)) for tool in c.targets(action, "instrument"))
            for action in c.of_type("CreateAction")
        ),
        _with("#run", instrument={"@id": "LICENSE"}),
    ),
    Rule(
        "one action ran the main workflow",
        lambda c: [c.targets(a, "instrument") for a in c.of_type("CreateAction")] == [[c.workflow]],
        _with("#run", **{"@type": "Action"}),
    ),
    Rule(
        "inputs and outputs of the workflow are formal parameters",
        lambda c: {*map(str, map(types, c.targets(c.workflow, "input", "output")))} == {"['FormalParameter']"},
        _with("Snakefile", input={"@id": "LICENSE"}),
    ),
    Rule(
        "a formal parameter has a kind",
        lambda c: all(entity.get("additionalType") for entity in c.of_type("FormalParameter")),
        _without("#manifest", "additionalType"),
    ),
    Rule(
        "what realizes a parameter is on its side of the run",
        _slots_are_kept,
        _with("LICENSE", exampleOfWork={"@id": "#manifest"}),
    ),
)
