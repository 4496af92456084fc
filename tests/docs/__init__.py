"""Tests of what the documentation shows."""
