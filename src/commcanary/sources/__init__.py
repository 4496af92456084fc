"""The outside world turned into traces: one file a format behind one registry."""
