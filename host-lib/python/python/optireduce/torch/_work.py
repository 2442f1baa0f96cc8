"""Collectives in progress, as torch expects them."""

import contextlib
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .. import TimeoutError

# torch passes 0 or less for calls without a timeout.
NO_TIMEOUT = timedelta(0)
# `c10d::OpType::UNKNOWN`, the type of all works of backends in Python, and of no others.
_OP_UNKNOWN = 100


def seconds_of(timeout: timedelta | None) -> float | None:
    """Returns the timeout of a call of torch in seconds, or None."""
    return timeout.total_seconds() if timeout is not None and timeout > NO_TIMEOUT else None


class Work(dist.Work):
    """A collective in progress. It ends when the tensors hold the result, with an error, or after
    `timeout_s`, if set."""

    def __init__(self, name: str, tensors: list[torch.Tensor], timeout_s: float | None = None) -> None:
        super().__init__()
        self.name = name
        #: Rank, group and name, for errors.
        self.described = name
        self.tensors = tensors
        self.timeout_s = timeout_s
        self._end = None if timeout_s is None else time.monotonic() + timeout_s
        self._done = threading.Event()
        self._error: BaseException | None = None
        #: Completes the future, which runs callbacks of the program. They may wait for other works.
        self.run: Callable[[Callable[[], None]], None] = lambda complete: complete()
        #: Ends the profiler's range, if there is one. It must end before the work: a range that
        #: ends after its profiler writes into memory that the profiler has freed.
        self.recorded: torch.futures.Future[None] | None = None
        self._lock = threading.Lock()
        # Made on request.
        self._ended: torch.futures.Future[None] | None = None
        self._future: torch.futures.Future[list[torch.Tensor]] | None = None

    def prepare(self) -> None:
        """Waits until the tensors may be read."""

    def left_s(self) -> float | None:
        """Returns the remaining time of `timeout_s`."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def timed_out(self) -> TimeoutError:
        return TimeoutError(f"{self.described}: not finished within {self.timeout_s} s, the timeout of this call")

    def finish(self, error: BaseException | None = None) -> None:
        """Ends the work. Called once."""
        if self.recorded is not None:
            self.recorded.set_result(None)
        with self._lock:
            self._error = error
            self._done.set()
            ended = self._ended
        if ended is not None:
            self.run(lambda: ended.set_result(None))

    def _outcome(self, _: torch.futures.Future[None]) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self.tensors

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        """Waits for at most `timeout`; raises the error of the call."""
        given, left = seconds_of(timeout), self.left_s()
        limit = min((one for one in (given, left) if one is not None), default=None)
        with torch.profiler.record_function(f"optireduce::wait({self.name})"):
            finished = self._done.wait(limit)
        if not finished:
            if given is None or (left is not None and left < given):
                raise self.timed_out()
            raise TimeoutError(f"{self.described}: not finished within {given} s; the call continues")
        if self._future is not None:
            # torch's wrapper of this work asks the future for `is_completed`.
            with contextlib.suppress(Exception):
                self._future.wait()
        if self._error is not None:
            raise self._error
        return True

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        with self._lock:
            if self._ended is None or self._future is None:
                self._ended = torch.futures.Future()
                # A callback that raises: C++ takes the argument of `set_exception` for a value.
                self._future = self._ended.then(self._outcome)
                if self._done.is_set():
                    self._ended.set_result(None)
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


def tell_completion() -> None:
    """Fixes `Work.is_completed()` for backends in Python, since torch's wrapper of their works only
    forwards `wait` and `get_future`. Works of other backends are unchanged."""
    asked = dist.Work.is_completed

    def is_completed(work: Any) -> bool:
        if asked(work) or work._get_op_type() != _OP_UNKNOWN:
            return asked(work)
        try:
            return bool(work.get_future().done())
        except RuntimeError:
            # A work without a future.
            return False

    setattr(dist.Work, "is_completed", is_completed)
