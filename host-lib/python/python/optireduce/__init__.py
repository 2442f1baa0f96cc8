"""All-reduce with a deadline, for data-parallel training on networks with bad tail latency.

    import numpy, optireduce

    with optireduce.Communicator.from_env() as communicator:    # torchrun, mpirun or Slurm says which rank this is
        bucket = communicator.bucket(1_000_000)                  # all ranks declare the same buckets
        gradient = numpy.zeros(1_000_000, "float32")
        report = bucket.all_reduce(gradient)                     # now the mean, in place
        if report.action == "apply":
            ...                                                  # the optimizer's step

For PyTorch, `import optireduce.torch`: a backend of torch.distributed, and a communication hook for DDP.
"""

from ._optireduce import Bucket, Communicator, PartialReduce, Request, TwoLevel, TwoLevelBucket, __version__
from .errors import (
    ArgumentError,
    ClosedError,
    ConnectionError,
    DroppedError,
    ForkedError,
    HaltError,
    MismatchError,
    OptiReduceError,
    PeerError,
    TimeoutError,
)
from .report import PartialReport, Report, Settled, StageReport

__all__ = [
    "ArgumentError",
    "Bucket",
    "ClosedError",
    "Communicator",
    "ConnectionError",
    "DroppedError",
    "ForkedError",
    "HaltError",
    "MismatchError",
    "OptiReduceError",
    "PartialReduce",
    "PartialReport",
    "PeerError",
    "Report",
    "Request",
    "Settled",
    "StageReport",
    "TimeoutError",
    "TwoLevel",
    "TwoLevelBucket",
    "__version__",
]
