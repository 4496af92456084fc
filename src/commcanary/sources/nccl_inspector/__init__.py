"""JSON lines of NCCL's Inspector plugin -> Trace: what it recorded of each communicator."""
