"""Where a canary becomes smaller than its trace, said from the rows and not from the picture."""

from __future__ import annotations

from commcanary.reporting.drawings.growth import crossovers, draw_growth
from commcanary.reporting.tables import RepresentationRow


def row(events: int, trace: int, canary: int) -> RepresentationRow:
    fields = dict.fromkeys(RepresentationRow.__struct_fields__)
    fields |= {"workload": f"w{events}", "representation": "lossless", "method": "canary", "source_events": events}
    fields |= {"trace_json_bytes": trace, "canary_json_bytes": canary}
    fields |= {"trace_parquet_bytes": canary, "canary_parquet_bytes": trace}
    return RepresentationRow(**fields)


def test_the_crossover_is_the_first_length_after_the_last_larger_canary() -> None:
    rows = [row(1, 10, 20), row(10, 100, 99), row(5, 50, 60), row(20, 200, 100)]
    assert crossovers(rows) == [
        "lossless in JSON: smaller from 10 events (lengths tried: 4).",
        "lossless in Parquet: never smaller (lengths tried: 4).",
    ]


def test_few_lengths_make_no_picture() -> None:
    assert "fewer than 5 lengths" in draw_growth([row(1, 10, 20), row(2, 20, 10)]).description
