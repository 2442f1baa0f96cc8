"""Calls of one group, in the order in which torch makes them.

Why two threads: a call may have to wait for other ranks before it starts, since the first
all-reduce of a bucket declares it, and the trainer must not wait for that. One thread starts calls
without waiting for their ends, so that buckets are reduced during the backward pass. The other
thread waits for the ends, in the same order. Neither runs callbacks of futures, which may wait for
later calls of the group. Each runs on a thread of its own.

All are daemons, so that a process ends without `destroy_process_group`. The program may make calls
until its threads have ended, and in functions of `atexit`. Then `_end_all` ends the threads, since
they must not run while the interpreter is torn down.
"""

import atexit
import itertools
import logging
import multiprocessing.util
import os
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, TypeAlias

import torch

from .. import (
    ArgumentError,
    ClosedError,
    Communicator,
    ForkedError,
    HaltError,
    OptiReduceError,
    Report,
    Request,
    Settled,
    TimeoutError,
    UnsettledError,
)
from .._optireduce import SKIPS_HALT
from ._halt import Halts
from ._tensors import BOUNDED_TYPES, flat, write_back
from ._unusual import Unusual
from ._work import Work

log = logging.getLogger("optireduce")

#: Timeout of a close.
CLOSE_S = 10.0
#: Timeout of `settle`.
SETTLE_S = 10.0
REPORTS = 4096

#: Number of groups of neighbouring ranks, or one group per host.
Groups: TypeAlias = int | Literal["hosts"]

_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()
#: Threads that run callbacks of the program.
_callbacks: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()
#: Time that callbacks have at the end of a process, once all groups are aborted.
CALLBACKS_S = 10.0


class Session:
    """A communicator and the threads that serve it."""

    def __init__(self, communicator: Communicator, name: str, engine: str = "udp") -> None:
        self.calls: Any = communicator
        self.rank, self.size, self.name = communicator.rank, communicator.world_size, name
        #: The setting `agree`: all ranks skip an update if one would.
        self.agrees = communicator.settings["agree"] == "on"
        #: "udp", or "tcp": all calls are exact.
        self.engine = engine
        self.halts = Halts(self.calls, self.rank, self.size)
        #: True for a restarted process until it rejoins: its all-reduces only declare buckets.
        self.is_outside = communicator.is_outside
        self.reports: deque[Report] = deque(maxlen=REPORTS)
        self._unusual = Unusual()
        #: Numbers of states, in the order of their first all-reduces, which all ranks share.
        self.numbers = itertools.count()
        #: Replicas of models whose gradients this session reduces (`Replicas`).
        self.replicas: weakref.WeakSet[Any] = weakref.WeakSet()
        self._process = os.getpid()
        self._buckets: dict[Hashable, Any] = {}
        #: Groups of two levels, once `use_levels` has connected them.
        self.groups: Groups | None = None
        self._starting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._finishing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._closed = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._begins = threading.Lock()
        _sessions.add(self)
        if multiprocessing.parent_process() is not None:
            # Such a process may end without `atexit`.
            multiprocessing.util.Finalize(self, _warn_of_differences, (weakref.ref(self),), exitpriority=0)

    def _begin(self) -> None:
        """Starts the threads. Many groups are made and never used."""
        with self._begins:
            if not self._threads:
                self._threads = [
                    threading.Thread(target=loop, name=f"optireduce-{loop.__name__}", daemon=True) for loop in (self._start, self._finish)
                ]
                for thread in self._threads:
                    thread.start()

    def run(self, callback: Callable[[], None]) -> None:
        """Runs a callback of the program, which may wait for calls of this group."""
        thread = threading.Thread(target=callback, name="optireduce-callback", daemon=True)
        try:
            thread.start()
            _callbacks.add(thread)
        except RuntimeError:
            # The interpreter ends and starts no thread.
            callback()

    def _start(self) -> None:
        while (task := self._starting.get()) is not None:
            work, start, finish = task
            try:
                work.prepare()
                with torch.no_grad():
                    self._finishing.put((work, start(), finish))
            except BaseException as error:
                work.finish(error)
        self._finishing.put(None)

    def _finish(self) -> None:
        while (task := self._finishing.get()) is not None:
            work, request, finish = task
            try:
                with torch.no_grad():
                    finish(_outcome(request, work.left_s()))
            except TimeoutError as error:
                # The library's error names the late rank.
                work.finish(work.timed_out() if work.left_s() == 0.0 else error)
            except BaseException as error:
                work.finish(error)
            else:
                work.finish()

    def describe(self, operation: str) -> str:
        return f"rank {self.rank} of group {self.name}: {operation}"

    def check(self, operation: str) -> None:
        """Raises an error in a forked process, and after the group was closed."""
        if os.getpid() != self._process:
            raise ForkedError(
                f"{self.describe(operation)}: this is process {os.getpid()}, a fork of process {self._process}, which made the "
                "group; make calls there"
            )
        if self._closed.locked():
            raise ClosedError(f"{self.describe(operation)}: the group was destroyed or aborted; make a new one")

    def is_open(self) -> bool:
        return os.getpid() == self._process and not self._closed.locked()

    def submit(self, work: Work, start: Callable[[], Any], finish: Callable[[Any], None] = lambda _: None) -> Work:
        """Queues a call. `start` returns its request or result; `finish` receives the result."""
        self.check(work.name)
        work.described, work.run = self.describe(work.name), self.run
        self._begin()
        if not torch._C._autograd._profiler_enabled():
            self._starting.put((work, start, finish))
            return work
        # The profiler's range lasts until the call ends, in parallel to this thread's ranges.
        with torch.profiler.record_function(f"optireduce::{work.name}") as span:
            work.recorded = torch.futures.Future()
            span._call_end_callbacks_on_future(work.recorded)
            self._starting.put((work, start, finish))
        return work

    def use_levels(self, groups: Groups) -> None:
        """Connects the groups of all-reduces on two levels. All ranks call it."""
        if self.engine == "tcp" or self.agrees:
            setting = "engine is 'tcp'" if self.engine == "tcp" else "agree is True"
            raise ArgumentError(f"{self.describe('two levels')}: {setting}, expected another: two levels are bounded, and each rank decides alone")
        if self.groups not in (None, groups):
            raise ArgumentError(f"{self.describe('two levels')}: groups is {groups!r}, expected {self.groups!r}, as for the first state")
        if self.groups is None and self.size > 1:

            def start() -> None:
                # The first bucket connects them, which may take longer than a step should.
                self.calls.bucket(1, groups=groups)

            self.submit(Work(f"two levels, groups {groups!r}", []), start).wait()
        self.groups = groups

    def all_reduce(
        self, work: Work, tensor: torch.Tensor, op: str, key: Hashable, note: Callable[[Report, bool], None] | None = None,
        on_levels: bool = False,
    ) -> Work:
        """Averages a tensor, bounded, in the bucket of this key. The first call declares the bucket
        and is exact: DDP replaces its buckets after the first backward pass, and the replaced ones
        must have no outstanding repairs. Types that float32 cannot hold are always exact.

        `note` receives the report and whether this rank halts, and its owner halts the job. Without
        it, a halt fails the call."""
        name, values, headroom = self.describe(work.name), tensor, self._headroom(op)

        def start() -> Any:
            nonlocal values
            is_exact = self.engine == "tcp" or tensor.dtype not in BOUNDED_TYPES
            bucket = None if is_exact else self._buckets.get(key)
            if bucket is None and not is_exact:
                groups = self.groups if on_levels else None
                self._buckets[key] = self.calls.bucket(tensor.numel(), op=op, groups=groups)
            if self.is_outside and not is_exact:
                return None
            if bucket is None:
                values = flat(tensor)
                return self.calls.exact.all_reduce(values, op, async_op=True)
            values = flat(tensor, torch.float32)
            if headroom > 1:
                values.div_(headroom)
            return bucket.all_reduce(values.numpy(), async_op=True)

        def finish(result: Report | HaltError | None) -> None:
            nonlocal values
            halts = isinstance(result, HaltError)
            report = result.report if isinstance(result, HaltError) else result
            # Zeros after a skip or halt.
            write_back(tensor, values.mul_(headroom) if report is not None and headroom > 1 else values)
            # The threads keep this closure until the next call. Free the copy, which is as large as
            # the bucket.
            values = tensor
            if report is None:
                return
            self.take(report)
            if note is not None:
                note(report, halts)
            else:
                self.halt_if(report, halts, name)

        return self.submit(work, start, finish)

    def reduce_scatter(self, work: Work, output: torch.Tensor, inputs: torch.Tensor, op: str, is_bounded: bool) -> Work:
        """Reduces to shards. `inputs`: a shard of the length of `output` for each rank.
        The first bounded call declares the bucket and is exact, which compares the types of all
        ranks. Losses are not repaired, since each rank has a different shard."""
        name, headroom = self.describe(work.name), self._headroom(op)
        is_bounded &= self.engine != "tcp"
        key = ("reduce_scatter", inputs.numel(), inputs.dtype, op)
        copy = inputs

        def start() -> Any:
            nonlocal copy
            bucket = self._buckets.get(key) if is_bounded else None
            if bucket is None and is_bounded:
                self._buckets[key] = self.calls.bucket(inputs.numel(), op=op, repair="off")
            if bucket is None:
                copy = flat(inputs).clone()
                return self.calls.exact.reduce_scatter(copy, op, async_op=True)
            floats = flat(inputs, torch.float32)
            return bucket.reduce_scatter((floats / headroom if headroom > 1 else floats).numpy(), async_op=True)

        def finish(result: Any) -> None:
            nonlocal copy
            if result is None:
                write_back(output, copy.chunk(self.size)[self.rank] if copy.numel() else copy)
                copy = inputs
                return
            halts = isinstance(result, HaltError)
            shard, report = (torch.zeros(output.numel()), result.report) if halts else result
            write_back(output, torch.as_tensor(shard).mul_(headroom))
            self.take(report)
            self.halt_if(report, halts, name)

        return self.submit(work, start, finish)

    def broadcast(self, work: Work, tensor: torch.Tensor, root: int) -> Work:
        """Copies the root's tensor of any type to all ranks, exactly."""
        values = tensor

        def start() -> Any:
            nonlocal values
            values = flat(tensor.cpu()).view(torch.uint8)
            return self.calls.exact.broadcast(values, root, async_op=True)

        def finish(_: None) -> None:
            nonlocal values
            if self.rank != root:
                write_back(tensor, values.view(tensor.dtype))
            values = tensor

        return self.submit(work, start, finish)

    def _headroom(self, op: str) -> float:
        """Returns the divisor of the terms of a mean, so that their sum does not overflow where the
        mean does not: a power of two, which rounds normal numbers to themselves."""
        return 2.0 ** (self.size - 1).bit_length() if op == "avg" else 1.0

    def halt_if(self, report: Report, halts: bool, name: str) -> None:
        """Raises `HaltError` if this rank halts, after telling the others, or another rank has."""
        if halts:
            self.halts.tell(report.number)
            raise HaltError(f"{name}: more than 10 % was lost in {SKIPS_HALT} collectives in a row: {report}", report)
        if (rank := self.halts.heard()) is not None:
            raise HaltError(f"{name}: rank {rank} has halted: it lost more than 10 % in {SKIPS_HALT} collectives in a row")

    def take(self, report: Report) -> None:
        """Stores and logs a report."""
        self.reports.append(report)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", self.describe(str(report)))
        if (line := self._unusual.line(report)) is not None:
            log.warning("%s", self.describe(line))

    def buckets(self) -> dict[Hashable, Any]:
        return self._buckets

    def settle_bucket(self, bucket: Any, timeout_s: float) -> Settled:
        """Settles a bucket in the order of the calls, since it is collective on two levels."""
        settled: list[Settled] = []
        self.submit(Work("settle", []), lambda: bucket.settle(timeout_s), settled.append).wait()
        return settled[0]

    def free(self, prefix: tuple[Hashable, ...]) -> None:
        """Frees the buckets whose keys begin so."""
        for key in list(self._buckets):
            if isinstance(key, tuple) and key[: len(prefix)] == prefix:
                self._buckets.pop(key, None)

    def settle(self, keys: Iterable[Hashable] | None = None, timeout_s: float = SETTLE_S) -> bool:
        """Waits for outstanding repairs of the buckets of these keys, or of all buckets, and
        discards them. Returns whether all arrived."""
        keys = list(self._buckets) if keys is None else keys
        # A bucket may be freed meanwhile.
        buckets = [bucket for bucket in map(self._buckets.get, keys) if bucket is not None]
        is_settled = all([self.settle_bucket(bucket, timeout_s).is_settled for bucket in buckets])
        if not is_settled:
            log.warning("%s", self.describe(f"not all repairs arrived within {timeout_s} s"))
        return is_settled

    def close(self) -> None:
        """Ends the group after the calls in progress. A second call has no effect."""
        if os.getpid() != self._process or not self._closed.acquire(blocking=False):
            return
        self.warn_of_differences()
        self._starting.put(None)
        for thread in self._threads:
            thread.join()
        if (line := self._unusual.rest()) is not None:
            log.warning("%s", self.describe(line))
        try:
            self.calls.close(CLOSE_S)
        except UnsettledError:
            # `Replicas` compares the replicas, and copies one if they differ.
            pass
        except OptiReduceError as error:
            log.info("%s", self.describe(f"not all ranks closed: {error}"))
        # torch may keep the destroyed group, and with it this object.
        self._buckets.clear()

    def join(self) -> None:
        """Waits for the threads of an aborted group."""
        if os.getpid() == self._process:
            for thread in self._threads:
                thread.join()

    def warn_of_differences(self) -> None:
        for one in list(self.replicas):
            one.warn("the end: a part of a mean is missing")

    def abort(self) -> None:
        """Ends the group without waiting. Calls in progress fail."""
        if os.getpid() != self._process:
            return
        if self._closed.acquire(blocking=False):
            self._starting.put(None)
        self.calls.abort()


def _outcome(request: Any, timeout_s: float | None) -> Any:
    """Returns the result of a request, or the error of a halt for its receiver to judge."""
    try:
        return request.wait(timeout_s) if isinstance(request, Request) else request
    except HaltError as error:
        return error


def _warn_of_differences(session: "weakref.ref[Session]") -> None:
    if (one := session()) is not None and one.is_open():
        one.warn_of_differences()


def _end_all() -> None:
    """Aborts all sessions of a process that ends, and waits for their threads."""
    sessions = list(_sessions)
    for session in sessions:
        if session.is_open():
            session.warn_of_differences()
        session.abort()
    for session in sessions:
        session.join()
    until = time.monotonic() + CALLBACKS_S
    for thread in list(_callbacks):
        thread.join(max(0.0, until - time.monotonic()))


atexit.register(_end_all)
