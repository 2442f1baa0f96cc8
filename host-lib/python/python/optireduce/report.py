"""How a collective went, as one rank saw it."""

from dataclasses import dataclass, field
from typing import Literal

import numpy


@dataclass(frozen=True)
class StageReport:
    """One stage of a collective, over all its windows."""

    #: What came of the bytes that peers were to send, 0 to 1.
    received_fraction: float
    #: The same for each rank; 1 for this one.
    received_fraction_per_rank: tuple[float, ...]
    #: Why it closed, worst over the windows.
    closed_by: Literal["complete", "early", "deadline"]
    #: The longest time from its start to its close.
    time_ms: float


@dataclass(frozen=True)
class Report:
    """How a collective went: who was late, what was lost, and what to do with the update. `str()` gives a line for a log.

    Bytes are bytes of fp32, whatever travelled, of both stages together; on two levels of all steps. Its stages are there those in the group, the
    first and the last, with the ranks of the group.
    """

    #: Number of the collective, the same on all ranks.
    op: int
    kind: Literal["all-reduce", "reduce-scatter", "all-gather", "all-reduce on two levels"]
    bucket: int
    elements: int
    #: What comes to a rank from its peers if nothing is lost, of both stages together: the same number for all ranks.
    packets: int
    #: "apply" the update; "skip" it: too much was lost, and the array is unchanged; "halt" the job.
    action: Literal["apply", "skip", "halt"]
    #: Whether all ranks have agreed on the action.
    agreed: bool
    live_ranks: tuple[int, ...]
    #: Ranks of which less than half came in time.
    late_ranks: tuple[int, ...]
    #: Whether this rank was late itself.
    is_late: bool
    expected_bytes: int
    lost_bytes: int
    #: Of all buckets: asked for and not here yet; as long, this replica differs from others.
    outstanding_bytes: int
    #: Of all buckets: given up; this replica differs from others for good.
    drift_bytes: int
    #: Elements that the result lacks: pairs of start and end.
    missing_ranges: tuple[tuple[int, int], ...]
    #: Values of the result that are NaN or infinite.
    not_finite: int
    is_hadamard: bool
    #: Whether the result contains what earlier results of the bucket lacked.
    is_corrected: bool
    #: The rank that takes part again from this collective on.
    joined_rank: int | None
    stage_deadline_ms: float
    contribute: StageReport
    broadcast: StageReport
    text: str = field(repr=False)

    @property
    def loss(self) -> float:
        """The fraction of the bytes that peers were to send and that did not come in time, 0 to 1."""
        return self.lost_bytes / self.expected_bytes if self.expected_bytes else 0.0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Settled:
    """What the results of a bucket lacked in the end."""

    #: To be applied to the model as one more update; None if nothing lacks.
    correction: numpy.ndarray | None
    #: Whether nothing was outstanding any more before the timeout.
    is_settled: bool
    outstanding_bytes: int
    drift_bytes: int


@dataclass(frozen=True)
class PartialReport:
    """Who averaged their models, and how that went, as one rank saw it. `str()` gives a line for a log."""

    #: Number of the group; greater than that of this rank's group before.
    number: int
    #: Its ranks, this one among them.
    group: tuple[int, ...]
    #: How much their models counted; the sum is 1.
    weights: tuple[float, ...]
    #: The newest of the members' iterations, which all of them carry from now on.
    iteration: int
    #: Whether the group has as many members as a group takes, or as there are.
    is_full: bool
    #: How long this rank waited for its group, and how long the average took after that.
    waited_ms: float
    took_ms: float
    #: Bytes that did not come in time, and those of them that were fetched before the mean was used.
    lost_bytes: int
    repaired_bytes: int
    #: Ranks of whose models something does not count in this rank's part of the mean.
    uncounted_ranks: tuple[int, ...]
    #: Elements of which no mean came, pairs of start and end: there the model is as this rank gave it.
    missing_ranges: tuple[tuple[int, int], ...]
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text
