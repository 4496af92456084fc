"""A trace turned into a canary: event program, timing codecs, fidelity, commitments."""
