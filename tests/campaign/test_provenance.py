"""The code digest covers what a stage imports, and nothing else."""

from __future__ import annotations

from commcanary.campaign.provenance import code_digest, code_digests, imported_modules, reached_modules


def test_a_stage_reaches_the_kernels_that_are_loaded_by_name() -> None:
    reached = reached_modules("commcanary.stages.replay")
    assert "commcanary.replay.scheduler_v4" in reached
    assert "commcanary.replay.metrics" in reached


def test_a_stage_does_not_reach_rooms_it_has_no_use_for() -> None:
    reached = reached_modules("commcanary.stages.replay")
    assert not any(
        name.startswith(("commcanary.reporting", "commcanary.cli", "commcanary.sources")) for name in reached
    )


def test_imports_inside_functions_count() -> None:
    assert "commcanary.artifacts.trace_table" in imported_modules("commcanary.artifacts.trace")


def test_digests_are_hex_and_differ_between_stages() -> None:
    compiled, replayed = code_digest("commcanary.stages.compile"), code_digest("commcanary.stages.replay")
    assert compiled != replayed
    assert {len(compiled), len(replayed), len(code_digests().src), len(str(code_digests().workflow))} == {64}
