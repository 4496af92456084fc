"""Settings that come from a campaign's configuration: a wrong one is the file's fault."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY_OF_OPTION = {
    "--clock-offset-us": "clock_offsets_us",
    "--rank": "ranks",
    "--range": "ranges",
    "--trim": "trim_s",
    "--world-size": "world_size",
}


@contextmanager
def configured(place: str) -> Iterator[None]:
    """Turn what is refused as a wrong option into a refusal of the configuration at ``place``, by its key."""
    try:
        yield
    except UsageError as error:
        said = str(error)
        for option, key in _KEY_OF_OPTION.items():
            said = said.replace(option, key)
        raise InputRefusal(place, said, "correct it in the campaign's configuration") from error
