"""The document of a reconciliation: what several sources counted of one job, side by side."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind

RECONCILIATION_FORMAT = "commcanary.reconciliation.v1"


class Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One source: its trace's content id, its events, the ranks that it saw (null: not said), and what it left out."""

    name: str
    content_id: str
    events: int
    ranks: tuple[int, ...] | None
    left_out: tuple[str, ...]


class CountRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events of one operation, set of ranks and size.

    ``counts`` has an entry for each source, null where it saw none of the ranks. ``closes`` says whether all counts
    that are there are equal; where they are not, ``short`` names the sources with fewer than the most.
    """

    op: str
    ranks: tuple[int, ...]
    bytes: int
    counts: tuple[int | None, ...]
    closes: bool
    short: tuple[str, ...]


class FirstDifference(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The first event on a set of ranks at which two sources differ: ``told`` says what each has there."""

    ranks: tuple[int, ...]
    index: int
    told: tuple[str, ...]


class Reconciliation(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=RECONCILIATION_FORMAT,
):
    """``closes``: every row does. Rows are in order of operation, ranks and bytes, sources as they were given."""

    closes: bool
    sources: tuple[Account, ...]
    rows: tuple[CountRow, ...]
    first_differences: tuple[FirstDifference, ...]


RECONCILIATION = document_kind("reconciliation", RECONCILIATION_FORMAT, Reconciliation)
"""The reconciliation as an artifact kind."""
