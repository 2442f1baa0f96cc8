"""Communicators, buckets and requests, in Rust."""

from collections.abc import Generator, Sequence
from types import GenericAlias, TracebackType
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final

from numpy import ndarray
from typing_extensions import Buffer

from .report import PartialReport, Report, Settled

__all__ = [
    "PACKETS_HALT", "SKIPS_HALT", "Bucket", "Communicator", "PartialReduce", "Request", "TwoLevel", "TwoLevelBucket", "__version__",
]

__version__: str
#: Updates in a row that are not to be applied, after which the job halts, and how many packets their collectives had, at least. The library counts no
#: update that a silent rank is the cause of.
SKIPS_HALT: int
PACKETS_HALT: int

class _SupportsDlpack(Protocol):
    def __dlpack__(self) -> Any: ...

# float32, of any shape: numpy, array.array, memoryview, or what has DLPack (torch, jax, cupy's host arrays).
_Array: TypeAlias = Buffer | _SupportsDlpack
_Hadamard: TypeAlias = Literal["off", "on", "auto"]
_Element: TypeAlias = Literal["f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
_ExactOp: TypeAlias = Literal["sum", "avg", "product", "min", "max", "and", "or", "xor"]
_T = TypeVar("_T")

@final
class Communicator:
    """One rank of a job.

    Calls marked *collective* must be made by all ranks, in the same order and with the same arguments; ranks that differ get a
    `MismatchError`. As a context manager it closes at the end, and aborts after an exception.

    Settings: all but `timeout_s`, `interface`, `mtu`, `card` and `card_address` are compared when the ranks connect.

    - `job_id`: tells the job from others at the same root. `rejoin`: this process may come into a job that runs.
    - `timeout_s`, 60: how long ranks wait for one another outside of all-reduces.
    - `bound_ms`: the deadline of each stage, fixed; or `bound_max_ms`, 1000: measured, at most so long.
    - `early`, "adaptive": when a stage may close before its deadline; "off", or after so many milliseconds of silence.
    - `hadamard`, "auto": when all-reduces are encoded, so that loss becomes noise spread over a block.
    - `bf16`, False: half the bytes, relative errors of at most 2^-8.
    - `incast`, None: peers that are sent to at a time; None: as many as the receivers can take.
    - `window_bytes`, 1 MiB; `rate_control`, False: rates follow round-trip times.
    - `drop_silent_after`, 3: collectives without a sign of a rank after which the others go on without it; None: never.
    - `repair`, True: what this rank missed comes with the bucket's next output.
    - `wait_for_repairs`, False (True in `optireduce.torch`): an all-reduce of a bucket waits for that, no longer than four deadlines of a stage.
    - `agree`, False: all ranks skip an update if one does.
    - `interface`, `mtu`: found out. `local`, "auto": ranks of one host share memory; "off": they use UDP.
    - `card`: the SmartNIC that moves this rank's gradients, in a wheel with the feature `smartnic`; or `OPTIREDUCE_CARD`.
      `card_address`: where it is on the network, which a board must be told, such as "10.0.0.2"; or `OPTIREDUCE_CARD_ADDRESS`. An error
      without a card; from the environment it is then ignored, with a warning.
      `card_fallback`, "off": what becomes of the job when one fails; "udp": all ranks go on over UDP.
    - `secret`: encrypts and authenticates everything; or `OPTIREDUCE_SECRET`.
    """

    def __new__(
        cls,
        rank: int,
        world_size: int,
        root: str,
        *,
        job_id: str = ...,
        rejoin: bool = ...,
        timeout_s: float = ...,
        bound_ms: float = ...,
        bound_max_ms: float = ...,
        early: Literal["adaptive", "off"] | float = ...,
        hadamard: _Hadamard = ...,
        bf16: bool = ...,
        incast: int | None = ...,
        window_bytes: int = ...,
        rate_control: bool = ...,
        drop_silent_after: int | None = ...,
        repair: bool = ...,
        wait_for_repairs: bool = ...,
        agree: bool = ...,
        interface: str = ...,
        mtu: int | None = ...,
        local: Literal["off", "auto"] = ...,
        card: str = ...,
        card_address: str = ...,
        card_fallback: Literal["off", "udp"] = ...,
        secret: str = ...,
    ) -> Communicator: ...
    @staticmethod
    def from_env(**settings: Any) -> Communicator:
        """The rank that the launcher's environment says: torchrun, mpirun, Slurm, or `OPTIREDUCE_RANK`."""
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
        """Declares a bucket. What is None is as the communicator is set. Collective."""
    def barrier(self) -> None:
        """Waits until all ranks are here. Collective."""
    def broadcast(self, array: _Array, root: int = 0) -> None:
        """Hands the root's values to all ranks, whole, in place. Collective."""
    def all_gather_bytes(self, data: Buffer) -> list[bytes]:
        """Hands every rank's bytes to every rank: what each gave, by rank. Collective."""
    def start_barrier(self) -> Request[None]:
        """What begins with `start_` runs in the order in which it was begun. Collective, but sends and receives."""
    def start_all_reduce_exact(self, data: Buffer, element: _Element, op: _ExactOp) -> Request[bytes]:
        """Reduces values of a type over TCP: whole, with the same bits on all ranks. `data`: their bytes. Collective."""
    def start_reduce_scatter_exact(self, data: Buffer, element: _Element, op: _ExactOp) -> Request[bytes]:
        """The same; this rank's shard. Collective."""
    def start_broadcast_bytes(self, data: Buffer, root: int) -> Request[bytes]:
        """The root's bytes; all give as many. Collective."""
    def start_all_gather_bytes(self, data: Buffer) -> Request[list[bytes]]: ...
    def start_gather_bytes(self, data: Buffer, root: int) -> Request[list[bytes]]:
        """What each rank gave, at the root; nothing elsewhere. Collective."""
    def start_scatter_bytes(self, parts: Sequence[Buffer], root: int) -> Request[bytes]:
        """This rank's part of the root's; the parts of others count nothing. Collective."""
    def start_all_to_all_bytes(self, parts: Sequence[Buffer]) -> Request[list[bytes]]: ...
    def start_send(self, data: Buffer, to: int, tag: int) -> Request[tuple[int, bytes]]:
        """Sends bytes beside all other calls. Those of one rank and tag come in order."""
    def start_recv(self, source: int | None, tag: int) -> Request[tuple[int, bytes]]:
        """Receives bytes of a rank, or of any; the rank, and the bytes."""
    def split(self, colour: int) -> Communicator:
        """A communicator of the ranks that give the same colour. Collective."""
    def two_level(self, groups: int | Literal["hosts"]) -> TwoLevel:
        """All-reduce on two levels: in so many groups of neighbouring ranks, or in a group for each host, which then sends to the others what
        one rank would. Groups are equally large, of two ranks at least. Collective."""
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
        """Averages of models of so many elements among the `group_size` ranks that are ready first. Collective.

        - `weights`: older models count less, or all the same.
        - `sync_bound`: all ranks have met, by way of others, within so many times as many groups as there are ranks; None: never.
        - `repair`: what packets lost is fetched before a mean is used.
        - `patience_s`: how long a rank waits for one that is not ready.
        - `bound_ms`: the deadline of each stage of a group; None: the communicator's.
        """
    def metrics(self) -> dict[str, Any]:
        """What this rank has seen so far: datagrams, drops, loss and times by peer and stage."""
    @property
    def is_outside(self) -> bool:
        """Whether this process came into a job that runs (`rejoin=True`, or the launcher's count of restarts), and has not taken part yet."""
    def skip_gone_ranks(self) -> None:
        """From now on calls over TCP leave out ranks whose process has ended, as all-reduces do. Collective."""
    def rejoin(self) -> int:
        """Takes part again after `DroppedError`; the number of the first collective."""
    def close(self, timeout: float | None = None) -> None:
        """Ends the job: waits for all ranks, no longer than `timeout` seconds, and confirms that they have called the same. A second
        call does nothing. Collective."""
    def abort(self) -> None:
        """Ends the connections at once, and this rank's waits with `ClosedError`. The other ranks see that this one is gone."""
    def __enter__(self) -> Communicator: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool: ...

@final
class Bucket:
    """What is reduced again and again; from `Communicator.bucket`. All ranks make the same calls on the same buckets in the same
    order. If a report does not say "apply", too much was lost, and the array is unchanged."""

    @property
    def id(self) -> int: ...
    @property
    def elements(self) -> int: ...
    @property
    def shard_range(self) -> tuple[int, int]: ...
    def all_reduce(self, array: _Array) -> Report:
        """Reduces the array over all ranks, in place. Collective."""
    def start_all_reduce(self, array: _Array) -> Request[Report]:
        """Begins to reduce the array over all ranks. `Request.wait` writes the result to the array. Collective."""
    def reduce_scatter(self, array: _Array) -> tuple[ndarray, Report]:
        """Reduces the array over all ranks; this rank's shard. Collective."""
    def start_reduce_scatter(self, array: _Array) -> Request[tuple[ndarray, Report]]: ...
    def all_gather(self, shard: _Array) -> tuple[ndarray, Report]:
        """Hands this rank's shard to all ranks; the whole, with zeros where something is missing. Collective."""
    def start_all_gather(self, shard: _Array) -> Request[tuple[ndarray, Report]]: ...
    def settle(self, timeout: float | None = None) -> Settled:
        """Waits until nothing is outstanding, at most `timeout` seconds (None: the communicator's); what the results so far lack."""

@final
class TwoLevel:
    """The communicators of an all-reduce on two levels; from `Communicator.two_level`. Each group reduce-scatters, equal members of the groups average
    their shards, and each group gathers the means. If a rank ends, its group lacks the shard that was its own from then on."""

    @property
    def ranks_inside(self) -> list[int]:
        """The ranks of this rank's group, in order."""
    @property
    def ranks_across(self) -> list[int]:
        """This rank's equals in all groups, in order."""
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
        """Ends its connections at once: call it after `Communicator.close`, or a barrier. A second call does nothing."""

@final
class TwoLevelBucket:
    """What is reduced on two levels again and again; from `TwoLevel.bucket`. If a report does not say "apply", more than 10 % of the result is
    missing, and the array is unchanged."""

    @property
    def id(self) -> int: ...
    @property
    def elements(self) -> int: ...
    def all_reduce(self, array: _Array) -> Report:
        """Reduces the array over all ranks, in place. Collective."""
    def start_all_reduce(self, array: _Array) -> Request[Report]:
        """Begins to reduce the array over all ranks. `Request.wait` writes the result to the array. Collective."""
    def settle(self, timeout: float | None = None) -> Settled:
        """Waits until what this rank's shard lacked is here, at most `timeout` seconds (None: the communicator's), and lets it go."""

@final
class PartialReduce:
    """Averages of models among the ranks that are ready; from `Communicator.partial_reduce`. Each rank calls at its own pace."""

    @property
    def elements(self) -> int: ...
    def average(self, array: _Array, iteration: int) -> PartialReport:
        """Averages the model of an iteration, greater than that of the last report, with those of a group, in place."""
    def start_average(self, array: _Array, iteration: int) -> Request[PartialReport]:
        """Begins to average the model. `Request.wait` writes the mean to the array. One at a time."""
    def close(self, timeout: float | None = None) -> None:
        """Takes part in no group any more, and waits until the others do not, either. A second call does nothing."""

@final
class Request(Generic[_T]):
    """A call that has begun: `test`, `wait`, or `await` it. Dropping it does not take the call back."""

    def __class_getitem__(cls, key: Any) -> GenericAlias: ...
    def test(self) -> bool:
        """Whether the call has finished; does not wait."""
    def wait(self, timeout: float | None = None) -> _T:
        """Waits until the call has finished, and gives its result; `TimeoutError` after `timeout` seconds: the call goes on."""
    def __await__(self) -> Generator[Any, None, _T]: ...
