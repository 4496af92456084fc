"""What shared options say of what was given."""

from __future__ import annotations

from commcanary.cli.options import assumption_lines


def test_an_assumption_for_a_known_field_is_not_passed_over() -> None:
    given = {"compute_overlap_us": 3.0, "arrival_skew_us": 0.0}
    assert assumption_lines(given, {"arrival_skew_us": 0.0}) == [
        "assumed arrival_skew_us=0.0 where it is unknown",
        "not assumed: compute_overlap_us is known, so 3.0 stands nowhere",
    ]
