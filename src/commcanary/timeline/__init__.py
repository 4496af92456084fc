"""Kernel intervals turned into overlap, exposure and dependency windows."""
