"""Outcome of a collective, as one rank saw it."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy

_ClosedBy = Literal["complete", "early", "deadline"]


class PeerReport(NamedTuple):
    """Data of one rank in a stage, in bytes; 0 for this rank and for dropped ranks."""

    rank: int
    expected_bytes: int
    received_bytes: int


@dataclass(frozen=True)
class StageReport:
    """One stage of a collective, over all its windows. Bytes count the data of peers."""

    stage: Literal["contribute", "broadcast"]
    #: Reason of the close; the worst of the windows.
    closed_by: _ClosedBy
    closed_by_window: tuple[_ClosedBy, ...]
    #: Longest time of a window from its start to its close.
    time_ms: float
    expected_bytes: int
    #: Bytes that arrived in time.
    received_bytes: int
    #: Received fraction of the expected bytes, 0 to 1; 1 if nothing was expected.
    received_fraction: float
    #: Data by rank.
    peers: tuple[PeerReport, ...]


@dataclass(frozen=True)
class RepairReport:
    """Bytes of means of a bucket so far: missing = repaired + outstanding + drift."""

    #: Bytes missing when the broadcast stage closed.
    missing_bytes: int
    #: Missing bytes fetched since.
    repaired_bytes: int
    #: Missing bytes still requested.
    outstanding_bytes: int
    #: Missing bytes given up: a permanent replica divergence.
    drift_bytes: int


@dataclass(frozen=True)
class GroupReport:
    """Group of an average of models. The report has its number and ranks."""

    #: Weights of the members' models; the sum is 1.
    weights: tuple[float, ...]
    #: Newest iteration of the members, with which all of them continue.
    iteration: int
    #: True if the group has the full size, or all remaining ranks.
    is_full: bool
    #: Wait for the group, and duration of the average after it.
    waited_ms: float
    took_ms: float
    #: Part of the lost bytes that was repaired before the mean was used.
    repaired_bytes: int
    #: Members whose models are incomplete in this rank's part of the mean.
    uncounted_ranks: tuple[int, ...]
    #: Bytes of their models that are missing there.
    uncounted_bytes: int


@dataclass(frozen=True)
class Report:
    """Outcome of a collective: late ranks, losses, and whether the update was applied. `str()`
    returns one line for a log. Bytes count values as fp32."""

    kind: Literal["all-reduce", "reduce-scatter", "all-gather"]
    #: Number of the collective, or of the group. The same on all ranks that take part.
    number: int
    bucket: int
    elements: int
    #: True if the result contains the update, and for an all-gather. False if more than 10 % was
    #: lost: the result of a reduction is then zeros, and repairs add the update to a later one.
    is_applied: bool
    #: True if all ranks agreed on `is_applied`.
    is_agreed: bool
    #: Ranks that took part.
    ranks: tuple[int, ...]
    #: Ranks less than half of whose contribution arrived in time.
    late_ranks: tuple[int, ...]
    #: True if this rank was late: in some window, its gradient is not in the mean of its shard.
    is_late: bool
    #: Rank that rejoins with this collective and needs the model.
    joined_rank: int | None
    expected_bytes: int
    lost_bytes: int
    #: Elements missing in the result, as pairs of start and end. The average of a group has this
    #: rank's values there.
    missing: tuple[tuple[int, int], ...]
    #: Number of NaNs and infinities in the result.
    not_finite: int
    is_hadamard: bool
    #: True if the result includes repairs of earlier results of the bucket.
    is_corrected: bool
    #: Bytes copied between the caller, the engine and a card.
    copied_bytes: int
    #: Packets expected from peers, the same number on all ranks.
    packets: int
    #: Repairs of the bucket.
    repairs: RepairReport
    #: Bytes with outstanding repairs, in all buckets, by which this replica differs from others.
    outstanding_bytes: int
    #: Bytes whose repair was given up, in all buckets: a permanent replica divergence.
    drift_bytes: int
    #: Bound of each stage of each window.
    bound_ms: float
    #: True while the ranks measure the bound.
    is_bound_measured: bool
    #: True if this collective is the first with a new bound.
    bound_changed: bool
    #: Stages in which ranks exchanged data; none on two levels.
    stages: tuple[StageReport, ...]
    #: On two levels, the reduce-scatter, the all-reduce and the all-gather.
    parts: "tuple[Report, ...]"
    #: Group of a partial reduce.
    group: GroupReport | None
    text: str = field(repr=False)

    @property
    def loss(self) -> float:
        """Fraction of the expected bytes that did not arrive in time, 0 to 1."""
        return self.lost_bytes / self.expected_bytes if self.expected_bytes else 0.0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Settled:
    """Outcome of `settle` for a bucket."""

    #: Repaired values that no result includes yet, or None. Apply it to the model as one more
    #: update.
    correction: numpy.ndarray | None
    #: Start and end of the elements that `correction` covers.
    range: tuple[int, int]
    #: Elements that results and `correction` lack, as pairs of start and end.
    missing: tuple[tuple[int, int], ...]
    #: True if no repair was outstanding before the timeout.
    is_settled: bool
    #: Repairs of the bucket.
    repairs: RepairReport
