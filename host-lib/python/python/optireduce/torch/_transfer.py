"""Sends and receives that have begun. They run beside the collectives, and whoever waits for one sees to its end."""

import threading
from datetime import timedelta
from typing import Any

import torch

from .. import TimeoutError
from ._tensors import from_bytes
from ._work import NO_TIMEOUT, Work


class Transfer(Work):
    """A send, or a receive into a tensor."""

    def __init__(self, name: str, tensor: torch.Tensor, request: Any, receives: bool) -> None:
        super().__init__(name, [tensor])
        self._request, self._receives = request, receives
        self._once = threading.Lock()

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        with self._once:
            if not self.is_completed():
                self._complete(timeout.total_seconds() if timeout > NO_TIMEOUT else None)
        return super().wait()

    def _complete(self, timeout_s: float | None) -> None:
        try:
            _, data = self._request.wait(timeout_s)
            if self._receives:
                from_bytes(self.tensors[0], data, self.name)
        except TimeoutError:
            raise
        except BaseException as error:
            self.finish(error)
        else:
            self.finish()

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        threading.Thread(target=self.wait, name="optireduce-transfer", daemon=True).start()
        return super().get_future()
