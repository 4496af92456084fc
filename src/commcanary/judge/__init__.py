"""Verdicts: statistics, compare, verify-report, verify-source, verify-behavior."""
