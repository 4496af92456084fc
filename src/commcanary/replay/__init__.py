"""Replay models: events and a configuration in, exposed-latency samples out. Models know no files."""
