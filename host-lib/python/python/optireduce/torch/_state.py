"""The DDP communication hook: gradients are bounded, other calls use the group's backend.

A DDP bucket is identified by its index and the lengths of its parameters, so that repairs never
reach a bucket with other parameters. DDP rebuilds its buckets after the first backward pass; the
new ones are declared by an exact all-reduce.
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

#: Votes on a step; the lowest wins. SKIP_BESIDE_LATE is a skip with a late rank.
SKIP, SKIP_BESIDE_LATE, APPLY = range(3)


class State:
    """State of the hook for one model: `model.register_comm_hook(State(), comm_hook)`.

    - `group`: process group of the model, of any backend. Default: the world.
    - `vote`: all ranks vote over TCP before each optimizer step, and wait for the slowest rank.
      With the setting `agree` instead they agree after each all-reduce, within 3 t_B and 0.25 s. A
      rank without a decision by then decides alone.
    - `synchronize_every`: a guarded optimizer calls `settle` after this many steps; None: never.
    - `groups`: all-reduces on two levels, in this many groups of neighbouring ranks, or "hosts" for
      a group per host, which then sends the traffic of one rank to the others.
    - `settings`: those of `optireduce.Communicator`. Ignored if the backend of the group is
      optireduce: use `configure`.
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
            raise ClosedError("optireduce.torch.State: there is no process group; call init_process_group first")
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
        """Makes a state without a process group of all ranks, from the launcher's environment.

        Ranks may die, be restarted with `OPTIREDUCE_REJOIN=1`, or be stopped for a while. The
        others continue, and a rank that returns receives the model, the optimizer's state and
        `steps` from one of them. DDP needs a process group of this rank alone, and the optimizer
        must be guarded. Rank 0 cannot be restarted. `settings`: those of
        `optireduce.Communicator.from_env`."""
        _check_every(synchronize_every)
        if engine_of(settings) != "udp":
            raise ArgumentError("optireduce.torch.State.from_env: engine is 'tcp', expected 'udp': exact calls with ranks that are gone fail")
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
        # Present buckets of DDP by index: their keys and parameters.
        self._made_up: dict[int, tuple[Any, list[torch.Tensor]]] = {}
        # True if this replica may differ from others since they were last equal.
        self._differs = False
        self.steps = self.skipped = self._in_a_row = self._late_in_a_row = self._packets_in_a_row = 0
        # For states that ranks may rejoin.
        self._returns: Returns | None = None
        self._is_dropped = self._has_joined = False
        #: The halt that ended the job on this rank.
        self._halted: HaltError | None = None
        # Number of a collective of the first bucket.
        self._phase: int | None = None

    @property
    def rank(self) -> int:
        return self.session.rank

    @property
    def world_size(self) -> int:
        return self.session.size

    def reduce(self, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """Returns the mean of a bucket of gradients."""
        self._check_halted()
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
        """Settles a bucket that DDP replaced. Its correction fits no other bucket: replicas
        then differ until `settle`."""
        bucket = self.session.buckets().pop(key, None)
        # A rank outside the job has reduced nothing.
        settled = self.session.settle_bucket(bucket, 0.0) if bucket is not None and not self.session.is_outside else None
        if settled is not None and (settled.correction is not None or settled.outstanding_bytes):
            self._differs = True
            log.warning("%s", self.session.describe(f"a bucket of DDP was rebuilt with {settled.outstanding_bytes} bytes outstanding"))

    def step_allowed(self) -> bool:
        """Returns whether the optimizer may make its step, after a backward pass. Raises
        `HaltError` if this or another rank halts.

        Always true unless the ranks vote or agree: a rank that lost too much has zero gradients,
        and the lost mean is added to a later one."""
        is_allowed = self._allowed()
        self._halt_with_others()
        return is_allowed

    def _allowed(self) -> bool:
        """Decides as `step_allowed`, without halts of other ranks."""
        self._check_halted()
        reports, self._step = list(self._step), []
        self.steps += 1
        self._has_joined = any(report.joined_rank is not None for report in reports)
        if reports and len(reports) == len(self._made_up):
            self._phase = reports[0].op
        live = reports[-1].live_ranks if reports and self._on_levels else range(self.session.size)
        if gone := set(range(self.session.size)).difference(live):
            found = f"ranks {sorted(gone)} are gone, and on two levels no other rank has their parts of the means"
            raise PeerError(f"{self.session.describe('step')} {self.steps}: {found}; restart the job")
        applied = all(report.action == "apply" for report in reports)
        is_common = self._vote or self.session.agrees
        late = any(report.late_ranks for report in reports)
        if self._vote:
            vote = self._voted(APPLY if applied else SKIP_BESIDE_LATE if late else SKIP)
            applied, late = vote == APPLY, vote == SKIP_BESIDE_LATE
        elif is_common and not all(report.agreed for report in reports):
            self._differs = True
            log.warning("%s", self.session.describe(f"step {self.steps}: the ranks' decision did not arrive in time"))
        # After a vote to skip, repairs add the lost means only on the ranks that lost them.
        self._differs |= any(report.missing_ranges for report in reports) or not (applied or self.session.agrees)
        self._in_a_row = 0 if applied else self._in_a_row + 1
        self._late_in_a_row = 0 if applied else min(self._late_in_a_row + late, SKIPS_HALT)
        self._packets_in_a_row = 0 if applied else self._packets_in_a_row + sum(report.packets for report in reports)
        if not applied:
            self.skipped += 1
            log.warning("%s", self.session.describe(f"step {self.steps}: more than 10 % was lost"))
        # A dead rank costs updates until it is dropped, which is no reason to halt. So the first
        # SKIPS_HALT steps beside a late rank do not count: a dead rank is dropped by then.
        is_broken = self._in_a_row - self._late_in_a_row >= SKIPS_HALT and self._packets_in_a_row >= PACKETS_HALT
        if is_broken if self._vote else any(report.action == "halt" for report in reports):
            calls = "steps" if self._vote else "all-reduces"
            if not self._vote:
                self.session.halts.tell(max(report.op for report in reports))
            raise self._halt(f"more than 10 % was lost in {SKIPS_HALT} {calls} in a row")
        return applied or not is_common

    def _halt_with_others(self) -> None:
        """Raises `HaltError` if another rank has halted."""
        rank = None if self._vote else self.session.halts.heard()
        if rank is not None:
            raise self._halt(f"rank {rank} has halted: it lost more than 10 % in {SKIPS_HALT} all-reduces in a row")

    def _halt(self, found: str) -> HaltError:
        """Ends the job on this rank, unless the ranks vote and so halt together. A program that
        caught the error and went on would settle in other steps than the other ranks."""
        halted = HaltError(f"{self.session.describe('step')} {self.steps}: {found}")
        self._halted = None if self._vote else halted
        return halted

    def _check_halted(self) -> None:
        if self._halted is not None:
            raise HaltError(f"{self._halted}; this state ended there: restart the job from a checkpoint")

    def _voted(self, vote: int) -> int:
        """Returns the lowest vote of all ranks."""
        votes: list[bytes] = []
        start = lambda: self.session.calls.start_all_reduce_exact(bytes([vote]), "u8", "min")  # noqa: E731
        self.session.submit(Work("vote", []), start, votes.append).wait()
        return votes[0][0]

    def guard(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        """Makes `optimizer.step()` raise `HaltError` on a halt, and settle every
        `synchronize_every` steps. With `vote` or `agree` it also skips steps that are not allowed.
        Call it before learning rate schedulers are made."""
        step = type(optimizer).step

        def guarded(optimizer: torch.optim.Optimizer, *arguments: Any, **keywords: Any) -> Any:
            if self._is_dropped or self.session.is_outside:
                # The step creates the optimizer's state; its values come from another rank.
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
            # After the step, which the other ranks have made as well.
            self._halt_with_others()
            return result

        optimizer.step = types.MethodType(guarded, optimizer)  # type: ignore[method-assign]
        return optimizer

    def _keys(self) -> list[Any]:
        """Returns the keys of DDP's present buckets, in the order of their all-reduces."""
        return [key for _, (key, _) in sorted(self._made_up.items())]

    def _come_back(self, optimizer: torch.optim.Optimizer) -> None:
        """Rejoins: passes zeros for the rest of a step of the others, then receives their model."""
        self.steps += 1
        self._step = []
        if self._returns is None or (self.session.is_outside and self.steps < PASSES):
            return
        keys = self._keys()
        if self.session.is_outside:
            self._phase = self._returns.ask(keys)
        first = self.session.calls.rejoin()
        self.session.is_outside = self._is_dropped = False
        log.info("%s", self.session.describe(f"rejoined with all-reduce {first}"))
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
            # Exact calls would wait for a dropped rank. On two levels a rank may not see the drop.
            if not reports or self._on_levels or len(reports[-1].live_ranks) == self.session.size:
                self.settle(optimizer)
        except PeerError as error:
            if self._on_levels:
                raise
            if self._returns is None:
                self._synchronize_every = None
            log.warning("%s", self.session.describe(f"cannot compare replicas{'' if self._returns else ', and will not try again'}: {error}"))

    def settle(self, optimizer: torch.optim.Optimizer, timeout_s: float = SETTLE_S) -> bool:
        """Makes the parameters and optimizer states of all replicas equal, to the bit. If any may
        differ, a rank whose replica does not (rank 0 if there is none) copies its own to the
        others. Buffers are not copied: see `synchronize`.

        All ranks call it after the last step and before a checkpoint, and wait for the slowest.
        Returns whether any replica might differ."""
        self._check_halted()
        is_settled = self._drain(timeout_s)
        differed = self._make_same(optimizer)
        self._differs = not is_settled
        return differed

    def _drain(self, timeout_s: float) -> bool:
        """If this replica may differ, waits for outstanding repairs and discards them, since only
        this rank would apply them. Returns whether all arrived.

        On two levels the ranks of a group settle together."""
        return not (self._differs or self._on_levels) or self.session.settle(self._keys(), timeout_s)

    def _make_same(self, optimizer: torch.optim.Optimizer, came_back: bool = False) -> bool:
        """Copies a replica that does not differ to all ranks if any may differ; returns whether."""
        said: list[list[bytes]] = []
        mine = struct.pack("<BQ", 2 if came_back else self._differs, self.steps)
        self.session.submit(
            Work("whether replicas differ", []), lambda: self.session.calls.start_all_gather_bytes(mine), said.append
        ).wait()
        # Ranks that are gone have no bytes.
        of_ranks = {rank: struct.unpack("<BQ", one) for rank, one in enumerate(said[0]) if one}
        differ = [rank for rank, (differs, _) in of_ranks.items() if differs]
        if differ:
            log.info("%s", self.session.describe(f"the replicas of ranks {differ} may differ: copying one replica to all ranks"))
            root = min(of_ranks, key=lambda rank: (of_ranks[rank][0], rank))
            self._hand_out(optimizer, root)
            self.steps = of_ranks[root][1]
        self._differs = False
        return bool(differ)

    def _hand_out(self, optimizer: torch.optim.Optimizer, root: int) -> None:
        """Copies the root's parameters and optimizer state to all ranks."""
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
        """Returns a line for a log: losses so far, late ranks, skipped steps."""
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
        """Closes the connections that the state has made, if any."""
        if self._group is None or not any(self.session is backend for backend in sessions_of(self._group)):
            self.session.close()


def _check_every(synchronize_every: int | None) -> None:
    if synchronize_every is not None and synchronize_every < 1:
        raise ArgumentError(f"optireduce.torch.State: synchronize_every is {synchronize_every}, expected at least 1 step, or None")


def sessions_of(group: Any) -> list[Session]:
    """Returns the sessions of a group's optireduce backends."""
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
    communicator = _bootstrap.connect(rank, size, timeout, share, dist.distributed_c10d._get_default_store(), settings) if size > 1 else None
    return Session(communicator, rank, size, "of gradients", bool(settings.get("agree")), engine)


def comm_hook(state: State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket of gradients, bounded: `model.register_comm_hook(state, comm_hook)`."""
    return state.reduce(bucket)
