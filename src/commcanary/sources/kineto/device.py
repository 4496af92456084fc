"""Communication kernels of one rank: which call launched them, and what computed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.intervals import Disjoint
from commcanary.sources.kineto.launches import Launches
from commcanary.sources.kineto.operations import kernel_operation, kernel_reduction
from commcanary.sources.kineto.rank_profile import NO_ID
from commcanary.timeline.covered import Covered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.rank_profile import RankProfile
    from commcanary.timeline.communication_kernels import CommunicationKernels

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CommunicationLane:
    """The rank's communication kernels; ``record`` is the index of the record behind each, -1 unknown.

    ``kernel`` are their indices in the profile's kernels, in order of their starts.
    Times in ns. ``overlap`` is the union of compute kernels of the same device inside each kernel;
    ``compute_before`` the compute time between the device's previous communication kernel and this one.
    ``family`` names the rule of the table that claimed the kernel.
    """

    kernel: Ints
    start: Ints
    end: Ints
    stream: Ints
    record: Ints
    overlap: Ints
    compute_before: Ints
    operation: tuple[str | None, ...]
    reduction: tuple[str | None, ...]
    family: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def durations(self) -> Ints:
        """int64[n]: length of each kernel."""
        return self.end - self.start


def communication_lane(
    profile: RankProfile, table: CommunicationKernels, records: NDArray[np.bool_]
) -> CommunicationLane:
    """The communication kernels of ``profile``, linked to its ``records`` (bool: those that are no duplicates).

    A kernel belongs to the record with its External id where that is an operator's number (old exporters
    wrote the correlation there), else to the record on whose thread and in whose time it was launched.
    """
    names = profile.kernel_names.values
    family_of_name = [table.family(name) for name in names]
    code = profile.kernels.column("code")
    families = [
        family_of_name[c] or (None if shape == NO_ID else "named by its record")
        for c, shape in zip(code.tolist(), profile.kernel_shapes, strict=True)
    ]
    is_communication = np.asarray([family is not None for family in families], np.bool_)
    start, end = profile.kernels.column("start"), profile.kernels.column("end")
    device = np.asarray(profile.kernel_devices, np.int64)
    mine = np.flatnonzero(is_communication)
    mine = mine[np.argsort(start[mine], kind="stable")]
    overlap, before = np.zeros(len(mine), np.int64), np.zeros(len(mine), np.int64)
    for number in np.unique(device[mine]):
        here = np.flatnonzero(device[mine] == number)
        computing = (~is_communication) & (device == number)
        compute = Covered(start[computing], end[computing])
        overlap[here] = compute.within(start[mine][here], end[mine][here])
        previous = np.maximum.accumulate(end[mine][here])
        since = np.concatenate([[start[device == number].min()], previous[:-1]])
        before[here] = compute.within(np.minimum(since, start[mine][here]), start[mine][here])
    return CommunicationLane(
        mine,
        start[mine],
        end[mine],
        profile.kernels.column("thread")[mine],
        _records_behind(profile, mine, records),
        overlap,
        before,
        tuple(kernel_operation(names[code[i]]) for i in mine),
        tuple(kernel_reduction(names[code[i]]) for i in mine),
        tuple(families[i] or "" for i in mine),
    )


def _records_behind(profile: RankProfile, kernels: Ints, records: NDArray[np.bool_]) -> Ints:
    if not len(kernels):
        return np.zeros(0, np.int64)
    by_id = {identity: i for i, identity in enumerate(profile.record_ids) if records[i] and identity != NO_ID}
    result = np.full(len(kernels), -1, np.int64)
    identities = np.frombuffer(profile.kernel_ids, np.int64)[kernels].tolist()
    correlations = np.frombuffer(profile.kernel_correlations, np.int64)[kernels]
    for position, (identity, correlation) in enumerate(zip(identities, correlations.tolist(), strict=True)):
        if identity not in (NO_ID, correlation):
            result[position] = by_id.get(identity, -1)
    rest = np.flatnonzero(result < 0)
    launched = Launches(profile.launches).of(correlations[rest])
    result[rest[launched.known]] = Disjoint(profile.records, records).containing(launched.thread, launched.time)
    return result
