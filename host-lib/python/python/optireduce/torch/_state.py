"""The DDP communication hook: gradients are bounded, other calls use the group's backend.

A DDP bucket is identified by its index and the lengths of its parameters, so that repairs never
reach a bucket with other parameters. DDP rebuilds its buckets after the first backward pass; the
new ones are declared by an exact all-reduce.
"""

import logging
import types
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist

from .. import ArgumentError, ClosedError, Communicator, DroppedError, HaltError, PeerError, Report
from .._optireduce import SKIPS_HALT
from . import _bootstrap
from ._backend import OptiReduceBackend
from ._replicas import Replicas
from ._return import PASSES, Returns
from ._session import REPORTS, SETTLE_S, Groups, Session
from ._settings import SYNCHRONIZE_EVERY, check_every, configured, engine_of
from ._staging import Staged
from ._tensors import BOUNDED_TYPES, check_type
from ._work import Work

log = logging.getLogger("optireduce")

# States in the order of their first all-reduces.
_states: "list[weakref.ref[State]]" = []
# States that guard an optimizer, in the order of their calls of `guard`.
_guards: "weakref.WeakKeyDictionary[torch.optim.Optimizer, list[State]]" = weakref.WeakKeyDictionary()


class _Step(deque[Report]):
    """Reports since the last step."""

    def __init__(self) -> None:
        super().__init__(maxlen=REPORTS)
        #: The last one after which this rank halts.
        self.halt: Report | None = None

    def note(self, report: Report, halts: bool) -> None:
        """Receives the report of an all-reduce."""
        self.append(report)
        if halts:
            self.halt = report


class State(Replicas):
    """State of the hook for one model: `model.register_comm_hook(State(), comm_hook)`.

    - `group`: process group of the model, of any backend. Default: the world.
    - `synchronize_every`: the optimizer calls `settle` after this many steps; None: never.
    - `groups`: all-reduces on two levels, in this many groups of neighbouring ranks, or "hosts" for
      a group per host, which then sends the traffic of one rank to the others.
    - `settings`: those of `optireduce.Communicator`. Ignored if the backend of the group is
      optireduce: use `configure`. With `agree` all ranks skip a step if one would. They decide after
      each all-reduce, within 3 t_B and 0.25 s. A rank without a decision by then decides alone.

    A copy, as of `copy.deepcopy` or `pickle`, has neither the group nor a secret. It uses the world
    once it reduces.
    """

    def __init__(
        self,
        group: Any = None,
        *,
        synchronize_every: int | None = SYNCHRONIZE_EVERY,
        groups: Groups | None = None,
        **settings: Any,
    ) -> None:
        check_every(synchronize_every, "optireduce.torch.State")
        self._begin(synchronize_every, groups, settings)
        self._attach(group)

    def _attach(self, group: Any) -> None:
        """Connects to the session of a group, or makes one for its ranks."""
        group = group or dist.group.WORLD
        if group is None:
            raise ClosedError("optireduce.torch.State: there is no process group; call init_process_group first")
        backend = group._get_backend(torch.device("cpu")) if torch.device("cpu") in group._device_types else None
        self._group: Any = group
        self._session = backend.session if isinstance(backend, OptiReduceBackend) else _connect(group, self._settings)
        if self._groups is not None:
            self._on_levels = True
            self._session.use_levels(self._groups)

    @classmethod
    def from_env(cls, *, synchronize_every: int | None = SYNCHRONIZE_EVERY, **settings: Any) -> "State":
        """Makes a state without a process group of all ranks, from the launcher's environment.

        Ranks may die, be restarted with `OPTIREDUCE_REJOIN=1`, or be stopped for a while. The
        others continue, and a rank that returns receives the model, the optimizer's state and
        `steps` from one of them. DDP needs a process group of this rank alone, and the optimizer
        must be guarded. Rank 0 cannot be restarted. `settings`: those of
        `optireduce.Communicator`."""
        check_every(synchronize_every, "optireduce.torch.State")
        if engine_of(settings) != "udp":
            raise ArgumentError("optireduce.torch.State.from_env: engine is 'tcp', expected 'udp': exact calls with ranks that are gone fail")
        state = cls.__new__(cls)
        state._begin(synchronize_every, None, {})
        state._session = Session(Communicator(**{"skip_gone": True, **configured(**settings)}), "of gradients")
        state._returns, state._may_return = Returns(state._session), True
        return state

    def _begin(self, synchronize_every: int | None, groups: Groups | None, settings: dict[str, Any]) -> None:
        super().__init__(None, synchronize_every)
        self._groups, self._settings = groups, settings
        self._group = None
        # Index of this state in its session, by first all-reduce.
        self._number: int | None = None
        # True if gradients were reduced since the last step.
        self._has_reduced = self._is_guarded = False
        # Decision on the last pass, whether it made replicas differ, and the optimizers that have
        # made their steps after it.
        self._was_allowed, self._pass_differs = True, False
        self._stepped_in_pass: set[int] = set()
        # Parameters of the last backward pass, by their ids.
        self._known: dict[int, torch.Tensor] = {}
        # Parameters of the pass in progress, by their ids.
        self._pass: dict[int, torch.Tensor] = {}
        # Reports since the last step.
        self._step = _Step()
        # Present buckets of DDP by index: their keys and parameters.
        self._made_up: dict[int, tuple[Any, list[torch.Tensor]]] = {}
        self.skipped = 0
        # For states that ranks may rejoin.
        self._returns: Returns | None = None
        self._is_dropped = self._has_joined = False
        #: The halt that ended the job on this rank.
        self._halted: HaltError | None = None
        # Number of a collective of the first bucket.
        self._phase: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        log.warning("optireduce.torch.State: a copy has no process group; it uses the world once it reduces, or is not used in training")
        names = ("_synchronize_every", "_groups", "_may_return", "steps", "skipped")
        settings = {name: value for name, value in self._settings.items() if name != "secret"}
        return {**{name: getattr(self, name) for name in names}, "_settings": settings}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self._begin(kept["_synchronize_every"], kept["_groups"], kept["_settings"])
        vars(self).update(kept)

    @property
    def session(self) -> Session:
        """Session of the group; a copy connects at its first use, on all ranks."""
        if self._session is None:
            if self._may_return:
                raise ClosedError("optireduce.torch.State: this is a copy of a state from State.from_env, which cannot connect again; make a new state")
            self._attach(None)
        assert self._session is not None
        return self._session

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
        name = f"all_reduce of DDP's bucket {bucket.index()} of {tensor.numel()} elements"
        check_type(tensor, self.session.describe(name))
        if self._returns is not None and tensor.dtype not in BOUNDED_TYPES:
            found = f"gradients of {tensor.dtype}, which are reduced exactly; ranks that may die need float32, bfloat16 or float16"
            raise ArgumentError(f"{self.session.describe(name)}: {found}")
        if self._number is None:
            self._number = next(self.session.numbers)
            self.session.replicas.add(self)
            _states.append(weakref.ref(self, _states.remove))
            # A model that is gone needs no buckets. One rank alone may free them.
            weakref.finalize(self, self.session.free, ("ddp", self._number)).atexit = False
        self._has_reduced = True
        key = ("ddp", self._number, bucket.index(), tensor.dtype, tuple(one.numel() for one in parameters))
        self._check_model(bucket, parameters)
        before = self._made_up.get(bucket.index())
        if before is not None and before[0] != key:
            self._give_up(before[0])
        self._made_up[bucket.index()] = (key, parameters)
        if bucket.is_last():
            for index in [index for index in self._made_up if index > bucket.index()]:
                self._give_up(self._made_up.pop(index)[0])
        if tensor.is_cuda:
            staged = Staged(name, tensor)
            self.session.all_reduce(staged.work, staged.host, "avg", key, self._step.note, self._on_levels)
            return staged.future
        work = self.session.all_reduce(Work(name, [tensor]), tensor, "avg", key, self._step.note, self._on_levels)

        def done(_: Any) -> torch.Tensor:
            try:
                work.wait()
            except DroppedError:
                if self._returns is None:
                    raise
                self._is_dropped = True
            return tensor

        return work.get_future().then(done)

    def _check_model(self, bucket: dist.GradBucket, parameters: list[torch.Tensor]) -> None:
        """Raises an error if a pass is of another model than the passes before, with whose buckets
        its buckets would be confused."""
        if bucket.index() == 0:
            self._pass = {}
        self._pass.update((id(one), one) for one in parameters)
        if not bucket.is_last():
            return
        if self._known and self._known.keys().isdisjoint(self._pass):
            found = "its gradients are of another model than before; make a State for each model"
            raise ArgumentError(f"{self.session.describe('optireduce.torch.State')}: {found}")
        self._known = self._pass

    def _give_up(self, key: Any) -> None:
        """Settles a bucket that DDP replaced. Its correction fits no other bucket: replicas
        then differ until `settle`."""
        bucket = self.session.buckets().pop(key, None)
        # A rank outside the job has reduced nothing.
        settled = self.session.settle_bucket(bucket, 0.0) if bucket is not None and not self.session.is_outside else None
        if settled is not None and (settled.correction is not None or settled.repairs.outstanding_bytes):
            self._differs = True
            log.warning("%s", self.session.describe(f"a bucket of DDP was rebuilt with {settled.repairs.outstanding_bytes} bytes outstanding"))

    def step_allowed(self) -> bool:
        """Returns whether the optimizer may make its step, after a backward pass. Raises
        `HaltError` if this or another rank halts.

        Always true unless the ranks agree: a rank that lost too much has zero gradients,
        and the lost mean is added to a later one."""
        is_allowed = self._allowed()
        self._halt_with_others()
        return is_allowed

    def _makes_differ(self, reports: Iterable[Report]) -> bool:
        """Returns whether replicas may differ after updates with these reports."""
        agrees = self.session.agrees
        return any(one.missing or (not one.is_agreed if agrees else not one.is_applied) for one in reports)

    def _allowed(self) -> bool:
        """Decides as `step_allowed`, without halts of other ranks. Steps of several optimizers
        after one backward pass have one decision."""
        self._check_halted()
        if not self._has_reduced:
            self._has_joined = False
            self._differs |= self._pass_differs
            return self._was_allowed
        self._was_allowed = True
        reports, halt, self._has_reduced = list(self._step), self._step.halt, False
        self._step = _Step()
        self._stepped_in_pass.clear()
        self.steps += 1
        self._has_joined = any(report.joined_rank is not None for report in reports)
        if reports and len(reports) == len(self._made_up):
            self._phase = reports[0].number
        live = reports[-1].ranks if reports and self._on_levels else range(self.session.size)
        if gone := set(range(self.session.size)).difference(live):
            found = f"ranks {sorted(gone)} are gone, and on two levels no other rank has their parts of the means"
            raise PeerError(f"{self.session.describe('step')} {self.steps}: {found}; restart the job")
        applied = all(report.is_applied for report in reports)
        self._pass_differs = self._makes_differ(reports)
        if self.session.agrees and not all(report.is_agreed for report in reports):
            log.warning("%s", self.session.describe(f"step {self.steps}: the ranks' decision did not arrive in time"))
        self._pass_differs |= not (applied or self.session.agrees)
        self._differs |= self._pass_differs
        if not applied:
            self.skipped += 1
            log.warning("%s", self.session.describe(f"step {self.steps}: more than 10 % was lost"))
        if halt is not None:
            self.session.halts.tell(max(report.number for report in reports))
            raise self._halt(f"more than 10 % was lost in {SKIPS_HALT} all-reduces in a row", halt)
        self._was_allowed = applied or not self.session.agrees
        return self._was_allowed

    def _halt_with_others(self) -> None:
        """Raises `HaltError` if another rank has halted."""
        if (rank := self.session.halts.heard()) is not None:
            raise self._halt(f"rank {rank} has halted: it lost more than 10 % in {SKIPS_HALT} all-reduces in a row")

    def _halt(self, found: str, report: Report | None = None) -> HaltError:
        """Ends the job on this rank. A program that caught the error and went on would settle in other
        steps than the other ranks."""
        self._halted = HaltError(f"{self.session.describe('step')} {self.steps}: {found}", report)
        return self._halted

    def _check_halted(self) -> None:
        if self._halted is not None:
            raise HaltError(f"{self._halted}; this state ended there: restart the job from a checkpoint")

    def guard(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        """Makes `optimizer.step()` raise `HaltError` on a halt, and settle every
        `synchronize_every` steps. With `agree` it also skips steps that are not allowed.
        Guard each optimizer of the model, before learning rate schedulers are made."""
        self._is_guarded = True
        # An optimizer may train the models of several states.
        others = [one for one in _guards.get(optimizer, []) if one is not self and one._is_in_use()]
        if optimizer not in _guards:
            optimizer.step = types.MethodType(_guarded, optimizer)  # type: ignore[method-assign]
        _guards[optimizer] = [*others, self]
        return optimizer

    def _is_in_use(self) -> bool:
        """Returns whether the state has neither halted nor outlived its group."""
        return self._halted is None and self._session is not None and self._session.is_open()

    def _guard_step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Does the work of `guard` before a step; returns whether to make it."""
        # A rank outside makes all steps, which create the state of the optimizer.
        return True if self._is_away() else self._allowed()

    def _is_away(self) -> bool:
        """Returns whether this rank was dropped or has yet to rejoin."""
        return self._is_dropped or self.session.is_outside

    def _guard_stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """Does the work of `guard` after a step."""
        if self._is_away():
            # The values of the state come from another rank.
            if self._has_reduced:
                self._has_reduced = False
                self._come_back(self._add(optimizer))
            return
        if self._has_reduced:
            # In a closure of the step.
            self._allowed()
        self._settle_in_time(optimizer)
        if self._returns is not None and self._phase is not None:
            self._returns.answer(self._keys(), self._phase)
        # After the step, which the other ranks have made as well.
        self._halt_with_others()

    def _settle_in_time(self, optimizer: torch.optim.Optimizer) -> None:
        number = self._add(optimizer)
        if number in self._stepped_in_pass:
            # A step without a new all-reduce, as with `no_sync`.
            return
        self._stepped_in_pass.add(number)
        if self._has_joined:
            self.settle(optimizer)
        elif self.steps:
            self._stepped()

    def after(self, optimizer: torch.optim.Optimizer | None) -> None:
        """Does the work of `guard` after a step of an optimizer without a guard, which cannot be
        skipped any more: its gradients of skipped buckets are zeros."""
        if not self._is_in_use():
            return
        if optimizer is None:
            if self._has_reduced and not self._is_guarded:
                self._allowed()
                self.warn(f"step {self.steps}: a part of a mean is missing")
                self._halt_with_others()
        elif self not in _guards.get(optimizer, ()) and self._number is not None and self._trains(optimizer):
            self._allowed()
            self._settle_in_time(optimizer)
            self._halt_with_others()

    def _trains(self, optimizer: torch.optim.Optimizer | None) -> bool:
        """Returns whether an optimizer has parameters of this state's model; None may have any."""
        if optimizer is None:
            return True
        theirs = {id(one) for group in optimizer.param_groups for one in group["params"]}
        return any(id(one) in theirs for _, parameters in self._made_up.values() for one in parameters)

    def _keys(self) -> list[Any]:
        """Returns the keys of DDP's present buckets, in the order of their all-reduces."""
        return [key for _, (key, _) in sorted(self._made_up.items())]

    def _come_back(self, number: int) -> None:
        """Rejoins after a step of optimizer `number`: passes zeros for the rest of a step of the
        others, then receives their model."""
        self.steps += 1
        self._step = _Step()
        self._stepped_in_pass = {number}
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
            self.session.all_reduce(work, zeros, "avg", key, self._step.note).wait()
        self._step = _Step()
        self._differs = True
        is_settled = self._drain(SETTLE_S)
        self._make_same(came_back=True)
        self._differs |= not is_settled
        # Optimizers whose steps follow use the gradients of this rank alone.
        self._pass_differs = True

    def settle(self, optimizer: torch.optim.Optimizer, timeout_s: float = SETTLE_S) -> bool:
        """Makes the parameters and optimizer states of all replicas equal, to the bit: of this
        optimizer and of all others that have made steps of the model. If any may differ, a rank
        whose replica does not (rank 0 if there is none) copies its own to the others. Buffers are
        not copied: see `synchronize`.

        All ranks call it after the last step and before a checkpoint, and wait for the slowest.
        Returns whether any replica might differ."""
        self._check_halted()
        self._add(optimizer)
        # Reports after the last step, as if it was skipped.
        self._differs |= self._makes_differ(self._step)
        return self._settle(timeout_s)

    def report(self) -> str:
        """Returns a line for a log: losses so far, late ranks, skipped steps."""
        reports = list(self.session.reports)
        expected, lost = (sum(getattr(one, name) for one in reports) for name in ("expected_bytes", "lost_bytes"))
        late = sorted({rank for one in reports for rank in one.late_ranks})
        deadline = f", bound {reports[-1].bound_ms:.1f} ms" if reports else ""
        drift = f", {reports[-1].outstanding_bytes} B outstanding, {reports[-1].drift_bytes} B drift" if reports else ""
        return (
            f"{self.steps} steps, {self.skipped} skipped; of the last {len(reports)} all-reduces "
            f"{100 * lost / max(expected, 1):.3f} % lost, late ranks {late}{deadline}{drift}"
        )

    def close(self) -> None:
        """Closes the connections that the state has made, if any."""
        if self._session is None:
            return
        if self._group is None or not any(self.session is backend for backend in sessions_of(self._group)):
            self.session.close()


def _guarded(optimizer: torch.optim.Optimizer, *arguments: Any, **keywords: Any) -> Any:
    """Step of an optimizer that states guard."""
    states = _guards[optimizer]
    is_allowed = all([state._guard_step(optimizer) for state in states])
    result = type(optimizer).step(optimizer, *arguments, **keywords) if is_allowed else None
    for state in states:
        state._guard_stepped(optimizer)
    return result


def step_states(optimizer: torch.optim.Optimizer | None) -> None:
    """Tells all states of a step of an optimizer; None: of all optimizers."""
    for state in [one() for one in _states]:
        if state is not None:
            state.after(optimizer)


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
    communicator = _bootstrap.connect(rank, size, timeout, share, dist.distributed_c10d._get_default_store(), settings)
    return Session(communicator, "of gradients", engine)


def comm_hook(state: State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket of gradients, bounded: `model.register_comm_hook(state, comm_hook)`."""
    return state.reduce(bucket)
