"""Reading a campaign's configuration file, and all that its types alone cannot check."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commcanary.campaign.config import CampaignConfig, Workload
from commcanary.campaign.names import (
    TAKEN_IN_CAMPAIGN,
    TAKEN_IN_COMPARISONS,
    TAKEN_IN_RESULTS,
    TAKEN_IN_WORKLOAD,
    free_logs,
    free_name,
    free_names,
)
from commcanary.campaign.source_checks import check_clock, check_readable, check_samples, check_source, check_trim
from commcanary.campaign.study_config import study_files
from commcanary.campaign.value_named import named_value
from commcanary.campaign.workload_sources import files_of
from commcanary.campaign.yaml_text import load_yaml
from commcanary.errors import InputRefusal, Refusal
from commcanary.judge.policy import Policy
from commcanary.judge.reference import MAX_CONFIGURATIONS
from commcanary.judge.thresholds import Thresholds
from commcanary.judge.tolerances import Tolerances
from commcanary.replay.assumptions import ASSUMABLE
from commcanary.replay.configuration import Configuration, Protocol, check_ablations
from commcanary.replay.model import MODELS
from commcanary.targets.param_format import PARAM_DTYPES, param_dtype
from commcanary.units import MAX_TIME_US

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commcanary.campaign.overlap_config import OverlapConfig

BEHAVIOUR_STATUSES = ("behaviorally_verified", "behaviorally_unverified", "failed")


def load_config(path: Path) -> CampaignConfig:
    """The validated configuration at ``path``.

    ``configurations`` may name another YAML file (relative to this one) that holds the list. Raises
    ``InputRefusal`` naming the file, the path of the key, the value and what is allowed.
    """
    try:
        document = load_yaml(path)
        if isinstance(document, dict) and isinstance(document.get("configurations"), str):
            check_readable("configurations", path.parent, document["configurations"])
            document = {**document, "configurations": _listed(path.parent / document["configurations"])}
        return checked_config(document, path.parent)
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__


def checked_config(document: Any, folder: Path | None) -> CampaignConfig:
    """``document`` (plain data) as a configuration, wherever it was read.

    ``folder`` is where its paths start from, None where its files need not be there. Raises ``InputRefusal`` with the
    path of the key, the value and what is allowed.
    """
    _check_ranges(document)
    config = named_value(document, CampaignConfig)
    _check(config, folder)
    return config


def _listed(path: Path) -> Any:
    document = load_yaml(path)
    if not isinstance(document, dict) or set(document) != {"configurations"}:
        raise InputRefusal(
            "top level", "is not a mapping with the one key configurations", "see config/README.md", file=str(path)
        )
    return document["configurations"]


def _check_ranges(document: Any) -> None:
    """Convert the parts that check their own ranges one by one, so that a refusal has the path to them."""
    if not isinstance(document, dict):
        return
    for key, kind in (("thresholds", Thresholds), ("tolerances", Tolerances), ("policy", Policy)):
        if isinstance(document.get(key), dict):
            with _under(key):
                named_value(document[key], kind)
    _check_configurations(document)
    workloads = document.get("workloads")
    for number, workload in enumerate(workloads if isinstance(workloads, list) else []):
        with _under(f"workloads[{number}]"):
            _check_configurations(workload if isinstance(workload, dict) else {})


def _check_configurations(holder: dict[Any, Any]) -> None:
    configurations = holder.get("configurations")
    for number, configuration in enumerate(configurations if isinstance(configurations, list) else []):
        with _under(f"configurations[{number}]"):
            named_value(configuration, Configuration)


def _check(config: CampaignConfig, folder: Path | None) -> None:
    free_name("campaign", config.campaign, TAKEN_IN_RESULTS)
    free_names("workloads", [workload.name for workload in config.workloads], TAKEN_IN_CAMPAIGN)
    free_names("configurations", [c.name for c in config.configurations], TAKEN_IN_COMPARISONS)
    free_names("representations", [r.name for r in config.representations], TAKEN_IN_WORKLOAD)
    _known_model("replay.model", config.replay.model)
    with _under("ablation_costs"):
        check_ablations(config.ablation_costs)
    with _under("replay"):
        Protocol(config.replay.seeds, config.replay.iterations, config.replay.ablations)
    methods: dict[str, str] = {r.name: r.method for r in config.representations}
    for number, workload in enumerate(config.workloads):
        with _under(f"workloads[{number}]"):
            _check_workload(workload, config, folder)
            _check_methods(workload, methods)
    free_logs((w.name, r.name) for w in config.workloads for r in w.representations or config.representations)
    _check_samples(config)
    _check_reconcile(config)
    names = free_names("overlap", [entry.name for entry in config.overlap])
    for number, entry in enumerate(config.overlap):
        with _under(f"overlap[{number}]"):
            _check_overlap(entry, names, folder)
    free_names("overlap_studies", [study.name for study in config.overlap_studies])
    for number, study in enumerate(config.overlap_studies):
        for key, name in study_files(study).items():
            check_readable(f"overlap_studies[{number}].{key}", folder, name)


def _known_model(place: str, name: str) -> None:
    if name not in MODELS:
        raise InputRefusal(place, f"{name!r} is unknown", f"known are {', '.join(MODELS)}")


def _check_workload(workload: Workload, config: CampaignConfig, folder: Path | None) -> None:
    configurations = config.configurations if workload.configurations is None else workload.configurations
    representations = config.representations if workload.representations is None else workload.representations
    if not configurations or not representations:
        raise InputRefusal("configurations", "or representations is an empty list", "leave it out or list one or more")
    if len(configurations) > MAX_CONFIGURATIONS:
        found = f"lists {len(configurations):,} configurations"
        raise InputRefusal("configurations", found, f"at most {MAX_CONFIGURATIONS} are ranked together")
    names = free_names("configurations", [c.name for c in configurations], TAKEN_IN_COMPARISONS)
    kinds = free_names("representations", [r.name for r in representations], TAKEN_IN_WORKLOAD)
    baseline = workload.baseline or config.baseline
    if baseline not in names:
        raise InputRefusal("baseline", f"{baseline!r} is not a configuration", f"known are {', '.join(names)}")
    for number, representation in enumerate(representations):
        if representation.timing_sample_limit is not None and representation.quantum_us is not None:
            place = f"representations[{number}].quantum_us"
            raise InputRefusal(place, "is given beside timing_sample_limit", "choose one of them")
    for representation_name, status in workload.expect.items():
        if representation_name not in kinds:
            known = ", ".join(kinds)
            raise InputRefusal(f"expect.{representation_name}", "is not a representation", f"known are {known}")
        if status not in BEHAVIOUR_STATUSES:
            allowed = ", ".join(BEHAVIOUR_STATUSES)
            raise InputRefusal(f"expect.{representation_name}", f"is {status!r}", f"allowed are {allowed}")
    if workload.model is not None:
        _known_model("model", workload.model)
    if workload.seeds is not None:
        Protocol(workload.seeds)
    for field, value in workload.assume.items():
        if field not in ASSUMABLE:
            raise InputRefusal(f"assume.{field}", "cannot be assumed", f"known are {', '.join(ASSUMABLE)}")
        if not 0 <= value <= MAX_TIME_US:
            raise InputRefusal(f"assume.{field}", f"is {value!r} us", f"give 0 to {MAX_TIME_US:.0f}")
    if workload.param_dtype is not None and param_dtype(workload.param_dtype) is None:
        raise InputRefusal("param_dtype", f"is {workload.param_dtype!r}", f"PARAM knows {', '.join(PARAM_DTYPES)}")
    _check_source(workload, folder)


def _check_samples(config: CampaignConfig) -> None:
    for number, workload in enumerate(config.workloads):
        seeds = config.replay.seeds if workload.seeds is None else workload.seeds
        place = "replay" if workload.seeds is None else f"workloads[{number}].seeds"
        check_samples(place, workload, len(seeds) * config.replay.iterations)
        representations = config.representations if workload.representations is None else workload.representations
        if config.null_calibration is not None and any(r.method == "canary" for r in representations):
            check_samples("null_calibration.seeds", workload, config.null_calibration.seeds)


def _check_source(workload: Workload, folder: Path | None) -> None:
    source = workload.source
    with _under("source"):
        check_source(source)
    for key, name in files_of(source).items():
        check_readable(f"source.{key}", folder, name)


def _check_reconcile(config: CampaignConfig) -> None:
    free_names("reconcile", [entry.name for entry in config.reconcile])
    known = [workload.name for workload in config.workloads]
    for number, entry in enumerate(config.reconcile):
        for position, name in enumerate(entry.workloads):
            place = f"reconcile[{number}].workloads[{position}]"
            if name not in known:
                raise InputRefusal(place, f"{name!r} is not a workload", f"known are {', '.join(known)}")
            if entry.workloads.index(name) < position:
                raise InputRefusal(place, f"{name!r} is named twice", "name each workload once")


def _check_overlap(entry: OverlapConfig, names: Sequence[str], folder: Path | None) -> None:
    for key, name in files_of(entry.source).items():
        check_readable(f"source.{key}", folder, name)
    if entry.against is not None and (entry.against not in names or entry.against == entry.name):
        others = ", ".join(name for name in names if name != entry.name) or "no other entry"
        raise InputRefusal("against", f"{entry.against!r} is no other entry of overlap", f"known are {others}")
    with _under("source"):
        check_clock(entry.source)
    check_trim("trim_s", entry.trim_s)
    anchors = entry.phase_anchors
    patterns = {f"ranges[{number}]": pattern for number, pattern in enumerate(entry.ranges)}
    patterns |= {f"communication_kernels.{family}": pattern for family, pattern in entry.communication_kernels.items()}
    if anchors is not None:
        patterns |= {"phase_anchors.forward": anchors.forward, "phase_anchors.backward": anchors.backward}
    for key, pattern in patterns.items():
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise InputRefusal(key, f"{pattern!r} is no regular expression ({error})", "correct it") from error


def _check_methods(workload: Workload, methods: dict[str, str]) -> None:
    """A representation's name stands for one method in all tables; ``methods`` gains what ``workload`` adds."""
    for number, representation in enumerate(workload.representations or ()):
        method = methods.setdefault(representation.name, representation.method)
        if method != representation.method:
            raise InputRefusal(
                f"representations[{number}].method",
                f"is {representation.method!r} where {representation.name!r} is {method!r} elsewhere in the campaign",
                "give it a name of its own",
            )


@contextmanager
def _under(key: str) -> Iterator[None]:
    """Prefix the place of a refusal with the key that it lies under."""
    try:
        yield
    except Refusal as refusal:
        refusal.place = f"{key}.{refusal.place}" if refusal.place else key
        raise
