"""PyTorch profiler (Kineto) files -> Trace: NCCL jobs through ``record_param_comms``, CPU jobs through ``c10d::``."""
