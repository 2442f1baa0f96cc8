"""Collectives that have begun, as torch wants them."""

import threading
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .. import TimeoutError

# What torch hands in for "no timeout of its own".
NO_TIMEOUT = timedelta(0)


class Work(dist.Work):
    """A collective that has begun. Done once its result is in the tensors."""

    def __init__(self, name: str, tensors: list[torch.Tensor]) -> None:
        super().__init__()
        self.name = name
        self.tensors = tensors
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._ended: torch.futures.Future[None] = torch.futures.Future()
        # What `set_exception` sets is a value to C++, which takes it for tensors; what a callback raises is an error.
        self._future = self._ended.then(self._outcome)

    def prepare(self) -> None:
        """Waits until the tensors may be read."""

    def finish(self, error: BaseException | None = None) -> None:
        """To be called once, by whoever does the work."""
        self._error = error
        self._done.set()
        self._ended.set_result(None)

    def _outcome(self, _: torch.futures.Future[None]) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self.tensors

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        """Waits, at most for `timeout`; raises what went wrong."""
        with torch.profiler.record_function(f"optireduce::wait({self.name})"):
            finished = self._done.wait(timeout.total_seconds() if timeout > NO_TIMEOUT else None)
        if not finished:
            raise TimeoutError(f"{self.name}: not finished within {timeout.total_seconds()} s; it goes on")
        if self._error is not None:
            raise self._error
        return True

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        return self._future

    def is_completed(self) -> bool:
        return self._done.is_set()

    def is_success(self) -> bool:
        return self._done.is_set() and self._error is None

    def exception(self) -> Any:
        return self._error

    def result(self) -> list[torch.Tensor]:
        return self.tensors

    def synchronize(self) -> None:
        self.wait()


def finished(name: str, tensors: list[torch.Tensor]) -> Work:
    """Work that was done at once."""
    work = Work(name, tensors)
    work.finish()
    return work
