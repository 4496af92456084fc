"""Nsight Systems exports (SQLite) -> Trace: NCCL calls from NVTX payloads, times from the kernels they launched."""
