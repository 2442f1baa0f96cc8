"""Requests in asyncio, without threads."""

import asyncio
import weakref
from collections.abc import Generator
from typing import Any

from ._optireduce import Bell


class Awaited:
    """Requests that tasks of a loop await."""

    def __init__(self) -> None:
        self._bell = Bell()
        self._requests: dict[asyncio.Future[None], Any] = {}

    async def finish(self, request: Any) -> None:
        """Returns once the request has finished."""
        if request._ring(self._bell):
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if not self._requests:
            loop.add_reader(self._bell.fileno(), self._look)
        self._requests[future] = request
        try:
            await future
        finally:
            del self._requests[future]
            if not self._requests:
                loop.remove_reader(self._bell.fileno())

    def _look(self) -> None:
        self._bell.clear()
        for future, request in self._requests.items():
            if not future.done():
                try:
                    if request._ring(self._bell):
                        future.set_result(None)
                except Exception as error:
                    future.set_exception(error)


_awaited: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Awaited]" = weakref.WeakKeyDictionary()


def await_request(request: Any) -> Generator[Any, None, Any]:
    """Cancelling the task does not cancel the call."""

    async def wait() -> Any:
        loop = asyncio.get_running_loop()
        if loop not in _awaited:
            _awaited[loop] = Awaited()
        await _awaited[loop].finish(request)
        return request.wait()

    return wait().__await__()
