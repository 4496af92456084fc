"""Running a command with the recorder in all its Python processes."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.errors import ChildFailed, InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START_UP = "commcanary.capture.startup.sitecustomize"
INSIDE = (
    "commcanary.capture.torch_calls",
    "commcanary.capture.torch_ddp",
    "commcanary.capture.torch_functional",
)
"""What the start-up module imports in the child by name: named here too, so that the code digest covers it."""


def run_recorded(command: Sequence[str], folder: Path, auto: bool) -> list[Path]:
    """Run ``command`` to its end, with our stdin, stdout and stderr; the shards that it left in ``folder``.

    Only the child's environment is changed. ``auto`` attaches the recorder to torch.distributed; without it
    only ``record_collective`` records. Raises ``InputRefusal`` for a command that cannot be started and
    ``ChildFailed`` for one that ends with an error.
    """
    try:
        child = subprocess.Popen(list(command), env=_environment(folder, auto))
    except OSError as error:
        raise InputRefusal(
            "command", f"{command[0]} cannot be started ({error.strerror})", "give a program and its arguments after --"
        ) from error
    try:
        with _termination_passed_on(child):
            code = child.wait()
    except BaseException:
        child.terminate()  # an interrupt from the keyboard has reached the child as well
        child.wait()
        raise
    if code:
        ended = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise ChildFailed(f"{command[0]} {ended}; no trace is written")
    return shards_in(folder)


@contextmanager
def _termination_passed_on(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """SIGTERM, as schedulers send it, ends the job too: we then see it fail, and no shard or process stays behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def shards_in(folder: Path) -> list[Path]:
    """The complete shards in ``folder``, by name."""
    return sorted(folder.glob("rank*.json"))


def _environment(folder: Path, auto: bool) -> dict[str, str]:
    spec = find_spec(START_UP)
    assert spec is not None  # a module of this package
    assert spec.origin is not None
    path = [str(Path(spec.origin).parent), os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COMMCANARY_CAPTURE_")}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(entry for entry in path if entry),
        "COMMCANARY_CAPTURE_DIR": str(folder.resolve()),
        "COMMCANARY_CAPTURE_SESSION": secrets.token_hex(8),
        **({"COMMCANARY_CAPTURE_AUTO": "1"} if auto else {}),
    }
