"""The document of a source verification."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.judge.checks import Check

SOURCE_VERIFICATION_FORMAT = "commcanary.source_verification.v1"

SOURCE_VERIFIED = "source_verified"
PARTIAL_SOURCE_VERIFIED = "partial_source_verified"
FAILED = "failed"


class SourceVerification(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="format",
    tag=SOURCE_VERIFICATION_FORMAT,
):
    """``status`` is source_verified, partial_source_verified or failed. ``trace`` and ``canary`` are content ids."""

    status: str
    trace: str
    canary: str
    checks: tuple[Check, ...]


SOURCE_VERIFICATION = document_kind("source verification", SOURCE_VERIFICATION_FORMAT, SourceVerification)
"""The source verification as an artifact kind."""
