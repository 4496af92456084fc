"""Execution traces (PyTorch's JSON, Chakra's protobuf) -> Trace: operations, sizes and their order, no times."""
