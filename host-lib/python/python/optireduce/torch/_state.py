"""The communication hook of DDP, on any backend: gradients are bounded, everything else stays where it was.

A bucket of DDP is known by its index and the lengths of its parameters, so that repairs never cross into a bucket of another
make-up: DDP rebuilds its buckets after the first backward pass, when each of them is declared, and reduced exactly, anew.
"""

import logging
import types
from typing import Any

import torch
import torch.distributed as dist

from .. import ArgumentError, ClosedError, HaltError, PeerError, Report
from . import _bootstrap
from ._backend import OptiReduceBackend
from ._session import HALT, Session
from ._settings import configured
from ._staging import Staged
from ._tensors import from_bytes, to_bytes
from ._work import Work

log = logging.getLogger("optireduce")


class State:
    """What the hook knows of a model: `model.register_comm_hook(State(), comm_hook)`.

    `group`: the process group of the model; of any backend. `settings`: those of `optireduce.Communicator`, unless the backend
    of the group is optireduce. `synchronize_every`: after so many steps the optimizer that is guarded calls `settle`; None: never.
    `vote`: all ranks vote before each step of the optimizer, over TCP, and so wait for the slowest; with the setting `agree` they agree
    within the deadline, and 0.25 s, and a rank that hears of no decision does what it would.
    """

    def __init__(
        self, group: Any = None, *, vote: bool = False, synchronize_every: int | None = 100, **settings: Any
    ) -> None:
        if synchronize_every is not None and synchronize_every < 1:
            raise ArgumentError(f"optireduce.torch.State: synchronize_every is {synchronize_every}, expected at least 1 step, or None")
        group = group or dist.group.WORLD
        if group is None:
            raise ClosedError("optireduce.torch.State: there is no process group; call init_process_group before")
        backend = group._get_backend(torch.device("cpu")) if torch.device("cpu") in group._device_types else None
        if isinstance(backend, OptiReduceBackend):
            self.session = backend.session
        else:
            self.session = _connect(group, settings)
        self._group, self._vote, self._synchronize_every = group, vote, synchronize_every
        self._step: list[Report] = []
        # Buckets of the present make-up, by index: their streams, and the parameters that they are made of.
        self._made_up: dict[int, tuple[Any, list[torch.Tensor]]] = {}
        # Whether this replica lacks, or got late, what others have, since replicas were the same.
        self._differs = False
        self.steps = self.skipped = self._in_a_row = 0

    def reduce(self, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """The mean of a bucket of gradients."""
        tensor, parameters = bucket.buffer(), bucket.parameters()
        key = ("ddp", id(self), bucket.index(), tensor.dtype, tuple(one.numel() for one in parameters))
        before = self._made_up.get(bucket.index())
        if before is not None and before[0] != key:
            self._settle(before[0])
        self._made_up[bucket.index()] = (key, parameters)
        name = f"all_reduce of DDP's bucket {bucket.index()} of {tensor.numel()} elements"
        if tensor.is_cuda:
            staged = Staged(name, tensor)
            self.session.all_reduce(staged.work, staged.host, "avg", key, self._step.append)
            return staged.future
        work = self.session.all_reduce(Work(name, [tensor]), tensor, "avg", key, self._step.append)

        def done(_: Any) -> torch.Tensor:
            work.wait()
            return tensor

        return work.get_future().then(done)

    def _settle(self, key: Any) -> None:
        """What a bucket that is no more lacked in the end cannot be handed to another: this replica differs, until `settle`."""
        bucket = self.session.buckets().pop(key, None)
        settled = bucket.settle(0.0) if bucket is not None else None
        if settled is not None and (settled.correction is not None or settled.outstanding_bytes):
            self._differs = True
            log.warning("%s", self.session.describe(f"a bucket of DDP was rebuilt with {settled.outstanding_bytes} bytes outstanding"))

    def step_allowed(self) -> bool:
        """Whether the optimizer is to make its step, after a backward pass. Raises `HaltError` if too much was lost three times in a
        row. Unless the ranks vote or agree, it is: what this rank left out is zero in its gradients, and comes with the next ones."""
        reports, self._step = list(self._step), []
        self.steps += 1
        applied = all(report.action == "apply" for report in reports)
        is_common = self._vote or self.session.agrees
        if self._vote:
            applied = self._voted(applied)
        elif is_common and not all(report.agreed for report in reports):
            self._differs = True
            log.warning("%s", self.session.describe(f"step {self.steps}: no decision of all ranks came in time"))
        # What a vote has left out comes later to those that lacked it, with a mean, and to nobody else.
        self._differs |= any(report.missing_ranges for report in reports) or not (applied or self.session.agrees)
        self._in_a_row = 0 if applied else self._in_a_row + 1
        if not applied:
            self.skipped += 1
            log.warning("%s", self.session.describe(f"step {self.steps}: more than 10 % was lost"))
        # A rank that is dead costs updates until it is dropped, and is no reason to halt.
        if self._in_a_row >= HALT if self._vote else any(report.action == "halt" for report in reports):
            calls = "steps" if self._vote else "all-reduces"
            raise HaltError(f"{self.session.describe('step')} {self.steps}: more than 10 % was lost in {HALT} {calls} in a row")
        return applied or not is_common

    def _voted(self, allowed: bool) -> bool:
        votes: list[bytes] = []
        start = lambda: self.session.calls.start_all_reduce_exact(bytes([allowed]), "u8", "min")  # noqa: E731
        self.session.submit(Work("vote", []), start, votes.append).wait()
        return bool(votes[0][0])

    def guard(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        """Makes `optimizer.step()` do nothing when `step_allowed` says no, and `settle` now and then. Before learning rate schedulers are
        made."""
        step = type(optimizer).step

        def guarded(optimizer: torch.optim.Optimizer, *arguments: Any, **keywords: Any) -> Any:
            result = step(optimizer, *arguments, **keywords) if self.step_allowed() else None
            if self._synchronize_every is not None and self.steps % self._synchronize_every == 0:
                self._settle_if_all_are_there(optimizer)
            return result

        optimizer.step = types.MethodType(guarded, optimizer)  # type: ignore[method-assign]
        return optimizer

    def _settle_if_all_are_there(self, optimizer: torch.optim.Optimizer) -> None:
        reports = self.session.reports
        try:
            # Exact calls would wait for a rank that was dropped.
            if not reports or len(reports[-1].live_ranks) == self.session.size:
                self.settle(optimizer)
        except PeerError as error:
            self._synchronize_every = None
            log.warning("%s", self.session.describe(f"replicas are not compared any more: {error}"))

    def settle(self, optimizer: torch.optim.Optimizer, timeout_s: float = 10.0) -> bool:
        """Makes replicas the same, to the bit: if the updates of any rank lacked something, a rank that has all of them (if there is
        none: rank 0) hands its parameters, and its optimizer's state, to the others. After the last step, and before a checkpoint; all
        ranks call it, and wait for the slowest. Returns whether any differed."""
        is_settled = True
        if self._differs:
            # What comes later than this would be applied by this rank alone.
            buckets = [self.session.buckets().get(key) for key, _ in self._made_up.values()]
            is_settled = all([bucket.settle(timeout_s).is_settled for bucket in buckets if bucket is not None])
            if not is_settled:
                log.warning("%s", self.session.describe(f"settle: not all repairs came within {timeout_s} s"))
        said: list[list[bytes]] = []
        mine = bytes([self._differs])
        self.session.submit(
            Work("whether replicas differ", []), lambda: self.session.calls.start_all_gather_bytes(mine), said.append
        ).wait()
        differs = [one != b"\0" for one in said[0]]
        if any(differs):
            log.info("%s", self.session.describe(f"the replicas of {sum(differs)} ranks may differ: they are made the same"))
            self._hand_out(optimizer, differs.index(False) if False in differs else 0)
        self._differs = not is_settled
        return any(differs)

    def _hand_out(self, optimizer: torch.optim.Optimizer, root: int) -> None:
        """The root's parameters and optimizer state."""
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        state = [optimizer.state[one][name] for one in parameters for name in sorted(optimizer.state.get(one, {}))]
        works = []
        for tensor in [*parameters, *(one for one in state if isinstance(one, torch.Tensor))]:
            name = f"{tensor.numel()} elements of a replica"

            def start(tensor: torch.Tensor = tensor) -> Any:
                return self.session.calls.start_broadcast_bytes(to_bytes(tensor.cpu()), root)

            def finish(result: bytes, tensor: torch.Tensor = tensor, name: str = name) -> None:
                if self.session.rank != root:
                    from_bytes(tensor, result, name)

            works.append(self.session.submit(Work(name, []), start, finish))
        for work in works:
            work.wait()

    def report(self) -> str:
        """A line for the log: what was lost so far, who was late, what was skipped."""
        reports = list(self.session.reports)
        expected, lost = (sum(getattr(one, name) for one in reports) for name in ("expected_bytes", "lost_bytes"))
        late = sorted({rank for one in reports for rank in one.late_ranks})
        deadline = f", stage deadline {reports[-1].stage_deadline_ms:.1f} ms" if reports else ""
        drift = f", {reports[-1].outstanding_bytes} B outstanding, {reports[-1].drift_bytes} B drift" if reports else ""
        return (
            f"{self.steps} steps, {self.skipped} skipped; of the last {len(reports)} all-reduces "
            f"{100 * lost / max(expected, 1):.3f} % lost, late ranks {late}{deadline}{drift}"
        )

    def close(self) -> None:
        """Ends the connections that the state made itself."""
        if not any(self.session is backend for backend in _sessions_of(self._group)):
            self.session.close()


def _sessions_of(group: Any) -> list[Session]:
    backends = [group._get_backend(device) for device in group._device_types]
    return [backend.session for backend in backends if isinstance(backend, OptiReduceBackend)]


def _connect(group: Any, settings: dict[str, Any]) -> Session:
    rank, size = dist.get_rank(group), dist.get_world_size(group)

    def share(mine: str | None) -> str:
        said = [mine]
        dist.broadcast_object_list(said, src=dist.get_global_rank(group, 0), group=group)
        return str(said[0])

    timeout = _bootstrap.TIMEOUT
    communicator = _bootstrap.connect(rank, size, timeout, share, settings) if size > 1 else None
    return Session(communicator, rank, size, "of gradients", bool(configured(**settings).get("agree")))


def comm_hook(state: State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket of gradients within a deadline: `model.register_comm_hook(state, comm_hook)`."""
    return state.reduce(bucket)
