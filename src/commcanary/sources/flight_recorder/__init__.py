"""Dumps of PyTorch's Flight Recorder (JSON, pickle) -> Trace: the last calls of each rank, as the host issued them."""
