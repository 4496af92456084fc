"""The closed loop in plain Python, moment by moment: the definition, and the oracle of both kernels.

At every moment all that ends then ends together, ranks go on as far as they can, and then every rate is worked
out anew from what is in flight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from commcanary.replay.grid import whole_ns
from commcanary.replay.schedule import Segment


@dataclass(slots=True, eq=False)
class Collective:
    """One event: what it needs, then what becomes of it. ns; ranks map to their compute before it."""

    index: int
    before_ns: dict[int, int]
    overlap_ns: int
    consumer: int | None
    stream: str
    latency_ns: int
    work_ns: float
    previous: Collective | None = None
    issue: dict[int, int] = field(default_factory=dict)
    caused_by: dict[int, Collective | None] = field(default_factory=dict)
    start: int | None = None
    transferring: bool = False
    completion: int | None = None
    earliest_wait: int | None = None


@dataclass(slots=True, eq=False)
class Rank:
    """Where a rank is in its program. ``doing``: before, overlap, wait, or end."""

    number: int
    program: list[Collective]
    at: int = 0
    doing: str = "reach"
    waiting_for: list[Collective] = field(default_factory=list)
    in_flight: list[Collective] = field(default_factory=list)
    since: int = 0
    busy: int = 0
    exposed: int = 0
    end: int = 0
    cause: Collective | None = None


@dataclass(slots=True, eq=False)
class Activity:
    """Work in progress: a rank's compute, a latency phase or a transfer. Slowness is time per work."""

    owner: Rank | Collective
    remaining: float
    slowness: float = 1.0


@dataclass(slots=True, eq=False)
class Run:
    """The outcome of one run; sample columns in ns, per event in replayed order."""

    exposed: list[int]
    total: list[int]
    queue_wait: list[int]
    skew: list[int]
    rank_wait: list[int]
    makespan: int
    busy: dict[int, int]
    standing: dict[int, int]
    path: list[Segment]


def simulate(program: list[Collective], compute_slowdown: float, transfer_slowdown: float) -> Run:
    """Run ``program`` once from time 0; consumes it."""
    numbers = sorted({rank for one in program for rank in one.before_ns})
    ranks = [Rank(number, [one for one in program if number in one.before_ns]) for number in numbers]
    activities: list[Activity] = []
    now = 0
    while True:
        _settle(program, ranks, activities, now)
        if not activities:
            break
        _set_rates(activities, ranks, compute_slowdown, transfer_slowdown)
        step = min(whole_ns(max(0.0, one.remaining * one.slowness)) for one in activities)
        over = [one for one in activities if whole_ns(max(0.0, one.remaining * one.slowness)) == step]
        now += step
        for one in activities:
            one.remaining -= step / one.slowness
        activities[:] = [one for one in activities if not any(one is ended for ended in over)]
        for one in over:
            _finish(one.owner, activities, ranks, now)
    return _outcome(program, ranks)


def _finish(owner: Rank | Collective, activities: list[Activity], ranks: list[Rank], now: int) -> None:
    if isinstance(owner, Rank):
        owner.busy += now - owner.since
        _compute_ended(owner, now)
    elif not owner.transferring and owner.work_ns > 0:
        owner.transferring = True
        activities.append(Activity(owner, owner.work_ns))
    else:
        owner.transferring = False
        owner.completion = now
        for rank in ranks:
            if owner in rank.in_flight:
                rank.in_flight.remove(owner)


def _compute_ended(rank: Rank, now: int) -> None:
    current = rank.program[rank.at]
    if rank.doing == "before":
        current.issue[rank.number] = now
        current.caused_by[rank.number] = rank.cause
        rank.doing = "issued"
    else:
        rank.doing = "computed"


def _settle(program: list[Collective], ranks: list[Rank], activities: list[Activity], now: int) -> None:
    """Let ranks go on and collectives start until nothing more can happen at this moment."""
    moving = True
    while moving:
        moving = any(_go_on(rank, program, activities, now) for rank in ranks)
        for one in program:
            free = one.previous is None or one.previous.completion is not None
            if one.start is None and free and len(one.issue) == len(one.before_ns):
                one.start = now
                activities.append(Activity(one, float(one.latency_ns)))
                for rank in ranks:
                    if rank.number in one.before_ns:
                        rank.in_flight.append(one)


def _go_on(rank: Rank, program: list[Collective], activities: list[Activity], now: int) -> bool:
    """One step of a rank's program, if it can take one now."""
    if rank.doing == "reach":
        here = rank.program[rank.at].index if rank.at < len(rank.program) else len(program)
        before = rank.program[rank.at - 1].index if rank.at else -1
        _wait(rank, [e for e in rank.program if e.consumer is not None and before < e.consumer <= here], now)
    elif rank.doing == "wait":
        if any(one.completion is None for one in rank.waiting_for):
            return False
        rank.exposed += now - rank.since
        if now > rank.since:
            rank.cause = next(one for one in rank.waiting_for if one.completion == now)
        consumed_at_once = rank.waiting_for and rank.waiting_for[0].consumer is None
        rank.at += bool(consumed_at_once)
        rank.doing = "reach" if consumed_at_once else "ready"
    elif rank.doing == "ready" and rank.at == len(rank.program):
        rank.doing, rank.end = "end", now
    elif rank.doing == "ready":
        _compute(rank, "before", rank.program[rank.at].before_ns[rank.number], activities, now)
    elif rank.doing == "issued":
        _compute(rank, "overlap", rank.program[rank.at].overlap_ns, activities, now)
    elif rank.doing == "computed" and rank.program[rank.at].consumer is None:
        _wait(rank, [rank.program[rank.at]], now)
    elif rank.doing == "computed":
        rank.at += 1
        rank.doing = "reach"
    else:
        return False
    return True


def _wait(rank: Rank, needed: list[Collective], now: int) -> None:
    rank.doing, rank.waiting_for, rank.since = "wait", needed, now
    for one in needed:
        one.earliest_wait = now if one.earliest_wait is None else min(one.earliest_wait, now)


def _compute(rank: Rank, doing: str, work_ns: int, activities: list[Activity], now: int) -> None:
    rank.doing, rank.since = doing, now
    if work_ns:
        activities.append(Activity(rank, float(work_ns)))
    else:
        _compute_ended(rank, now)


def _set_rates(activities: list[Activity], ranks: list[Rank], a: float, b: float) -> None:
    computing = {one.owner.number for one in activities if isinstance(one.owner, Rank)}
    transfers: Counter[int] = Counter()
    for rank in ranks:
        transfers[rank.number] = sum(one.transferring for one in rank.in_flight)
    for one in activities:
        if isinstance(one.owner, Rank):
            one.slowness = 1 + a if one.owner.in_flight else 1.0
        elif one.owner.transferring:
            members = one.owner.before_ns
            beside_compute = any(number in computing for number in members)
            one.slowness = max(transfers[number] for number in members) * (1 + b if beside_compute else 1.0)


def _outcome(program: list[Collective], ranks: list[Rank]) -> Run:
    run = Run([], [], [], [], [], 0, {}, {}, [])
    for one in program:
        issues = one.issue.values()
        assert one.completion is not None
        assert one.start is not None
        assert one.earliest_wait is not None
        run.exposed.append(max(0, one.completion - one.earliest_wait))
        run.total.append(one.completion - min(issues))
        run.queue_wait.append(one.start - max(issues))
        run.skew.append(max(issues) - min(issues))
        run.rank_wait.append(whole_ns(max(issues) - min(issues) - sum(i - min(issues) for i in issues) / len(issues)))
    run.makespan = max((rank.end for rank in ranks), default=0)
    run.busy = {rank.number: rank.busy for rank in ranks}
    run.standing = {rank.number: rank.exposed for rank in ranks}
    run.path = _critical_path(ranks, run.makespan)
    return run


def _critical_path(ranks: list[Rank], makespan: int) -> list[Segment]:
    """Back from the makespan: a rank computes since its last real wait; a collective starts with its last issue."""
    if not ranks:
        return []
    last = next(rank for rank in ranks if rank.end == makespan)
    number, until, cause = last.number, makespan, last.cause
    path: list[Segment] = []
    while True:
        since = 0 if cause is None else cause.completion
        assert since is not None
        path.append(Segment(number, False, until - since))
        while cause is not None:
            assert cause.start is not None
            assert cause.completion is not None
            path.append(Segment(number, True, cause.completion - cause.start))
            if max(cause.issue.values()) == cause.start:
                break
            cause = cause.previous  # only the stream waited
            assert cause is not None
            number = min(cause.before_ns)
        if cause is None:
            return [segment for segment in reversed(path) if segment.ns]
        until = max(cause.issue.values())
        number = min(rank for rank, issue in cause.issue.items() if issue == until)
        cause = cause.caused_by[number]
