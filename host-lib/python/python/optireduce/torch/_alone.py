"""Groups of one rank, with the calls of `optireduce.Communicator`, which has at least two ranks."""

from collections.abc import Sequence
from typing import Any


class Ready:
    """A finished request."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def wait(self, timeout: float | None = None) -> Any:
        return self._value

    def test(self) -> bool:
        return True


class Alone:
    """Calls of a group of one rank."""

    def start_all_reduce_exact(self, data: Any, element: str, op: str) -> Ready:
        return Ready(bytes(data))

    def start_reduce_scatter_exact(self, data: Any, element: str, op: str) -> Ready:
        return Ready(bytes(data))

    def start_broadcast_bytes(self, data: Any, root: int) -> Ready:
        return Ready(bytes(data))

    def start_all_gather_bytes(self, data: Any) -> Ready:
        return Ready([bytes(data)])

    def start_gather_bytes(self, data: Any, root: int) -> Ready:
        return Ready([bytes(data)])

    def start_scatter_bytes(self, parts: Sequence[Any], root: int) -> Ready:
        return Ready(bytes(parts[0]))

    def start_all_to_all_bytes(self, parts: Sequence[Any]) -> Ready:
        return Ready([bytes(parts[0])])

    def start_barrier(self) -> Ready:
        return Ready(None)

    def close(self, timeout: float | None = None) -> None:
        pass

    def abort(self) -> None:
        pass
