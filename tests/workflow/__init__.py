"""Tests of the workflow, run as a user runs it."""
