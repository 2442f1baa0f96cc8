"""Communicators, buckets and requests, in Rust. `help()` shows their full documentation."""

from collections.abc import Generator, Sequence
from os import PathLike
from types import GenericAlias, TracebackType
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

from numpy import ndarray
from typing_extensions import Buffer

from .errors import OptiReduceError
from .report import Report, Settled

__all__ = [
    "SKIPS_HALT", "Bell", "Bucket", "Communicator", "Exact", "PartialReduce", "Request",
    "__version__", "own_address", "settings",
]

__version__: str
#: A rank halts after at least SKIPS_HALT skipped updates in a row, unless they had few packets.
#: Updates that a silent rank spoils do not count.
SKIPS_HALT: int

def own_address(near: str | None = None, interface: str | None = None) -> str: ...
def settings() -> list[tuple[str, str, str, bool, str, str, str]]: ...

class _SupportsDlpack(Protocol):
    def __dlpack__(self) -> Any: ...

# Of any shape: numpy, array.array, memoryview, or host arrays with DLPack (torch, jax). Bounded
# calls take float32, exact ones all types up to 64 bits.
_Array: TypeAlias = Buffer | _SupportsDlpack
_ExactOp: TypeAlias = Literal["sum", "avg", "product", "min", "max", "and", "or", "xor"]
_T = TypeVar("_T")

@final
class Communicator:
    """One rank of a job: `Communicator()` in a launcher's job, `Communicator(world_size=1)` alone.
    `help(optireduce.Communicator)` lists the settings.

    Calls marked *collective* must be made by all ranks, in the same order and with the same
    arguments. A difference is a `MismatchError` on every rank. As a context manager, a communicator
    closes at the end, and aborts after an exception.
    """

    # SETTINGS: begin
    def __new__(
        cls,
        *,
        rank: int = ...,
        world_size: int = ...,
        root: str = ...,
        job_id: str = ...,
        rejoin: bool = ...,
        interface: str | None = ...,
        mtu: int | Literal["auto"] | None = ...,
        shared_memory: Literal["auto", "off"] = ...,
        secret_file: str | PathLike[str] | None = ...,
        card: str | None = ...,
        card_fallback: Literal["off", "udp"] = ...,
        groups: int | Literal["auto", "hosts", "none"] | None = ...,
        timeout_s: float = ...,
        bound_ms: float | Literal["measured"] | None = ...,
        bound_max_ms: float = ...,
        early: Literal["off", "adaptive"] = ...,
        hadamard: Literal["auto", "on", "off"] = ...,
        bf16: bool = ...,
        repair: Literal["off", "next_update", "this_update"] = ...,
        drop_silent_after: int | Literal["never"] | None = ...,
        agree: bool = ...,
        skip_gone: bool = ...,
        secret: str = ...,
    ) -> Communicator: ...
    # SETTINGS: end
    @property
    def rank(self) -> int: ...
    @property
    def world_size(self) -> int: ...
    @property
    def settings(self) -> dict[str, str]:
        """Settings in force, as text by name. Not the secret."""
    @property
    def bound_ms(self) -> float:
        """Present bound t_B of each stage of a window. A whole call takes longer."""
    @property
    def failure(self) -> OptiReduceError | None:
        """Error with which this rank stopped, or None while it works."""
    @property
    def exact(self) -> Exact:
        """Exact calls: over TCP, complete, with the same bits on all ranks."""
    def shard_range(self, elements: int) -> tuple[int, int]:
        """Returns start and end of this rank's shard of `elements` values, as `torch.chunk` cuts."""
    def bucket(
        self,
        elements: int,
        # BUCKET: begin
        *,
        op: Literal["avg", "sum"] = "avg",
        hadamard: Literal["auto", "on", "off"] | None = None,
        bf16: bool | None = None,
        repair: Literal["off", "next_update", "this_update"] | None = None,
        # BUCKET: end
        groups: int | Literal["auto", "hosts"] | None = None,
    ) -> Bucket:
        """Declares a bucket. Options default to the settings. Collective."""
    @overload
    def barrier(self, *, async_op: Literal[False] = False) -> None:
        """Waits until all ranks have called it. Collective."""
    @overload
    def barrier(self, *, async_op: Literal[True]) -> Request[None]: ...
    @overload
    def send(self, data: Buffer, to: int, tag: int = 0, *, async_op: Literal[False] = False) -> None:
        """Sends bytes to a rank, exactly. Messages with the same tag arrive in order."""
    @overload
    def send(self, data: Buffer, to: int, tag: int = 0, *, async_op: Literal[True]) -> Request[None]: ...
    @overload
    def recv(self, source: int | None = None, tag: int = 0, *, async_op: Literal[False] = False) -> tuple[int, bytes]:
        """Receives bytes from a rank, or from any if None; returns the rank and the bytes."""
    @overload
    def recv(self, source: int | None = None, tag: int = 0, *, async_op: Literal[True]) -> Request[tuple[int, bytes]]: ...
    @overload
    def split(self, color: int) -> Communicator:
        """Connects the ranks with the same color in a new communicator, in the order of their ranks.
        Ranks with None must call it too, and get None. Collective."""
    @overload
    def split(self, color: None) -> None: ...
    def partial_reduce(
        self,
        elements: int,
        *,
        group_size: int = 2,
        weights: Literal["dynamic", "constant"] = "dynamic",
        decay: float = 0.5,
        mix_within: int | None = 2,
        repair: bool = True,
        repair_timeout_s: float = 1.0,
        patience_s: float = 10.0,
        bound_ms: float | None = None,
    ) -> PartialReduce:
        """Declares averages of models among the `group_size` ranks that are ready first.
        `help(optireduce.Communicator.partial_reduce)` lists the options. Collective."""
    def metrics(self) -> dict[str, Any]:
        """Counters since the connection: datagrams, drops, loss and times by peer and stage."""
    @property
    def is_outside(self) -> bool:
        """True if this process joined a running job and has yet to `rejoin`."""
    def rejoin(self) -> int:
        """Takes part again; returns the number of the first collective that includes this rank."""
    def close(self, timeout: float | None = None) -> None:
        """Ends the job: waits for all ranks, at most `timeout` seconds, and checks that they made
        the same calls. A second call has no effect. Collective."""
    def abort(self) -> None:
        """Closes the connections without waiting; calls in progress raise `ClosedError`."""
    def __enter__(self) -> Communicator: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool: ...

@final
class Exact:
    """Exact calls of a communicator, from `Communicator.exact`: over TCP, complete, and with the same
    bits on all ranks. All are collective.

    Arrays have elements of float16, bfloat16, float32, float64, bool, or an integer type of 8 to 64
    bits. The result is written to the array."""

    @overload
    def all_reduce(self, array: _Array, op: _ExactOp = "sum", *, async_op: Literal[False] = False) -> None:
        """Reduces an array over all ranks, in place."""
    @overload
    def all_reduce(self, array: _Array, op: _ExactOp = "sum", *, async_op: Literal[True]) -> Request[None]: ...
    @overload
    def reduce_scatter(self, array: _Array, op: _ExactOp = "sum", *, async_op: Literal[False] = False) -> None:
        """Reduces an array over all ranks, and writes this rank's shard to its place in the array,
        `Communicator.shard_range`. The other elements stay."""
    @overload
    def reduce_scatter(self, array: _Array, op: _ExactOp = "sum", *, async_op: Literal[True]) -> Request[None]: ...
    @overload
    def broadcast(self, array: _Array, root: int, *, async_op: Literal[False] = False) -> None:
        """Copies the root's array to all ranks, in place."""
    @overload
    def broadcast(self, array: _Array, root: int, *, async_op: Literal[True]) -> Request[None]: ...
    @overload
    def all_gather(self, data: Buffer, *, async_op: Literal[False] = False) -> list[bytes]:
        """Gathers the bytes of every rank, and returns them by rank. With the setting `skip_gone` a
        rank that is gone has empty bytes."""
    @overload
    def all_gather(self, data: Buffer, *, async_op: Literal[True]) -> Request[list[bytes]]: ...
    @overload
    def gather(self, data: Buffer, root: int, *, async_op: Literal[False] = False) -> list[bytes]:
        """Gathers the bytes of every rank at the root; other ranks get an empty list."""
    @overload
    def gather(self, data: Buffer, root: int, *, async_op: Literal[True]) -> Request[list[bytes]]: ...
    @overload
    def scatter(self, parts: Sequence[Buffer], root: int, *, async_op: Literal[False] = False) -> bytes:
        """Sends each rank its part of the root's `parts`, and returns it."""
    @overload
    def scatter(self, parts: Sequence[Buffer], root: int, *, async_op: Literal[True]) -> Request[bytes]: ...
    @overload
    def all_to_all(self, parts: Sequence[Buffer], *, async_op: Literal[False] = False) -> list[bytes]:
        """Sends each rank its part of `parts`, and returns the parts from all ranks."""
    @overload
    def all_to_all(self, parts: Sequence[Buffer], *, async_op: Literal[True]) -> Request[list[bytes]]: ...

@final
class Bucket:
    """Bounded collectives over the same elements; from `Communicator.bucket`. All ranks make the
    same calls on the same buckets in the same order."""

    @property
    def id(self) -> int: ...
    @property
    def elements(self) -> int: ...
    @property
    def shard_range(self) -> tuple[int, int]:
        """Start and end of this rank's shard."""
    @property
    def options(self) -> dict[str, str]:
        """Options in force, as text by name."""
    @overload
    def all_reduce(self, array: _Array, *, async_op: Literal[False] = False) -> Report:
        """Reduces the array over all ranks, in place; zeros if the update is skipped."""
    @overload
    def all_reduce(self, array: _Array, *, async_op: Literal[True]) -> Request[Report]: ...
    @overload
    def reduce_scatter(self, array: _Array, *, async_op: Literal[False] = False) -> tuple[ndarray, Report]:
        """Reduces the array over all ranks; returns this rank's shard."""
    @overload
    def reduce_scatter(self, array: _Array, *, async_op: Literal[True]) -> Request[tuple[ndarray, Report]]: ...
    @overload
    def all_gather(self, shard: _Array, *, async_op: Literal[False] = False) -> tuple[ndarray, Report]:
        """Gathers the shards of all ranks; lost elements are zero."""
    @overload
    def all_gather(self, shard: _Array, *, async_op: Literal[True]) -> Request[tuple[ndarray, Report]]: ...
    @overload
    def settle(self, timeout: float | None = None, *, async_op: Literal[False] = False) -> Settled:
        """Waits for outstanding repairs, at most `timeout` seconds (None: the communicator's).
        Returns the repaired values that no result includes yet."""
    @overload
    def settle(self, timeout: float | None = None, *, async_op: Literal[True]) -> Request[Settled]: ...

@final
class PartialReduce:
    """Averages of models among the ranks that are ready; from `Communicator.partial_reduce`."""

    @property
    def elements(self) -> int: ...
    @overload
    def average(self, array: _Array, iteration: int, *, async_op: Literal[False] = False) -> Report:
        """Averages a model with a group, in place. `iteration` must exceed the last report's. One at a
        time."""
    @overload
    def average(self, array: _Array, iteration: int, *, async_op: Literal[True]) -> Request[Report]: ...
    def close(self, timeout: float | None = None) -> None:
        """Leaves the groups, and waits until the other ranks have left them."""

@final
class Bell:
    """Descriptor that becomes readable when an awaited request has finished, for an event loop."""

    def __new__(cls) -> Bell: ...
    def fileno(self) -> int:
        """Number of the descriptor."""
    def clear(self) -> None:
        """Makes the descriptor unreadable until a request finishes."""

@final
class Request(Generic[_T]):
    """A call in progress, from a call with `async_op=True`: `is_finished`, `wait`, or `await` it.

    `wait` and `await` write the result to the array, which the request keeps alive. Dropping it does
    not cancel a collective call, but withdraws a message."""

    def __class_getitem__(cls, key: Any) -> GenericAlias: ...
    def _ring(self, bell: Bell) -> bool: ...
    def is_finished(self) -> bool:
        """Returns whether the call has finished, without waiting."""
    def wait(self, timeout: float | None = None) -> _T:
        """Waits for the call and returns its result; `TimeoutError` after `timeout` seconds."""
    def __await__(self) -> Generator[Any, None, _T]: ...
