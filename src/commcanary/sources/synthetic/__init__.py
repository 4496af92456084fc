"""Seeded traces made by rule: demonstrations, benchmarks and oracles, never measurements."""
