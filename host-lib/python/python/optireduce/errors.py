"""Exceptions of the package. Each message names the rank, the operation, what was found and what was expected."""

import builtins


class OptiReduceError(RuntimeError):
    """A call failed. The base of all others."""


class ArgumentError(OptiReduceError, ValueError):
    """An argument or setting cannot be used; nothing was changed."""


class ConnectionError(OptiReduceError, builtins.ConnectionError):
    """The ranks did not come together."""


class MismatchError(OptiReduceError):
    """The ranks call different things, or the same with other arguments or settings; all ranks get it."""


class PeerError(OptiReduceError):
    """A rank is gone, or takes nothing from its connection."""


class TimeoutError(OptiReduceError, builtins.TimeoutError):
    """A rank did not come within the timeout."""


class DroppedError(OptiReduceError):
    """The others go on without this rank: `Communicator.rejoin`."""


class ClosedError(OptiReduceError):
    """The communicator was closed or aborted."""


class ForkedError(ClosedError):
    """The communicator belongs to the process that this one was forked from."""


class HaltError(OptiReduceError):
    """Too much was lost in three collectives in a row: the job is to stop."""
