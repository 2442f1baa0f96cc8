"""Replicas that may differ after a loss, and how they become equal again."""

import logging
import struct
import sys
import weakref
from collections.abc import Hashable
from typing import Any

import torch

from .. import OptiReduceError, PeerError, Report
from ._session import SETTLE_S, Session
from ._tensors import from_bytes, to_bytes
from ._work import Work

log = logging.getLogger("optireduce")

#: Timeout of the comparison at the end of a group.
END_S = 10.0
#: Content of a message: the condition of a replica and its steps.
MESSAGE = struct.Struct("<BQ")
#: Conditions of a replica. The lowest is copied to the others.
EQUAL, DIFFERS, CAME_BACK, FREED = range(4)
CURE = "before a checkpoint call State.settle, or without the hook optireduce.torch.synchronize(model), on all ranks"


class Replicas:
    """The replica of a model and its optimizer on this rank, and its equals on the others."""

    def __init__(self, session: Session | None, synchronize_every: int | None) -> None:
        self._session = session
        self._synchronize_every = synchronize_every
        # True if this replica may differ from others since they were last equal.
        self._differs = False
        #: Steps of the optimizer, the same on all ranks.
        self.steps = 0
        self._on_levels = self._may_return = False
        self._has_warned = False

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    def _keys(self) -> list[Hashable]:
        """Returns the keys of the present buckets."""
        raise NotImplementedError

    def _stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """Compares the replicas after every `synchronize_every` steps."""
        if self._synchronize_every is not None and self.steps % self._synchronize_every == 0:
            self._settle_if_all_are_there(optimizer)

    def _are_all_there(self) -> bool:
        """Returns whether no rank was dropped, for which exact calls would wait. On two levels a
        rank may not see the drop."""
        reports = self.session.reports
        return not reports or self._on_levels or len(reports[-1].live_ranks) == self.session.size

    def _settle_if_all_are_there(self, optimizer: torch.optim.Optimizer) -> None:
        try:
            if self._are_all_there():
                self._settle(optimizer, SETTLE_S)
        except PeerError as error:
            if self._on_levels:
                raise
            if not self._may_return:
                self._synchronize_every = None
            again = "" if self._may_return else ", and will not try again"
            log.warning("%s", self.session.describe(f"cannot compare replicas{again}: {error}"))

    def _settle(self, optimizer: torch.optim.Optimizer | None, drain_s: float, timeout_s: float | None = None) -> bool:
        """Settles; returns whether any replica might differ. `timeout_s`: of the comparison."""
        is_settled = self._drain(drain_s)
        differed = self._make_same(optimizer, timeout_s=timeout_s)
        self._differs = not is_settled
        return differed

    def _drain(self, timeout_s: float) -> bool:
        """If this replica may differ, waits for outstanding repairs and discards them, since only
        this rank would apply them. Returns whether all arrived.

        On two levels the ranks of a group settle together."""
        return not (self._differs or self._on_levels) or self.session.settle(self._keys(), timeout_s)

    def _make_same(
        self, optimizer: torch.optim.Optimizer | None, came_back: bool = False, timeout_s: float | None = None
    ) -> bool:
        """Copies a replica that does not differ to all ranks if any may differ; returns whether."""
        said: list[list[bytes]] = []
        condition = FREED if optimizer is None else CAME_BACK if came_back else DIFFERS if self._differs else EQUAL
        mine = MESSAGE.pack(condition, self.steps)
        self.session.submit(
            Work("whether replicas differ", [], timeout_s), lambda: self.session.calls.start_all_gather_bytes(mine), said.append
        ).wait()
        # Ranks that are gone have no bytes.
        of_ranks = {rank: MESSAGE.unpack(one) for rank, one in enumerate(said[0]) if one}
        differ = [rank for rank, (condition, _) in of_ranks.items() if condition != EQUAL]
        if optimizer is None or any(condition == FREED for condition, _ in of_ranks.values()):
            return bool(differ)
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
        self._elements = 0
        self._are_gradients = True
        # Optimizer of the last step.
        self._optimizer: weakref.ref[torch.optim.Optimizer] | None = None

    def _keys(self) -> list[Hashable]:
        return [key for key in self.session.buckets() if isinstance(key, tuple) and key[0] == "all_reduce"]

    def count(self, tensor: torch.Tensor) -> None:
        """Counts an all-reduce of a backward pass."""
        self._elements += tensor.numel()
        # DDP's buckets are flat, and gradients of activations are not.
        self._are_gradients &= tensor.dim() == 1

    def note(self, report: Report) -> None:
        """Receives the report of a bounded all-reduce."""
        is_decided_alone = self.session.agrees and not report.agreed
        self._differs |= report.action != "apply" or bool(report.missing_ranges) or is_decided_alone

    def step(self, optimizer: torch.optim.Optimizer | None) -> None:
        """Ends an update of the model."""
        elements, self._elements = self._elements, 0
        if elements == 0 or self.session.size == 1:
            return
        self.steps += 1
        trained = 0 if optimizer is None else _trained_elements(optimizer)
        self._are_gradients &= trained > 0 and elements % trained == 0
        if self._are_gradients and optimizer is not None:
            self._optimizer = weakref.ref(optimizer)
            self._stepped(optimizer)
        self.warn(f"step {self.steps}: a part of a mean is missing")

    def end(self) -> None:
        """Compares the replicas before the group ends, unless an error ends it."""
        is_due = self.steps > 0 and self._are_gradients and self._synchronize_every is not None
        if is_due and sys.exception() is None and self._are_all_there():
            try:
                self._settle(None if self._optimizer is None else self._optimizer(), END_S, END_S)
            except OptiReduceError as error:
                log.warning("%s", self.session.describe(f"cannot compare replicas at the end: {error}"))
        self.warn("the end: a part of a mean is missing")


def _trained_elements(optimizer: torch.optim.Optimizer) -> int:
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    return sum(one.numel() for one in parameters if one.requires_grad)
