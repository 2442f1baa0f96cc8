"""Exceptions of the package. Messages name the rank, the operation, the value found and the
expected one."""

import builtins

from .report import Report


class OptiReduceError(RuntimeError):
    """Base of all exceptions of the package."""


class ArgumentError(OptiReduceError, ValueError):
    """An argument or setting is invalid. Nothing was changed."""


class UnsupportedError(OptiReduceError):
    """This job does not support the call, or this build the setting. Nothing was changed."""


class OutOfMemoryError(OptiReduceError, builtins.MemoryError):
    """This host, or its container, has too little memory. Nothing was changed."""


class MismatchError(OptiReduceError):
    """Calls, arguments or settings of the ranks differ, or an array of a rank has not the length of its
    bucket. Raised on all ranks with the same text. After a call of a bucket the communicator has
    ended."""


class PeerError(OptiReduceError):
    """A rank is gone, was not reached, or does not read from its connection."""


class TimeoutError(OptiReduceError, builtins.TimeoutError):
    """A rank made no progress within the timeout."""


class DroppedError(OptiReduceError):
    """The other ranks dropped this one; it may return with `Communicator.rejoin`."""


class ClosedError(OptiReduceError):
    """The communicator was closed or aborted."""


class UnsettledError(OptiReduceError):
    """The job has ended, but this replica lacks repaired updates, since a bucket was not settled."""


class ForkedError(ClosedError):
    """This process is a fork of the process that owns the communicator."""


class HaltError(OptiReduceError):
    """Too much was lost in three updates in a row: stop the job. The update is skipped, so the array of
    an all-reduce is zeros. The communicator stays usable."""

    #: Report of the last of them on this rank, if any.
    report: Report | None

    def __init__(self, text: str, report: Report | None = None) -> None:
        super().__init__(text)
        self.report = report
