"""Communicators, buckets and requests, in Rust. `help()` shows their full documentation."""

from collections.abc import Generator, Sequence
from os import PathLike
from types import GenericAlias, TracebackType
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final

from numpy import ndarray
from typing_extensions import Buffer

from .report import Report, Settled

__all__ = [
    "PACKETS_HALT", "SKIPS_HALT", "Bell", "Bucket", "Communicator", "PartialReduce", "Request", "TwoLevel", "TwoLevelBucket",
    "__version__", "in_force", "own_address", "settings",
]

__version__: str
#: A rank halts after at least SKIPS_HALT skipped updates in a row, with at least PACKETS_HALT
#: packets together. Updates that a silent rank spoils do not count.
SKIPS_HALT: int
PACKETS_HALT: int

def own_address(near: str | None = None, interface: str | None = None) -> str: ...
def in_force(name: str, given: dict[str, Any]) -> str: ...
def settings() -> list[tuple[str, str, str, bool, str, str, str]]: ...

class _SupportsDlpack(Protocol):
    def __dlpack__(self) -> Any: ...

# float32, of any shape: numpy, array.array, memoryview, or host arrays with DLPack (torch, jax).
_Array: TypeAlias = Buffer | _SupportsDlpack
_Hadamard: TypeAlias = Literal["off", "on", "auto"]
_Element: TypeAlias = Literal["f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
_ExactOp: TypeAlias = Literal["sum", "avg", "product", "min", "max", "and", "or", "xor"]
_T = TypeVar("_T")

@final
class Communicator:
    """One rank of a job. `help(optireduce.Communicator)` lists the settings.

    Calls marked *collective* must be made by all ranks, in the same order and with the same
    arguments. A difference is a `MismatchError` on every rank. As a context manager, a communicator
    closes at the end, and aborts after an exception.
    """

    def __new__(
        cls,
        rank: int,
        world_size: int,
        root: str = "",
        *,
        job_id: str = ...,
        rejoin: bool = ...,
        interface: str | None = ...,
        mtu: int | Literal["auto"] | None = ...,
        shared_memory: Literal["auto", "off"] = ...,
        secret_file: str | PathLike[str] | None = ...,
        card: str | None = ...,
        card_fallback: Literal["off", "udp"] = ...,
        timeout_s: float = ...,
        bound_ms: float | Literal["measured"] | None = ...,
        bound_max_ms: float = ...,
        early: Literal["adaptive", "off"] = ...,
        hadamard: _Hadamard = ...,
        bf16: bool = ...,
        repair: Literal["off", "next_update", "this_update"] = ...,
        drop_silent_after: int | Literal["never"] | None = ...,
        agree: bool = ...,
        skip_gone: bool = ...,
        secret: str = ...,
    ) -> Communicator: ...
    @staticmethod
    def from_env(**settings: Any) -> Communicator:
        """Connects as the rank in the environment: `OPTIREDUCE_RANK`, torchrun, mpirun or Slurm."""
    @property
    def rank(self) -> int: ...
    @property
    def world_size(self) -> int: ...
    @property
    def stage_deadline_ms(self) -> float: ...
    def bucket(
        self,
        elements: int,
        *,
        op: Literal["avg", "sum"] = "avg",
        hadamard: _Hadamard | None = None,
        bf16: bool | None = None,
        repair: bool | None = None,
    ) -> Bucket:
        """Declares a bucket. Options default to the settings. Collective."""
    def barrier(self) -> None:
        """Waits until all ranks have called it. Collective."""
    def broadcast(self, array: _Array, root: int = 0) -> None:
        """Copies the root's array to all ranks, in place. Exact. Collective."""
    def all_gather_bytes(self, data: Buffer) -> list[bytes]:
        """Gathers the bytes of every rank, and returns them by rank. Exact. Collective."""
    def start_barrier(self) -> Request[None]:
        """Starts a barrier. Calls over TCP run in the order in which they were started."""
    def start_all_reduce_exact(self, data: Buffer, element: _Element, op: _ExactOp) -> Request[bytes]:
        """Starts an exact reduction over TCP, with the same bits on all ranks. Collective."""
    def start_reduce_scatter_exact(self, data: Buffer, element: _Element, op: _ExactOp) -> Request[bytes]:
        """Starts an exact reduction; returns the bytes of this rank's shard. Collective."""
    def start_broadcast_bytes(self, data: Buffer, root: int) -> Request[bytes]:
        """Copies the root's bytes to all ranks, which pass equal lengths. Collective."""
    def start_all_gather_bytes(self, data: Buffer) -> Request[list[bytes]]: ...
    def start_gather_bytes(self, data: Buffer, root: int) -> Request[list[bytes]]:
        """Gathers the bytes of every rank on the root; others get an empty list. Collective."""
    def start_scatter_bytes(self, parts: Sequence[Buffer], root: int) -> Request[bytes]:
        """Sends each rank its part of the root's `parts`; other ranks' are ignored. Collective."""
    def start_all_to_all_bytes(self, parts: Sequence[Buffer]) -> Request[list[bytes]]: ...
    def start_send(self, data: Buffer, to: int, tag: int) -> Request[None]:
        """Sends bytes to a rank. Messages with the same tag arrive in order."""
    def start_recv(self, source: int | None, tag: int) -> Request[tuple[int, bytes]]:
        """Receives bytes from a rank, or from any if None; returns the rank and the bytes."""
    def split(self, colour: int) -> Communicator:
        """Connects the ranks with the same colour in a new communicator. Collective."""
    def two_level(self, groups: int | Literal["hosts"]) -> TwoLevel:
        """Prepares all-reduces on two levels, in `groups` groups of neighbouring ranks, or "hosts"
        for a group per host. Groups have equal sizes of at least two ranks. Collective."""
    def partial_reduce(
        self,
        elements: int,
        *,
        group_size: int,
        weights: Literal["dynamic", "constant"] = "dynamic",
        sync_bound: int | None = 2,
        repair: bool = True,
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
class Bucket:
    """Bounded collectives over the same elements; from `Communicator.bucket`. All ranks make the
    same calls on the same buckets in the same order."""

    @property
    def id(self) -> int: ...
    @property
    def elements(self) -> int: ...
    @property
    def shard_range(self) -> tuple[int, int]: ...
    def all_reduce(self, array: _Array) -> Report:
        """Reduces the array over all ranks, in place; zeros if the update is skipped."""
    def start_all_reduce(self, array: _Array) -> Request[Report]:
        """Starts an all-reduce. `Request.wait` writes the result to the array."""
    def reduce_scatter(self, array: _Array) -> tuple[ndarray, Report]:
        """Reduces the array over all ranks; returns this rank's shard."""
    def start_reduce_scatter(self, array: _Array) -> Request[tuple[ndarray, Report]]: ...
    def all_gather(self, shard: _Array) -> tuple[ndarray, Report]:
        """Gathers the shards of all ranks; lost elements are zero."""
    def start_all_gather(self, shard: _Array) -> Request[tuple[ndarray, Report]]: ...
    def settle(self, timeout: float | None = None) -> Settled:
        """Waits for outstanding repairs, at most `timeout` seconds (None: the communicator's).
        Returns the repaired values that no result includes yet."""

@final
class TwoLevel:
    """Communicators of all-reduces on two levels; from `Communicator.two_level`."""

    @property
    def ranks_inside(self) -> list[int]:
        """Ranks of this rank's group, in ascending order."""
    @property
    def ranks_across(self) -> list[int]:
        """This rank's equal in each group, in ascending order."""
    def bucket(
        self,
        elements: int,
        *,
        op: Literal["avg", "sum"] = "avg",
        hadamard: _Hadamard | None = None,
        bf16: bool | None = None,
        repair: bool | None = None,
    ) -> TwoLevelBucket:
        """Declares a bucket, as `Communicator.bucket`. Collective."""
    def close(self) -> None:
        """Closes the connections without waiting. Call it after `Communicator.close`."""

@final
class TwoLevelBucket:
    """All-reduces on two levels over the same elements; from `TwoLevel.bucket`."""

    @property
    def id(self) -> int: ...
    @property
    def elements(self) -> int: ...
    def all_reduce(self, array: _Array) -> Report:
        """Reduces the array over all ranks, in place; zeros if the update is skipped."""
    def start_all_reduce(self, array: _Array) -> Request[Report]:
        """Starts an all-reduce. `Request.wait` writes the result to the array."""
    def settle(self, timeout: float | None = None) -> Settled:
        """Waits for outstanding repairs, at most `timeout` seconds. Collective."""

@final
class PartialReduce:
    """Averages of models among the ranks that are ready; from `Communicator.partial_reduce`."""

    @property
    def elements(self) -> int: ...
    def average(self, array: _Array, iteration: int) -> Report:
        """Averages a model with a group, in place. `iteration` must exceed the last report's."""
    def start_average(self, array: _Array, iteration: int) -> Request[Report]:
        """Starts `average`. `Request.wait` writes the mean to the array. One at a time."""
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
    """A call in progress: `test`, `wait`, or `await` it. Dropping it does not cancel a collective
    call, but cancels a send or receive."""

    def __class_getitem__(cls, key: Any) -> GenericAlias: ...
    def _ring(self, bell: Bell) -> bool: ...
    def test(self) -> bool:
        """Returns whether the call has finished, without waiting."""
    def wait(self, timeout: float | None = None) -> _T:
        """Waits for the call and returns its result; `TimeoutError` after `timeout` seconds."""
    def __await__(self) -> Generator[Any, None, _T]: ...
