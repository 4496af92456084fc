"""The locked environment of a checkout: the lock file's digest and what it pins."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

import commcanary
from commcanary.artifacts.files import read_bytes
from commcanary.campaign.receipts import file_sha256

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


class Environment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hex SHA-256 of ``requirements.lock``, and package -> version; several where the lock tells platforms apart."""

    lock_sha256: str
    packages: dict[str, str]


def locked_environment() -> Environment | None:
    """The environment that the lock beside this package pins, None where it is installed without one."""
    lock = Path(commcanary.__file__).parents[2] / "requirements.lock"
    if not lock.is_file():
        return None
    versions: dict[str, list[str]] = {}
    for name, version in _PIN.findall(read_bytes(lock).decode()):
        versions.setdefault(name.lower(), []).append(version)
    return Environment(file_sha256(lock), {name: ", ".join(sorted(found)) for name, found in versions.items()})
