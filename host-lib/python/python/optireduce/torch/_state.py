"""The communication hook of DDP, on any backend: gradients are bounded, everything else stays where it was.

A bucket of DDP is known by its index and the lengths of its parameters, so that repairs never cross into a bucket of another
make-up: DDP rebuilds its buckets after the first backward pass, when each of them is declared, and reduced exactly, anew.
"""

import logging
import struct
import types
from typing import Any

import torch
import torch.distributed as dist

from .. import ArgumentError, ClosedError, Communicator, DroppedError, HaltError, PeerError, Report
from .._optireduce import PACKETS_HALT, SKIPS_HALT
from . import _bootstrap
from ._backend import OptiReduceBackend
from ._return import PASSES, Returns
from ._session import SETTLE_S, Groups, Session
from ._settings import configured, engine_of
from ._staging import Staged
from ._tensors import from_bytes, to_bytes
from ._work import Work

log = logging.getLogger("optireduce")

#: Votes on a step, the least of which counts: too much was lost; it was, while a rank was late; nothing is wrong.
SKIP, SKIP_BESIDE_LATE, APPLY = range(3)


class State:
    """What the hook knows of a model: `model.register_comm_hook(State(), comm_hook)`.

    `group`: the process group of the model; of any backend. `settings`: those of `optireduce.Communicator`, unless the backend
    of the group is optireduce. `groups`: all-reduces on two levels, in so many groups of neighbouring ranks, or, with "hosts", in a group for each
    host, which then sends to the others what one rank would. `synchronize_every`: after so many steps the optimizer that is guarded calls `settle`; None: never.
    `vote`: all ranks vote before each step of the optimizer, over TCP, and so wait for the slowest; with the setting `agree` they agree
    within the deadline, and 0.25 s, and a rank that hears of no decision does what it would.
    """

    def __init__(
        self,
        group: Any = None,
        *,
        vote: bool = False,
        synchronize_every: int | None = 100,
        groups: Groups | None = None,
        **settings: Any,
    ) -> None:
        _check_every(synchronize_every)
        group = group or dist.group.WORLD
        if group is None:
            raise ClosedError("optireduce.torch.State: there is no process group; call init_process_group before")
        backend = group._get_backend(torch.device("cpu")) if torch.device("cpu") in group._device_types else None
        if isinstance(backend, OptiReduceBackend):
            self._begin(backend.session, group, vote, synchronize_every)
        else:
            self._begin(_connect(group, settings), group, vote, synchronize_every)
        if groups is not None:
            self._on_levels = True
            self.session.use_levels(groups)

    @classmethod
    def from_env(cls, *, vote: bool = False, synchronize_every: int | None = 100, **settings: Any) -> "State":
        """A state that needs no process group of all ranks: the launcher's environment says which rank this is. Ranks may die, be started
        again with `OPTIREDUCE_REJOIN=1`, and be stopped for a while: the others go on, and a rank that comes back gets model, optimizer's
        state and `steps` from one of them. DDP itself gets a group of this rank alone, and the optimizer must be guarded. Rank 0 cannot be
        started again. `settings`: those of `optireduce.Communicator.from_env`."""
        _check_every(synchronize_every)
        if engine_of(settings) != "udp":
            raise ArgumentError("optireduce.torch.State.from_env: engine is 'tcp', expected 'udp': exact calls of ranks that are gone fail")
        settings = configured(**settings)
        communicator = Communicator.from_env(**settings)
        communicator.skip_gone_ranks()
        rank, size = communicator.rank, communicator.world_size
        state = cls.__new__(cls)
        session = Session(communicator, rank, size, "of gradients", bool(settings.get("agree")))
        state._begin(session, None, vote, synchronize_every)
        state._returns = Returns(session)
        return state

    def _begin(self, session: Session, group: Any, vote: bool, synchronize_every: int | None) -> None:
        self.session = session
        self._group, self._vote, self._synchronize_every = group, vote, synchronize_every
        self._on_levels = False
        self._step: list[Report] = []
        # Buckets of the present make-up, by index: their streams, and the parameters that they are made of.
        self._made_up: dict[int, tuple[Any, list[torch.Tensor]]] = {}
        # Whether this replica lacks, or got late, what others have, since replicas were the same.
        self._differs = False
        self.steps = self.skipped = self._in_a_row = self._late_in_a_row = self._packets_in_a_row = 0
        # Of states that ranks may come back to.
        self._returns: Returns | None = None
        self._is_dropped = self._has_joined = False
        # The number of a collective over the first bucket.
        self._phase: int | None = None

    @property
    def rank(self) -> int:
        return self.session.rank

    @property
    def world_size(self) -> int:
        return self.session.size

    def reduce(self, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """The mean of a bucket of gradients."""
        tensor, parameters = bucket.buffer(), bucket.parameters()
        key = ("ddp", id(self), bucket.index(), tensor.dtype, tuple(one.numel() for one in parameters))
        before = self._made_up.get(bucket.index())
        if before is not None and before[0] != key:
            self._settle(before[0])
        self._made_up[bucket.index()] = (key, parameters)
        if bucket.is_last():
            for index in [index for index in self._made_up if index > bucket.index()]:
                self._settle(self._made_up.pop(index)[0])
        name = f"all_reduce of DDP's bucket {bucket.index()} of {tensor.numel()} elements"
        if tensor.is_cuda:
            staged = Staged(name, tensor)
            self.session.all_reduce(staged.work, staged.host, "avg", key, self._step.append, self._on_levels)
            return staged.future
        work = self.session.all_reduce(Work(name, [tensor]), tensor, "avg", key, self._step.append, self._on_levels)

        def done(_: Any) -> torch.Tensor:
            try:
                work.wait()
            except DroppedError:
                if self._returns is None:
                    raise
                self._is_dropped = True
            return tensor

        return work.get_future().then(done)

    def _settle(self, key: Any) -> None:
        """What a bucket that is no more lacked in the end cannot be handed to another: this replica differs, until `settle`."""
        bucket = self.session.buckets().pop(key, None)
        # A rank that is outside has reduced nothing.
        settled = bucket.settle(0.0) if bucket is not None and not self.session.is_outside else None
        if settled is not None and (settled.correction is not None or settled.outstanding_bytes):
            self._differs = True
            log.warning("%s", self.session.describe(f"a bucket of DDP was rebuilt with {settled.outstanding_bytes} bytes outstanding"))

    def step_allowed(self) -> bool:
        """Whether the optimizer is to make its step, after a backward pass. Raises `HaltError` if too much was lost three times in a
        row, here or on another rank. Unless the ranks vote or agree, it is: what this rank left out is zero in its gradients, and comes with the next ones."""
        is_allowed = self._allowed()
        self._halt_with_others()
        return is_allowed

    def _allowed(self) -> bool:
        """The same, but for what other ranks say."""
        reports, self._step = list(self._step), []
        self.steps += 1
        self._has_joined = any(report.joined_rank is not None for report in reports)
        if reports and len(reports) == len(self._made_up):
            self._phase = reports[0].op
        live = reports[-1].live_ranks if reports and self._on_levels else range(self.session.size)
        if gone := set(range(self.session.size)).difference(live):
            found = f"ranks {sorted(gone)} have ended, and on two levels nobody else has their parts of the means"
            raise PeerError(f"{self.session.describe('step')} {self.steps}: {found}; start the job again")
        applied = all(report.action == "apply" for report in reports)
        is_common = self._vote or self.session.agrees
        late = any(report.late_ranks for report in reports)
        if self._vote:
            vote = self._voted(APPLY if applied else SKIP_BESIDE_LATE if late else SKIP)
            applied, late = vote == APPLY, vote == SKIP_BESIDE_LATE
        elif is_common and not all(report.agreed for report in reports):
            self._differs = True
            log.warning("%s", self.session.describe(f"step {self.steps}: no decision of all ranks came in time"))
        # What a vote has left out comes later to those that lacked it, with a mean, and to nobody else.
        self._differs |= any(report.missing_ranges for report in reports) or not (applied or self.session.agrees)
        self._in_a_row = 0 if applied else self._in_a_row + 1
        self._late_in_a_row = 0 if applied else min(self._late_in_a_row + late, SKIPS_HALT)
        self._packets_in_a_row = 0 if applied else self._packets_in_a_row + sum(report.packets for report in reports)
        if not applied:
            self.skipped += 1
            log.warning("%s", self.session.describe(f"step {self.steps}: more than 10 % was lost"))
        # A rank that is dead costs updates until it is dropped, and is no reason to halt. Beside a late rank, as many steps as a row has do
        # not count: by then it is dropped, if it is dead.
        is_broken = self._in_a_row - self._late_in_a_row >= SKIPS_HALT and self._packets_in_a_row >= PACKETS_HALT
        if is_broken if self._vote else any(report.action == "halt" for report in reports):
            calls = "steps" if self._vote else "all-reduces"
            if not self._vote:
                self.session.halts.tell(max(report.op for report in reports))
            raise HaltError(f"{self.session.describe('step')} {self.steps}: more than 10 % was lost in {SKIPS_HALT} {calls} in a row")
        return applied or not is_common

    def _halt_with_others(self) -> None:
        """Raises if another rank has halted."""
        rank = None if self._vote else self.session.halts.heard()
        if rank is not None:
            found = f"rank {rank} has halted: it lost more than 10 % in {SKIPS_HALT} all-reduces in a row"
            raise HaltError(f"{self.session.describe('step')} {self.steps}: {found}")

    def _voted(self, vote: int) -> int:
        """The least that a rank votes."""
        votes: list[bytes] = []
        start = lambda: self.session.calls.start_all_reduce_exact(bytes([vote]), "u8", "min")  # noqa: E731
        self.session.submit(Work("vote", []), start, votes.append).wait()
        return votes[0][0]

    def guard(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        """Makes `optimizer.step()` do nothing when `step_allowed` says no, and `settle` now and then. Before learning rate schedulers are
        made."""
        step = type(optimizer).step

        def guarded(optimizer: torch.optim.Optimizer, *arguments: Any, **keywords: Any) -> Any:
            if self._is_dropped or self.session.is_outside:
                # So that the optimizer has a state, whose values come from another rank.
                result = step(optimizer, *arguments, **keywords)
                self._come_back(optimizer)
                return result
            result = step(optimizer, *arguments, **keywords) if self._allowed() else None
            if self._has_joined:
                self.settle(optimizer)
            elif self._synchronize_every is not None and self.steps % self._synchronize_every == 0:
                self._settle_if_all_are_there(optimizer)
            if self._returns is not None and self._phase is not None:
                self._returns.answer(self._keys(), self._phase)
            # After the step, which the others have made, too.
            self._halt_with_others()
            return result

        optimizer.step = types.MethodType(guarded, optimizer)  # type: ignore[method-assign]
        return optimizer

    def _keys(self) -> list[Any]:
        """Of DDP's present buckets, in the order of their all-reduces."""
        return [key for _, (key, _) in sorted(self._made_up.items())]

    def _come_back(self, optimizer: torch.optim.Optimizer) -> None:
        """Takes part again: in the rest of a step of the others without gradients, and then with their model."""
        self.steps += 1
        self._step = []
        if self._returns is None or (self.session.is_outside and self.steps < PASSES):
            return
        keys = self._keys()
        if self.session.is_outside:
            self._phase = self._returns.ask(keys)
        first = self.session.calls.rejoin()
        self.session.is_outside = self._is_dropped = False
        log.info("%s", self.session.describe(f"takes part again from all-reduce {first} on"))
        for key in keys[(first - (self._phase or 0)) % len(keys) :]:
            zeros = torch.zeros(sum(key[4]), dtype=key[3])
            work = Work(f"all_reduce of {zeros.numel()} zeros", [zeros])
            self.session.all_reduce(work, zeros, "avg", key, self._step.append).wait()
        self._step = []
        if self._vote:
            self._voted(True)
        self._differs = True
        is_settled = self._drain(SETTLE_S)
        self._make_same(optimizer, came_back=True)
        self._differs = not is_settled

    def _settle_if_all_are_there(self, optimizer: torch.optim.Optimizer) -> None:
        reports = self.session.reports
        try:
            # Exact calls would wait for a rank that was dropped. On two levels not every rank knows of it.
            if not reports or self._on_levels or len(reports[-1].live_ranks) == self.session.size:
                self.settle(optimizer)
        except PeerError as error:
            if self._on_levels:
                raise
            if self._returns is None:
                self._synchronize_every = None
            log.warning("%s", self.session.describe(f"replicas are not compared{'' if self._returns else ' any more'}: {error}"))

    def settle(self, optimizer: torch.optim.Optimizer, timeout_s: float = SETTLE_S) -> bool:
        """Makes replicas the same, to the bit: if the updates of any rank lacked something, a rank that has all of them (if there is
        none: rank 0) hands its parameters, and its optimizer's state, to the others. After the last step, and before a checkpoint; all
        ranks call it, and wait for the slowest. Returns whether any differed."""
        is_settled = self._drain(timeout_s)
        differed = self._make_same(optimizer)
        self._differs = not is_settled
        return differed

    def _drain(self, timeout_s: float) -> bool:
        """If this replica may differ: waits for what its means lacked, and lets it go, since later it would be applied by this rank alone.
        Returns whether all has come."""
        return not self._differs or self.session.settle(self._keys(), timeout_s)

    def _make_same(self, optimizer: torch.optim.Optimizer, came_back: bool = False) -> bool:
        """If the replica of any rank may differ, one whose does not hands it to all; returns whether."""
        said: list[list[bytes]] = []
        mine = struct.pack("<BQ", 2 if came_back else self._differs, self.steps)
        self.session.submit(
            Work("whether replicas differ", []), lambda: self.session.calls.start_all_gather_bytes(mine), said.append
        ).wait()
        # Of ranks that are gone there is nothing.
        of_ranks = {rank: struct.unpack("<BQ", one) for rank, one in enumerate(said[0]) if one}
        differ = [rank for rank, (differs, _) in of_ranks.items() if differs]
        if differ:
            log.info("%s", self.session.describe(f"the replicas of ranks {differ} may differ: they are made the same"))
            root = min(of_ranks, key=lambda rank: (of_ranks[rank][0], rank))
            self._hand_out(optimizer, root)
            self.steps = of_ranks[root][1]
        self._differs = False
        return bool(differ)

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
        if self._group is None or not any(self.session is backend for backend in sessions_of(self._group)):
            self.session.close()


def _check_every(synchronize_every: int | None) -> None:
    if synchronize_every is not None and synchronize_every < 1:
        raise ArgumentError(f"optireduce.torch.State: synchronize_every is {synchronize_every}, expected at least 1 step, or None")


def sessions_of(group: Any) -> list[Session]:
    """Those of the backends of a group that are optireduce."""
    backends = [group._get_backend(device) for device in group._device_types]
    return [backend.session for backend in backends if isinstance(backend, OptiReduceBackend)]


def _connect(group: Any, settings: dict[str, Any]) -> Session:
    rank, size = dist.get_rank(group), dist.get_world_size(group)

    def share(mine: str | None) -> str:
        said = [mine]
        dist.broadcast_object_list(said, src=dist.get_global_rank(group, 0), group=group)
        return str(said[0])

    timeout = _bootstrap.TIMEOUT
    engine, settings = engine_of(settings), configured(**settings)
    communicator = _bootstrap.connect(rank, size, timeout, share, settings) if size > 1 else None
    return Session(communicator, rank, size, "of gradients", bool(settings.get("agree")), engine)


def comm_hook(state: State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket of gradients within a deadline: `model.register_comm_hook(state, comm_hook)`."""
    return state.reduce(bucket)
