"""The summary tables of a campaign: what every column means. Times in us, sizes in bytes."""

from __future__ import annotations

import pyarrow as pa

CELLS = pa.schema(
    [
        ("workload", pa.string()),
        ("representation", pa.string()),
        ("method", pa.string()),
        ("configuration", pa.string()),
        ("baseline", pa.string()),
        ("model", pa.string()),
        ("samples", pa.int64()),
        ("median_us", pa.float64()),
        ("p95_us", pa.float64()),
        ("p99_us", pa.float64()),
        ("max_us", pa.float64()),
        ("mean_us", pa.float64()),
        ("hidden_pct", pa.float64()),
        ("queue_wait_p99_us", pa.float64()),
        # median over the runs; null where the model has no schedule
        ("makespan_us", pa.float64()),
        # null for the baseline itself, which nothing is compared against
        ("verdict", pa.string()),
        ("median_delta_pct", pa.float64()),
        ("p99_delta_pct", pa.float64()),
        ("makespan_delta_pct", pa.float64()),
        ("first_reason", pa.string()),
        ("report", pa.string()),
        ("comparison", pa.string()),
    ]
)
"""One row per cell, in the order of the configuration. Paths count from the campaign's folder."""

REPRESENTATIONS = pa.schema(
    [
        ("workload", pa.string()),
        ("representation", pa.string()),
        ("method", pa.string()),
        ("source_events", pa.int64()),
        ("replayed_events", pa.int64()),
        ("canary_events", pa.int64()),
        ("timing_mode", pa.string()),
        ("trace_json_bytes", pa.int64()),
        ("canary_json_bytes", pa.int64()),
        ("trace_parquet_bytes", pa.int64()),
        ("canary_parquet_bytes", pa.int64()),
        ("status", pa.string()),
        ("expected_status", pa.string()),
        ("source_status", pa.string()),
        ("coverage_status", pa.string()),
        ("behavior_status", pa.string()),
        ("ranking_status", pa.string()),
        ("ranking_agreement", pa.float64()),
        ("kendall_tau_b", pa.float64()),
        # largest latency error in percent of its tolerance; null where a number is missing on one side
        ("worst_error_pct", pa.float64()),
        # configuration decisions of the representation against those of the source
        ("decisions", pa.int64()),
        ("decision_agreement", pa.float64()),
        ("false_positives", pa.int64()),
        ("false_negatives", pa.int64()),
        ("policy_outcome", pa.string()),
        ("policy_reason", pa.string()),
        ("assumptions", pa.string()),
        ("first_failure", pa.string()),
        ("canary", pa.string()),
        ("behavior", pa.string()),
        ("policy", pa.string()),
    ]
)
"""One row per workload and representation. ``status`` is the behaviour verification's, the others its parts."""

EXPORTS = pa.schema(
    [
        ("workload", pa.string()),
        ("representation", pa.string()),
        ("events", pa.int64()),
        ("exported", pa.int64()),
        ("skipped", pa.int64()),
        ("skipped_why", pa.string()),
        ("breaking_consumers", pa.string()),
        ("param", pa.string()),
        ("account", pa.string()),
    ]
)
"""One row per PARAM export."""

NULL_CALIBRATIONS = pa.schema(
    [
        ("workload", pa.string()),
        ("representation", pa.string()),
        ("gate", pa.string()),
        ("configuration", pa.string()),
        ("events", pa.int64()),
        ("seeds", pa.int64()),
        ("trials", pa.int64()),
        ("false_alarms", pa.int64()),
        ("false_alarm_share", pa.float64()),
        ("false_alarm_low", pa.float64()),
        ("false_alarm_high", pa.float64()),
        ("declared_alpha", pa.float64()),
        ("slower_tail_pct", pa.float64()),
        ("caught", pa.int64()),
        ("caught_share", pa.float64()),
        ("caught_low", pa.float64()),
        ("caught_high", pa.float64()),
        ("outcome", pa.string()),
        # stated for the gate with intervals alone
        ("expected_outcome", pa.string()),
        ("calibration", pa.string()),
    ]
)
"""One row per canary and gate (plain, confidence); low and high are ends of 95 % Wilson intervals."""

ABLATIONS = pa.schema(
    [
        ("workload", pa.string()),
        ("ablation", pa.string()),
        ("ranking_agreement", pa.float64()),
        ("kendall_tau_b", pa.float64()),
        ("median_error_pct", pa.float64()),
        ("p95_error_pct", pa.float64()),
        ("p99_error_pct", pa.float64()),
        ("max_error_pct", pa.float64()),
        ("mean_error_pct", pa.float64()),
        ("hidden_error_points", pa.float64()),
        ("failed_checks", pa.int64()),
        ("costs", pa.string()),
    ]
)
"""One row per workload and aspect left out; errors are the largest over the configurations."""
