"""Overhead of the recorder on collectives of 1 MB: two gloo ranks that call with and without it, in random order.

    python benchmarks/capture.py [--python INTERPRETER] [--calls 700]

``--python`` is an interpreter with PyTorch. Whole processes scatter by far more than the recorder costs, so that
both ways run in one process under ``commcanary capture --auto``: the recorded function, and the one that it wraps.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ELEMENTS = 1 << 18
"""1 MB of float32."""

WARM_UP = 20


def job(calls: int) -> None:
    """One rank: pairs of single calls and of loops of 50, medians told by rank 0."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives  # registers its operators, and the recorder in front of them

    dist.init_process_group("gloo")
    data, group = torch.zeros(ELEMENTS), dist.group.WORLD.group_name
    reduced = torch.ops._c10d_functional.all_reduce_.default._op_dk
    waited = torch.ops._c10d_functional.wait_tensor.default._op_dk

    def functional(key: object) -> Callable[[], object]:
        return lambda: waited(key, reduced(key, data, "sum", group))

    keys = torch._C.DispatchKey
    ways: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "all_reduce": (lambda: dist.all_reduce.__wrapped__(data), lambda: dist.all_reduce(data)),
        "functional all_reduce_": (functional(keys.CompositeExplicitAutograd), functional(keys.CPU)),
    }
    for name, pair in ways.items():
        for inner, repeats in ((1, calls), (50, max(1, calls // 50))):
            plain, recorded = timed(pair, inner, repeats)
            if dist.get_rank() == 0:
                ratio = statistics.median(after / before for before, after in zip(plain, recorded, strict=True))
                print(
                    f"{name}, {repeats} pairs of {inner}: without {statistics.median(plain):.0f} us, "
                    f"with {statistics.median(recorded):.0f} us, median of the pairs' ratios {ratio:.3f}",
                    flush=True,
                )
    dist.destroy_process_group()


def timed(
    pair: tuple[Callable[[], object], Callable[[], object]], inner: int, repeats: int
) -> tuple[list[float], list[float]]:
    """Microseconds a call of both ways, ``repeats`` times a loop of ``inner`` calls, each pair in random order."""
    order = random.Random(5)  # the same on all ranks
    for _ in range(WARM_UP):
        for way in pair:
            way()
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for which in order.sample((0, 1), 2):
            started = time.perf_counter()
            for _ in range(inner):
                pair[which]()
            found[which].append((time.perf_counter() - started) / inner * 1e6)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--calls", type=int, default=700)
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job(options.calls)
        return
    launcher = [options.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*launcher, __file__, "--job", "--calls", str(options.calls)]
    main_module = "from commcanary.cli.main import main; main()"
    with tempfile.TemporaryDirectory() as folder:
        capture = [sys.executable, "-c", main_module, "capture", "-o", f"{folder}/trace.parquet", "--auto", "--"]
        subprocess.run([*capture, *command], check=True)


if __name__ == "__main__":
    main()
