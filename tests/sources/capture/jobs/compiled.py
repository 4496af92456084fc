"""A compiled function with a functional collective and a plain one in its graph; argument: the backend."""

import os
import sys

import torch
import torch._dynamo
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol

dist.init_process_group("gloo")


def step(values: torch.Tensor) -> torch.Tensor:
    total = funcol.all_reduce(values * 2, "sum", dist.group.WORLD)
    plain = total + 1
    dist.all_reduce(plain)
    return plain.sin()


values = torch.arange(256, dtype=torch.float32) + dist.get_rank()
said = torch._dynamo.explain(step)(values)
compiled = torch.compile(step, backend=sys.argv[1], fullgraph=True)
results = [compiled(values), compiled(values)]
same = all(torch.allclose(step(values), result) for result in results)
if dist.get_rank() == 0:
    calls = sorted(
        {str(node.target) for graph in said.graphs for node in graph.graph.nodes if "c10d" in str(node.target)}
    )
    print("digest", said.graph_break_count, said.graph_count, same, calls)
dist.destroy_process_group()
# PyTorch's own threads abort the interpreter's end now and then ("terminate called without an active exception")
sys.stdout.flush()
os._exit(0)
