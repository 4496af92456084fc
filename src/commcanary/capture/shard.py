"""Writing a shard: complete under its name, or not there at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_shard(folder: str, name: str, document: dict[str, Any]) -> None:
    """Write ``document`` as JSON to ``folder``/``name``: temporary file, fsync, rename. Raises ``OSError``."""
    handle, name_of_temporary = tempfile.mkstemp(dir=folder, prefix="." + name, suffix=".tmp")
    temporary = Path(name_of_temporary)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(document, stream, separators=(",", ":"))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(Path(folder) / name)
    except BaseException:
        temporary.unlink()
        raise
