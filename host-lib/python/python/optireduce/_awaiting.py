"""Requests in asyncio."""

import asyncio
from collections.abc import Generator
from typing import Any


def await_request(request: Any) -> Generator[Any, None, Any]:
    """Waits on a thread of the loop's executor. Cancelling the task does not cancel the call."""

    async def wait() -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, request.wait)

    return wait().__await__()
