"""All-reduce with a deadline, for data-parallel training on networks with high tail latency.

    import numpy, optireduce

    with optireduce.Communicator() as communicator:     # rank from torchrun, mpirun or Slurm
        bucket = communicator.bucket(1_000_000)         # all ranks declare the same buckets
        gradient = numpy.zeros(1_000_000, "float32")
        report = bucket.all_reduce(gradient)            # the mean, or zeros if it was skipped
        ...                                             # the optimizer's step
        settled = bucket.settle()      # apply settled.correction as one more update, unless None

`Communicator(world_size=1)` needs no launcher.

For PyTorch, `import optireduce.torch`: a torch.distributed backend and a DDP communication hook.
"""

from ._optireduce import Bucket, Communicator, Exact, PartialReduce, Request, __version__
from ._table import SETTINGS, Setting
from .errors import (
    ArgumentError,
    ClosedError,
    DroppedError,
    ForkedError,
    HaltError,
    MismatchError,
    OptiReduceError,
    OutOfMemoryError,
    PeerError,
    TimeoutError,
    UnsettledError,
    UnsupportedError,
)
from .report import GroupReport, PeerReport, RepairReport, Report, Settled, StageReport

__all__ = [
    "SETTINGS",
    "ArgumentError",
    "Bucket",
    "ClosedError",
    "Communicator",
    "DroppedError",
    "Exact",
    "ForkedError",
    "GroupReport",
    "HaltError",
    "MismatchError",
    "OptiReduceError",
    "OutOfMemoryError",
    "PartialReduce",
    "PeerError",
    "PeerReport",
    "RepairReport",
    "Report",
    "Request",
    "Setting",
    "Settled",
    "StageReport",
    "TimeoutError",
    "UnsettledError",
    "UnsupportedError",
    "__version__",
]
