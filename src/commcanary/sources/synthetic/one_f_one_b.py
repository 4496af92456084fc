"""The 1F1B schedule of a pipeline without communication: who computes which microbatch when."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """One forward or backward of one microbatch on one stage; ns."""

    stage: int
    microbatch: int
    forward: bool
    start: int
    end: int


def one_f_one_b(stages: int, microbatches: int, forward_ns: int, backward_ns: int) -> list[list[Task]]:
    """The tasks of each stage in its order.

    Stage s begins with min(m, p - 1 - s) forwards, then alternates forward and backward, then drains. A forward
    needs that of the stage before, a backward that of the stage after. The last task ends at
    (m + p - 1) * (forward + backward), so that a stage stands idle for (p - 1) / (m + p - 1) of the time.
    """
    todo = [_order(stage, stages, microbatches) for stage in range(stages)]
    done: list[list[Task]] = [[] for _ in range(stages)]
    ends: dict[tuple[int, bool, int], int] = {}
    while any(todo):
        for stage in range(stages):
            while todo[stage]:
                forward, microbatch = todo[stage][0]
                source = stage - 1 if forward else stage + 1
                ready = ends.get((source, forward, microbatch)) if 0 <= source < stages else 0
                if ready is None:
                    break
                start = max(ready, done[stage][-1].end if done[stage] else 0)
                end = start + (forward_ns if forward else backward_ns)
                done[stage].append(Task(stage, microbatch, forward, start, end))
                ends[stage, forward, microbatch] = end
                todo[stage].pop(0)
    return done


def _order(stage: int, stages: int, microbatches: int) -> list[tuple[bool, int]]:
    warm = min(microbatches, stages - 1 - stage)
    order = [(True, i) for i in range(warm)]
    for i in range(microbatches - warm):
        order += [(True, warm + i), (False, i)]
    return order + [(False, i) for i in range(microbatches - warm, microbatches)]
