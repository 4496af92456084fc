"""Stating a canary's own size inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.canary_exchange import exchange_size, timing_size

if TYPE_CHECKING:
    import pyarrow as pa

    from commcanary.artifacts.canary import CanaryHeader

_WINDOW = 16


def with_compiler(header: CanaryHeader, **changes: Any) -> CanaryHeader:
    """The header with some of its compiler fields changed."""
    return msgspec.structs.replace(header, compiler=msgspec.structs.replace(header.compiler, **changes))


def with_stated_size(header: CanaryHeader, table: pa.Table) -> CanaryHeader:
    """The header stating the bytes of its own canonical exchange JSON and the ratio to the source's.

    The statement is part of the text it measures, so the number is searched for. Where the ratio's digits
    leave none, it gets fewer decimals: with a ratio of constant length there always is one.
    """
    timing = timing_size(table)

    def stated(size: int, decimals: int) -> CanaryHeader:
        ratio = round(header.compiler.source_bytes / size, decimals)
        search = header.compiler.behavior_search
        if search is not None:
            search = msgspec.structs.replace(search, selected_canary_bytes_without_search_metadata=size)
        return with_compiler(header, canary_bytes=size, byte_compression_ratio=ratio, behavior_search=search)

    for decimals in (3, 2, 1, 0):
        guess = exchange_size(stated(header.compiler.source_bytes, decimals), timing)
        for size in range(guess - _WINDOW, guess + _WINDOW):
            candidate = stated(size, decimals)
            if exchange_size(candidate, timing) == size:
                return candidate
    raise AssertionError("no self-consistent size")
