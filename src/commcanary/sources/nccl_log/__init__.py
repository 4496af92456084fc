"""NCCL's debug logs -> Trace: the calls of each process in the order in which the host enqueued them."""
