"""Starting the workflow engine for one campaign, and resuming it after any kind of end.

One campaign runs at a time in a working directory: the run holds a file lock that the engine's processes
inherit, so it is free exactly when none of them is alive. Then a lock that the engine itself left behind
is stale, and may be removed.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import commcanary
from commcanary.errors import Refusal, StorageRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOCK = Path("results/.running")


def repository_root() -> Path:
    """The checkout that holds the Snakefile; raises ``StorageRefusal`` where the package is installed without one."""
    for folder in (Path(commcanary.__file__).parents[2], Path.cwd()):
        if (folder / "Snakefile").is_file() and (folder / "workflow").is_dir():
            return folder
    raise StorageRefusal("Snakefile", "is not beside the package", "run from a checkout of the repository")


def run_engine(root: Path, config: Path, profile: str | None, arguments: Sequence[str]) -> int:
    """Run the campaign of ``config`` to the end, resuming what an earlier run left; the engine's exit code.

    Raises ``Refusal`` where another campaign is running in ``root``.
    """
    base = [sys.executable, "-m", "snakemake", "--configfile", str(config.resolve())]
    if profile is not None:
        base += ["--workflow-profile", str(root / "profiles" / profile)]
    with _only_one(root) as held:
        _remove_stale_lock(root, base)
        engine = subprocess.Popen(
            [*base, "--rerun-incomplete", *arguments], cwd=root, env=_environment(root), pass_fds=(held,)
        )
        try:
            return engine.wait()
        except KeyboardInterrupt:
            engine.send_signal(signal.SIGINT)
            engine.wait()
            raise


def _remove_stale_lock(root: Path, base: Sequence[str]) -> None:
    """Let the engine remove the lock of a run that was killed; ours says that none is alive."""
    if not any((root / ".snakemake" / "locks").glob("*")):
        return
    unlocked = subprocess.run(
        [*base, "--unlock", "--cores", "1", "--quiet", "all"],
        cwd=root,
        env=_environment(root),
        capture_output=True,
        text=True,
        check=False,
    )
    if unlocked.returncode != 0:
        last = (unlocked.stderr.strip().splitlines() or ["no message"])[-1]
        raise Refusal(".snakemake/locks", f"cannot be unlocked ({last})", "remove the folder", file=str(root))


def _environment(root: Path) -> dict[str, str]:
    """The engine's environment: kernels cached under the results, one thread for each array library."""
    cache = root / "results" / ".numba"
    return {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1", **os.environ}


@contextmanager
def _only_one(root: Path) -> Iterator[int]:
    path = root / LOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StorageRefusal("", f"cannot be written ({error.strerror})", "check its rights", file=str(path)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal(
            "", "another campaign is running here", "wait for it to end, or run in another checkout", file=str(path)
        ) from None
    else:
        yield handle
    finally:
        os.close(handle)
