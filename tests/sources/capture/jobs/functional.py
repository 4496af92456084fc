"""Functional collectives, eager, waited for lazily and by hand, and through autograd; rank 0 prints a digest."""

import hashlib
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
alone = [dist.new_group([number]) for number in range(world)][rank]
data = torch.arange(1024, dtype=torch.float32) + rank
results = []

result = funcol.all_reduce(data, "sum", dist.group.WORLD)
time.sleep(0.03)
results.append(result + 1)  # the first use waits
time.sleep(0.02)
result = funcol.all_reduce(data, "max", list(range(world)))
results.append(funcol.wait_tensor(result) * 1)
results.append(funcol.all_gather_single(data[:8].reshape(4, 2), 0, dist.group.WORLD) * 1)
results.append(funcol.reduce_scatter_single(data, "sum", 0, dist.group.WORLD) * 1)
split = [1, 3] if rank == 0 else [1, 1]
received = [1, 1] if rank == 0 else [3, 1]
results.append(funcol.all_to_all_single(data[: sum(split)].clone(), received, split, dist.group.WORLD) * 1)
results.append(funcol.broadcast(data, 1, dist.group.WORLD) * 1)
results.append(funcol.broadcast(data, 0, alone) * 1)  # the source is a rank of the group
several = funcol.all_reduce_coalesced([data[:16].clone(), data[:32].clone()], "sum", dist.group.WORLD)
results += [tensor * 1 for tensor in several]
results.append(funcol.permute_tensor(data, [1, 0], dist.group.WORLD) * 1)
weight = torch.ones(64, requires_grad=True)
funcol.all_gather_single_autograd(weight * 2, 0, dist.group.WORLD).square().sum().backward()
results.append(weight.grad)
dist.all_reduce(data)
results.append(data)
if rank == 0:
    flat = torch.cat([tensor.detach().flatten() for tensor in results])
    print("digest", hashlib.sha256(flat.numpy().tobytes()).hexdigest())
dist.destroy_process_group()
# PyTorch's own threads abort the interpreter's end now and then ("terminate called without an active exception")
sys.stdout.flush()
os._exit(0)
