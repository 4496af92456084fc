"""Starting the workflow engine for one campaign, and resuming it after any kind of end.

One campaign runs at a time in a working directory: the run holds a file lock that the engine's processes
inherit, so it is free exactly when none of them is alive. Then a lock that the engine itself left behind
is stale, and may be removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import commcanary
from commcanary.campaign.cells import reopen
from commcanary.campaign.kernel_cache import kernel_cache
from commcanary.campaign.links import own_place, refuse_links_out
from commcanary.campaign.logs import ENGINE_LOG
from commcanary.errors import Refusal, StorageRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from commcanary.campaign.plan import Plan

LOCK = Path("results/.running")
SCRATCH = "COMMCANARY_SCRATCH"
_RECORDS = Path(".snakemake/campaigns")
"""One empty file for each campaign whose results the engine's records are of; it is lost with them."""
_LOOK_SECONDS = 0.1
_DRY = re.compile(r"--dry-?run|-[Fkpqt]*n[Fkpqt]*")


def repository_root() -> Path:
    """The checkout that holds the Snakefile; raises ``StorageRefusal`` where the package is installed without one."""
    for folder in (Path(commcanary.__file__).parents[2], Path.cwd()):
        if (folder / "Snakefile").is_file() and (folder / "workflow").is_dir():
            return folder
    raise StorageRefusal("Snakefile", "is not beside the package", "run from a checkout of the repository")


def has_records(directory: Path, plan: Plan) -> bool:
    """Whether the engine's records in ``directory`` are of the results of ``plan`` there, or there are none yet.

    Without them (results that were copied or unpacked) it cannot tell whether a result is of this configuration.
    """
    return (directory / _RECORDS / plan.name).is_file() or not (directory / "results" / plan.name).exists()


def note_records(directory: Path, plan: Plan) -> None:
    """Say that the engine's records in ``directory`` are of the results of ``plan``: of all, or of none yet."""
    records = directory / _RECORDS / plan.name
    records.parent.mkdir(parents=True, exist_ok=True)
    records.touch()


def run_engine(
    directory: Path,
    config: Path,
    plan: Plan,
    profile: str,
    arguments: Sequence[str],
    watch: Callable[[str], None],
    *,
    everything: bool,
) -> int:
    """Run the campaign of ``config`` to the end, resuming what an earlier run left; the engine's exit code.

    Cells of ``plan`` whose report was lost or damaged are made again; with ``everything`` every job runs, and cells
    whose receipts hold are kept. Results go to ``directory / "results"``; ``profile`` is a folder of the repository's
    ``profiles/``, or any folder; ``arguments`` go to the engine as they are. What the engine logs goes to
    ``ENGINE_LOG`` and, line by line, to ``watch``; what a dry run says, as all that goes to stdout, goes where the
    caller's does. Raises ``Refusal`` where another campaign is running in ``directory``, where the engine would read
    its path as a pattern, and for a link that leads out of the results.
    """
    if "{" in str(directory):
        found = "has a { in its path, which the workflow engine reads as a pattern in its own folder"
        raise Refusal("", found, "run in another folder: sources and configuration may stay", file=str(directory))
    root = repository_root()
    folder = root / "profiles" / profile
    if not folder.is_dir():
        folder = Path(profile).resolve()
    if not (folder / "config.yaml").is_file():
        known = ", ".join(sorted(path.parent.name for path in (root / "profiles").glob("*/config.yaml")))
        raise UsageError(f"--profile {profile}: no such profile; known are {known}")
    base = [sys.executable, "-m", "snakemake", "--snakefile", str(root / "Snakefile")]
    base += ["--configfile", str(config.resolve()), "--workflow-profile", str(folder)]
    own_place(directory / "results", directory / LOCK)
    refuse_links_out(directory / "results" / plan.name)
    with _only_one(directory) as held:
        _remove_stale_lock(directory, base)
        command = [*base, "--rerun-incomplete", *(["--forceall"] if everything else []), *arguments]
        if is_dry_run(arguments):
            return subprocess.run(
                command, cwd=directory, env=engine_environment(directory), pass_fds=(held,), check=False
            ).returncode
        results = directory / "results" / plan.name
        reopen(plan, results)
        if not results.exists():
            note_records(directory, plan)
        with _fresh(own_place(results, results / ENGINE_LOG)) as log:
            engine = subprocess.Popen(
                command, cwd=directory, env=engine_environment(directory), pass_fds=(held,), stderr=log
            )
            try:
                for line in _followed(results / ENGINE_LOG, engine):
                    watch(line)
                return engine.wait()
            except KeyboardInterrupt:
                engine.send_signal(signal.SIGINT)
                engine.wait()
                raise


def is_dry_run(arguments: Sequence[str]) -> bool:
    """Whether the engine's ``arguments`` ask only what would be made; flags of one letter may stand together."""
    return any(_DRY.fullmatch(argument) for argument in arguments)


def _fresh(log: Path) -> BinaryIO:
    """A file, not a pipe: the engine outlives a head that is killed, and its log can be read meanwhile."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("wb")
    except OSError as error:
        raise StorageRefusal("", f"cannot be written ({error.strerror})", "check its rights", file=str(log)) from error


def _followed(log: Path, engine: subprocess.Popen[bytes]) -> Iterator[str]:
    """The lines of ``log`` as they are written, until the engine has ended."""
    rest = ""
    with log.open(encoding="utf-8", errors="replace") as stream:
        ended = False
        while not ended:
            ended = engine.poll() is not None
            *whole, rest = (rest + stream.read()).split("\n")
            yield from whole
            if not ended:
                time.sleep(_LOOK_SECONDS)
    if rest:
        yield rest


def _remove_stale_lock(directory: Path, base: Sequence[str]) -> None:
    """Let the engine remove the lock of a run that was killed; ours says that none is alive."""
    if not any((directory / ".snakemake" / "locks").glob("*")):
        return
    unlocked = subprocess.run(
        [*base, "--unlock", "--cores", "1", "--quiet", "all"],
        cwd=directory,
        env=engine_environment(directory),
        capture_output=True,
        text=True,
        check=False,
    )
    if unlocked.returncode != 0:
        last = (unlocked.stderr.strip().splitlines() or ["no message"])[-1]
        raise Refusal(".snakemake/locks", f"cannot be unlocked ({last})", "remove the folder", file=str(directory))


def engine_environment(directory: Path) -> dict[str, str]:
    """The engine's environment: kernels cached in the scratch folder, one thread for each array library.

    Scratch is what may be lost. It lies with the engine's records, not under the results: those may come from somebody
    else, and compiled kernels are code. ``COMMCANARY_SCRATCH`` names another folder: on a cluster one that each node
    has for itself, where the file system that they share is slow.
    """
    cache = kernel_cache(Path(os.environ.get(SCRATCH, directory / ".snakemake")).resolve())
    return {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1", **os.environ}


@contextmanager
def _only_one(directory: Path) -> Iterator[int]:
    path = directory / LOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StorageRefusal("", f"cannot be written ({error.strerror})", "check its rights", file=str(path)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal(
            "", "another campaign is running here", "wait for it to end, or run in another folder", file=str(path)
        ) from None
    else:
        yield handle
    finally:
        os.close(handle)
