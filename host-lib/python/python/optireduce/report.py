"""Outcome of a collective, as one rank saw it."""

from dataclasses import dataclass, field
from typing import Literal

import numpy


@dataclass(frozen=True)
class StageReport:
    """One stage of a collective, over all its windows. Fractions are of the bytes expected from
    peers, 0 to 1."""

    #: Fraction received in time.
    received_fraction: float
    #: Fraction by rank; 1 for this rank.
    received_fraction_per_rank: tuple[float, ...]
    #: Reason of the close; the worst of the windows.
    closed_by: Literal["complete", "early", "deadline"]
    #: Longest time of a window from its start to its close.
    time_ms: float


@dataclass(frozen=True)
class Report:
    """Outcome of a collective: late ranks, losses, and whether the update was applied. `str()`
    returns one line for a log.

    Bytes count values as fp32, in both stages together. On two levels they cover all steps, and the
    stages are the first of the reduce-scatter and the last of the all-gather, in this rank's group.
    """

    #: Number of the collective, the same on all ranks.
    op: int
    kind: Literal["all-reduce", "reduce-scatter", "all-gather", "all-reduce on two levels"]
    bucket: int
    elements: int
    #: Packets expected from peers in both stages, the same number on all ranks.
    packets: int
    #: True if the result contains the update, and for an all-gather. False if more than 10 % was
    #: lost: the result of a reduction is then zeros, and repairs add the update to a later one.
    is_applied: bool
    #: True if all ranks agreed on `is_applied`.
    agreed: bool
    live_ranks: tuple[int, ...]
    #: Ranks less than half of whose contribution arrived in time.
    late_ranks: tuple[int, ...]
    #: True if this rank was late: in some window, its gradient is not in the mean of its shard.
    is_late: bool
    expected_bytes: int
    lost_bytes: int
    #: Bytes with outstanding repairs, in all buckets, by which this replica differs from others.
    outstanding_bytes: int
    #: Bytes whose repair was given up, in all buckets: a permanent replica divergence.
    drift_bytes: int
    #: Elements missing in the result, as pairs of start and end.
    missing_ranges: tuple[tuple[int, int], ...]
    #: Number of NaNs and infinities in the result.
    not_finite: int
    is_hadamard: bool
    #: True if the result includes repairs of earlier results of the bucket.
    is_corrected: bool
    #: Rank that rejoins with this collective and needs the model.
    joined_rank: int | None
    stage_deadline_ms: float
    contribute: StageReport
    broadcast: StageReport
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
    #: True if no repair was outstanding before the timeout.
    is_settled: bool
    outstanding_bytes: int
    #: Bytes of the bucket whose repair was given up: a permanent replica divergence.
    drift_bytes: int


@dataclass(frozen=True)
class PartialReport:
    """Outcome of an average of models, as one rank saw it. `str()` returns one line for a log."""

    #: Number of the group, increasing from group to group of this rank.
    number: int
    #: Ranks of the group, this rank included.
    group: tuple[int, ...]
    #: Weights of their models; the sum is 1.
    weights: tuple[float, ...]
    #: Newest iteration of the members, with which all of them continue.
    iteration: int
    #: True if the group has the full size, or all remaining ranks.
    is_full: bool
    #: Wait for the group, and duration of the average after it.
    waited_ms: float
    took_ms: float
    #: Bytes that did not arrive in time, and the part that was repaired before the mean was used.
    lost_bytes: int
    repaired_bytes: int
    #: Members whose models are incomplete in this rank's part of the mean.
    uncounted_ranks: tuple[int, ...]
    #: Elements without a mean, as pairs of start and end; this rank keeps its own values there.
    missing_ranges: tuple[tuple[int, int], ...]
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text
