import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
data = torch.ones(256)
for _ in range(2):
    time.sleep(0.001)
    dist.all_reduce(data)
first = dist.all_reduce(data, async_op=True)
time.sleep(0.002)
second = dist.all_reduce(torch.ones(64), op=dist.ReduceOp.MAX, async_op=True)
time.sleep(0.001)
first.wait()
second.wait()
dist.all_gather([torch.empty(8) for _ in range(world)], torch.ones(8))
if rank == 0:
    dist.send(data, dst=1, tag=3)
else:
    dist.recv(data, tag=3)
dist.barrier()
dist.destroy_process_group()
