"""Sends and receives in progress. The thread that waits for one completes it."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch

from .. import OptiReduceError
from ._tensors import from_bytes
from ._work import NO_TIMEOUT, Work, seconds_of


class Transfer(Work):
    """A send, or a receive into a tensor."""

    def __init__(self, name: str, tensor: torch.Tensor, request: Any, run: Callable[[Callable[[], None]], None], receives: bool) -> None:
        super().__init__(name, [tensor])
        self.run, self._request, self._receives = run, request, receives
        self._once = threading.Lock()
        self._waiter: threading.Thread | None = None

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        seconds = seconds_of(timeout)
        # Unless another thread completes it already.
        if self._waiter is None and self._once.acquire(timeout=-1 if seconds is None else seconds):
            try:
                if not self.is_completed():
                    self._complete(seconds)
            finally:
                self._once.release()
        return super().wait(timeout)

    def _complete(self, timeout_s: float | None) -> None:
        try:
            message = self._request.wait(timeout_s)
            if self._receives:
                from_bytes(self.tensors[0], message[1], self.name)
        except BaseException as error:
            # The timeout of this wait, or an exception of a signal's handler: the call continues.
            if not self._has_ended():
                raise
            self.finish(error)
        else:
            self.finish()

    def _has_ended(self) -> bool:
        try:
            return bool(self._request.is_finished())
        except OptiReduceError:
            return True

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        if self._waiter is None and not self.is_completed():
            self._waiter = threading.Thread(target=self._see_to_its_end, name="optireduce-transfer", daemon=True)
            self._waiter.start()
        return super().get_future()

    def _see_to_its_end(self) -> None:
        # A `wait` may hold the lock.
        with self._once:
            if not self.is_completed():
                self._complete(None)
