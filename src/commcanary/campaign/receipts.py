"""Receipts: what a cell's output was made from, so that it is made again only when that changed."""

from __future__ import annotations

import hashlib
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.atomic import write_bytes
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import read_bytes
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.repeated_keys import check_keys
from commcanary.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.replay.configuration import Configuration, Protocol

REPLAY = "replay"
"""The stage whose outputs have receipts."""


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Binds an output to its inputs. ``cell`` alone decides whether it still holds; when, where and in which attempt
    of its job the output was made are for people."""

    cell: str
    stage: str
    inputs: dict[str, str]
    settings: Any
    code: str
    output: str
    output_content_id: str
    output_sha256: str
    when: str
    where: str
    attempt: int


def cell_settings(
    configuration: Configuration, protocol: Protocol, model: str, assumptions: Mapping[str, float]
) -> dict[str, Any]:
    """The settings that a cell's receipt binds its report to."""
    settings = {
        "configuration": configuration,
        "protocol": protocol,
        "model": model,
        "assumptions": dict(assumptions),
    }
    plain: dict[str, Any] = msgspec.to_builtins(settings)
    return plain


def cell_id(stage: str, inputs: dict[str, str], settings: Any, code: str) -> str:
    """Hex digest of what a cell is made from: input content ids, settings and the stage's code."""
    return hashlib.sha256(canonical_json([stage, inputs, settings, code])).hexdigest()


def receipt_path(output: Path) -> Path:
    """Where the receipt of ``output`` lies."""
    return output.with_name(output.name + ".receipt.json")


def write_receipt(
    output: Path, content_id: str, *, stage: str, inputs: dict[str, str], settings: Any, code: str, attempt: int
) -> Receipt:
    """Write the receipt of ``output``, which must have been written already."""
    receipt = Receipt(
        cell=cell_id(stage, inputs, settings, code),
        stage=stage,
        inputs=inputs,
        settings=msgspec.to_builtins(settings),
        code=code,
        output=output.name,
        output_content_id=content_id,
        output_sha256=file_sha256(output),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        where=platform.node(),
        attempt=attempt,
    )
    write_bytes(receipt_path(output), canonical_json(receipt) + b"\n")
    return receipt


def held_receipt(output: Path, cell: str) -> Receipt | None:
    """The receipt of ``output`` if it is for ``cell`` and the file is still the one that it names, else None."""
    receipt = read_receipt(output)
    try:
        if receipt is not None and receipt.cell == cell and receipt.output_sha256 == file_sha256(output):
            return receipt
    except Refusal:
        return None
    return None


def read_receipt(output: Path) -> Receipt | None:
    """The receipt of ``output``, None where there is no readable one."""
    try:
        data = read_bytes(receipt_path(output))
        receipt = decode(data, Receipt)
        check_keys(data)
    except Refusal:
        return None
    return receipt


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes; raises ``StorageRefusal`` where it cannot be read."""
    return hashlib.sha256(read_bytes(path)).hexdigest()
