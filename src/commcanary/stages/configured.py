"""Settings that come from a campaign's configuration: a wrong one is the file's fault, and is set right there."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY_OF_OPTION = {
    "--against": "against",
    "--assume": "assume",
    "--assume-all-ranks-captured": "assume_all_ranks_captured: true",
    "--assume-default-group": "assume_default_group: true",
    "--assume-shared-clock": "clock: shared",
    "--clock-offset-us": "clock_offsets_us",
    "--correctness": "correctness",
    "--device": "device",
    "--dtype": "param_dtype",
    "--estimate-clock": "clock: estimate",
    "--events": "events",
    "--groups": "groups",
    "--ignore-kernel": "ignore_kernels",
    "--phase-anchor": "phase_anchors",
    "--process-group": "process_group",
    "--quantum-us": "quantum_us",
    "--range": "ranges",
    "--rank": "ranks",
    "--repeat": "repeat",
    "--seed": "seed",
    "--skip-unsupported": "param_skip_unsupported: true",
    "--timing-sample-limit": "timing_sample_limit",
    "--trim": "trim_s",
    "--world-size": "world_size",
}
"""What a campaign's configuration writes for an option of a command."""

_ASSUMED = re.compile(r"--assume (?P<field>[a-z_]+)=(?P<value>[A-Z]+|[-+.0-9e]+)")
_IMPORT = re.compile(r"\bimport-[a-z-]+ (?=--)")
_OPTION = re.compile(r"--[a-z][a-z-]*[a-z]")


def as_configured(said: str) -> str:
    """``said`` of a command's options, in a campaign's words: the keys of its configuration.

    Options that a campaign has no key for stay as they are.
    """
    said = _IMPORT.sub("", said)
    said = _ASSUMED.sub(r"assume: {\g<field>: \g<value>}", said)
    return _OPTION.sub(lambda found: _KEY_OF_OPTION.get(found[0], found[0]), said)


@contextmanager
def configured(place: str) -> Iterator[None]:
    """Turn what is refused as a wrong option into a refusal of the configuration at ``place``, by its key."""
    try:
        yield
    except UsageError as error:
        raise InputRefusal(place, as_configured(str(error)), "correct it in the campaign's configuration") from error
