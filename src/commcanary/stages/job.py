"""What a workflow job wraps around its stage: a log file, and refusals as one line instead of a traceback."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.campaign.links import own_place
from commcanary.errors import CommCanaryError
from commcanary.stages.configured import as_configured

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def job_log(path: str) -> Iterator[None]:
    """Send what the stage prints to the log at ``path``; end the process with the refusal's exit code.

    A refusal speaks of the configuration's keys, for jobs are a campaign's and have no options.

    The last line is "done", or says what failed; a log without one is of a job that was killed. The engine
    shows it for failed jobs.
    """
    log = Path(path)
    try:
        own_place(_holder(log), log)
    except CommCanaryError as error:  # where there is no log to say it in
        print(f"commcanary: {error}", file=sys.stderr, flush=True)
        sys.exit(error.exit_code)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as stream, redirect_stdout(stream), redirect_stderr(stream):
        try:
            yield
        except CommCanaryError as error:
            print(f"commcanary: {as_configured(str(error))}", file=stream, flush=True)
            sys.exit(error.exit_code)
        except Exception:
            traceback.print_exc(file=stream)
            raise
        print("done", file=stream)


def _holder(log: Path) -> Path:
    """The folder that the log belongs to, which may be a link: ``results/NAME`` for ``results/NAME/logs/RULE/...``."""
    return next((folder.parent for folder in log.parents if folder.name == "logs"), log.parent)
