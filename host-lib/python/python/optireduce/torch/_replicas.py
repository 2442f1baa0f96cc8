"""Replicas that may differ after a loss, and how they become equal again."""

import json
import logging
import struct
import sys
import weakref
from collections.abc import Hashable
from typing import Any

import torch

from .. import OptiReduceError, PeerError, Report
from ._copies import others, pack, unpack
from ._session import SETTLE_S, Session
from ._work import Work

log = logging.getLogger("optireduce")

#: Timeout of the comparison at the end of a group.
END_S = 10.0
#: Content of a message: the condition of a replica and its steps, then the numbers of its
#: optimizers.
MESSAGE, NUMBER = struct.Struct("<BQ"), struct.Struct("<I")
#: Conditions of a replica. The lowest is copied to the others.
EQUAL, DIFFERS, CAME_BACK = range(3)
CURE = "before a checkpoint call State.settle, or without the hook optireduce.torch.synchronize(model), on all ranks"


class Replicas:
    """The replica of a model and its optimizers on this rank, and its equals on the others."""

    def __init__(self, session: Session | None, synchronize_every: int | None) -> None:
        self._session = session
        self._synchronize_every = synchronize_every
        # True if this replica may differ from others since they were last equal.
        self._differs = False
        #: Steps of the optimizer, the same on all ranks.
        self.steps = 0
        self._on_levels = self._may_return = False
        self._has_warned = False
        # Optimizers of the model by the order of their first steps, which all ranks share.
        self._optimizers: dict[int, weakref.ref[torch.optim.Optimizer]] = {}

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    def _keys(self) -> list[Hashable]:
        """Returns the keys of the present buckets."""
        raise NotImplementedError

    def _add(self, optimizer: torch.optim.Optimizer) -> int:
        """Returns the number of an optimizer of the model. A copy includes all of them, since a loss
        makes all their parameters differ."""
        for number, one in self._optimizers.items():
            if one() is optimizer:
                return number
        number = max(self._optimizers, default=-1) + 1
        self._optimizers[number] = weakref.ref(optimizer)
        return number

    def _stepped(self) -> None:
        """Compares the replicas after every `synchronize_every` steps."""
        if self._synchronize_every is not None and self.steps % self._synchronize_every == 0:
            self._settle_if_all_are_there()

    def _are_all_there(self) -> bool:
        """Returns whether no rank was dropped, for which exact calls would wait. On two levels a
        rank may not see the drop."""
        reports = self.session.reports
        return not reports or self._on_levels or len(reports[-1].ranks) == self.session.size

    def _settle_if_all_are_there(self) -> None:
        try:
            if self._are_all_there():
                self._settle(SETTLE_S)
        except PeerError as error:
            if self._on_levels:
                raise
            if not self._may_return:
                self._synchronize_every = None
            again = "" if self._may_return else ", and will not try again"
            log.warning("%s", self.session.describe(f"cannot compare replicas{again}: {error}"))

    def _settle(self, drain_s: float, timeout_s: float | None = None) -> bool:
        """Settles; returns whether any replica might differ. `timeout_s`: of the comparison."""
        is_settled = self._drain(drain_s)
        differed = self._make_same(timeout_s=timeout_s)
        self._differs |= not is_settled
        return differed

    def _drain(self, timeout_s: float) -> bool:
        """If this replica may differ, waits for outstanding repairs and discards them, since only
        this rank would apply them. Returns whether all arrived.

        On two levels the ranks of a group settle together."""
        return not (self._differs or self._on_levels) or self.session.settle(self._keys(), timeout_s)

    def _make_same(self, came_back: bool = False, timeout_s: float | None = None) -> bool:
        """Copies a replica that does not differ to all ranks if any may differ; returns whether."""
        said: list[list[bytes]] = []
        condition = CAME_BACK if came_back else DIFFERS if self._differs else EQUAL
        mine = {number: one for number, known in self._optimizers.items() if (one := known()) is not None}
        message = MESSAGE.pack(condition, self.steps) + b"".join(map(NUMBER.pack, mine))
        start = lambda: self.session.calls.exact.all_gather(message, async_op=True)  # noqa: E731
        self.session.submit(Work("whether replicas differ", [], timeout_s), start, said.append).wait()
        # Ranks that are gone have no bytes.
        of_ranks = {rank: MESSAGE.unpack_from(one) for rank, one in enumerate(said[0]) if one}
        numbers = [{number for (number,) in NUMBER.iter_unpack(one[MESSAGE.size :])} for one in said[0] if one]
        # One rank may have freed an optimizer before another.
        common = set.intersection(*numbers)
        differ = [rank for rank, (condition, _) in of_ranks.items() if condition != EQUAL]
        if differ and not common:
            return True
        if differ:
            log.info("%s", self.session.describe(f"the replicas of ranks {differ} may differ: copying one replica to all ranks"))
            root = min(of_ranks, key=lambda rank: (of_ranks[rank][0], rank))
            self._hand_out([mine[number] for number in sorted(common)], root)
            self.steps = of_ranks[root][1]
        self._differs = False
        return bool(differ)

    def _hand_out(self, optimizers: list[torch.optim.Optimizer], root: int) -> None:
        """Copies the root's parameters and optimizer states to all ranks."""
        owners = [(optimizer, one) for optimizer in optimizers for group in optimizer.param_groups for one in group["params"]]
        tensors: list[torch.Tensor] = []
        packed = [pack(optimizer.state.get(one, {}), tensors) for optimizer, one in owners]
        if left_out := others(packed):
            log.warning("%s", self.session.describe(f"state of optimizers of type {sorted(left_out)} is not copied; it may differ among ranks"))
        is_root = self.session.rank == root
        message = json.dumps(packed).encode() if is_root else b""
        said: list[list[bytes]] = []
        # The states of ranks may have other lengths.
        start_state = lambda: self.session.calls.exact.all_gather(message, async_op=True)  # noqa: E731
        self.session.submit(Work("state of optimizers", []), start_state, said.append).wait()
        if not is_root:
            tensors = []
            for (optimizer, parameter), one in zip(owners, json.loads(said[0][root]), strict=True):
                own = optimizer.state.get(parameter, {})
                state = unpack(one, own, parameter.device, tensors)
                if state or own:
                    own.clear()
                    own.update(state)
                    optimizer.state[parameter] = own
        parameters = {id(one): one for _, one in owners}
        every = [*parameters.values(), *tensors]
        works = [self.session.broadcast(Work(f"{one.numel()} elements of a replica", []), one, root) for one in every]
        for work in works:
            work.wait()

    def warn(self, cause: str) -> None:
        """Logs once that this replica may differ, and the cure."""
        if self._differs and not self._has_warned:
            self._has_warned = True
            log.warning("%s", self.session.describe(f"{cause}, so replicas may differ; {CURE}"))


class Unhooked(Replicas):
    """Replicas of a model whose gradients the backend reduces without the hook.

    The backend sees flat tensors only, and a group may have other all-reduces in its backward
    passes, as tensor parallelism does. So a copy needs an optimizer that has as many parameters as
    these tensors have elements, or a multiple of them.
    """

    def __init__(self, session: Session, synchronize_every: int | None) -> None:
        super().__init__(session, synchronize_every)
        # All-reduces of backward passes since the last step, and their elements.
        self._calls = self._elements = 0
        self._are_gradients = True

    def _keys(self) -> list[Hashable]:
        return [key for key in self.session.buckets() if isinstance(key, tuple) and key[0] == "all_reduce"]

    def count(self, tensor: torch.Tensor) -> None:
        """Counts an all-reduce of a backward pass."""
        self._calls += 1
        self._elements += tensor.numel()
        # DDP's buckets are flat, and gradients of activations are not.
        self._are_gradients &= tensor.dim() == 1

    def note(self, report: Report) -> None:
        """Receives the report of a bounded all-reduce."""
        is_decided_alone = self.session.agrees and not report.is_agreed
        self._differs |= not report.is_applied or bool(report.missing) or is_decided_alone

    def step(self, optimizer: torch.optim.Optimizer | None) -> None:
        """Ends an update of the model."""
        calls, elements = self._calls, self._elements
        self._calls = self._elements = 0
        if elements == 0 or self.session.size == 1:
            return
        self.steps += 1
        trained = 0 if optimizer is None else _trained_elements(optimizer)
        # An optimizer of one parameter, as of a temperature, divides any number of elements.
        self._are_gradients &= trained > 0 and elements % trained == 0 and elements // trained <= calls
        if self._are_gradients and optimizer is not None:
            self._add(optimizer)
            self._stepped()
        self.warn(f"step {self.steps}: a part of a mean is missing")

    def end(self) -> None:
        """Compares the replicas before the group ends, unless an error ends it."""
        is_due = self.steps > 0 and self._are_gradients and self._synchronize_every is not None
        if is_due and sys.exception() is None and self._are_all_there():
            try:
                self._settle(END_S, END_S)
            except OptiReduceError as error:
                log.warning("%s", self.session.describe(f"cannot compare replicas at the end: {error}"))
        self.warn("the end: a part of a mean is missing")


def _trained_elements(optimizer: torch.optim.Optimizer) -> int:
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    return sum(one.numel() for one in parameters if one.requires_grad)
