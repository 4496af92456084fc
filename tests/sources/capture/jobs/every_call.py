"""Every kind of call once, on any number of ranks; an unmodified script as far as the recorder is concerned."""

import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
data = torch.ones(1024)
dist.all_reduce(data)
time.sleep(0.02)
dist.all_reduce(data, op=dist.ReduceOp.MAX)
work = dist.all_reduce(data, async_op=True)
assert type(work).__module__.startswith("torch")
time.sleep(0.03)
work.wait()
dist.broadcast(data, src=1)
dist.reduce(data, dst=0)
dist.all_gather([torch.empty(8) for _ in range(world)], torch.ones(8))
dist.all_gather_into_tensor(torch.empty(8 * world), torch.ones(8))
dist.reduce_scatter(torch.empty(4), [torch.ones(4) for _ in range(world)])
dist.gather(torch.ones(8), [torch.empty(8) for _ in range(world)] if rank == 0 else None, dst=0)
dist.scatter(torch.empty(8), [torch.ones(8) for _ in range(world)] if rank == 0 else None, src=0)
dist.all_to_all_single(torch.empty(4 * world, dtype=torch.int64), torch.ones(4 * world, dtype=torch.int64))
pair = dist.new_group([0, 1])
if rank == 0:
    dist.send(data, dst=1, tag=3)
    dist.isend(data, dst=1).wait()
elif rank == 1:
    assert dist.recv(data, tag=3) == 0
    dist.irecv(data).wait()
if rank < 2:
    dist.all_reduce(data[:256], group=pair)
dist.barrier()
if "exit" in sys.argv:
    sys.exit(0)
if "raise" in sys.argv and rank == 1:
    raise RuntimeError("a fault of the job")
dist.destroy_process_group()
