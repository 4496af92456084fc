"""Representations that must be able to fail."""
