"""CommCanary: distil a profile of a distributed job into a canary, replay it, compare it, check it."""

__version__ = "0.1.0"
