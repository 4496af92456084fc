"""Config to manifest, cells, receipts, completeness, summary tables and provenance."""
