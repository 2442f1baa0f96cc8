"""Partial Reduce of a model: ranks that are ready average their models."""

from typing import Any, Literal

import numpy
import torch

from .. import Communicator, Report


class PartialReduce:
    """Averages a model after optimizer steps, among groups of ranks that are ready (P-Reduce,
    SIGMOD'21). It replaces all-reduces of gradients.

        communicator = optireduce.Communicator()               # rank from torchrun, mpirun or Slurm
        partial = optireduce.torch.PartialReduce(model, optimizer, communicator=communicator)
        for batch in batches:                                  # each rank at its own pace
            ...
            optimizer.step()                                   # followed by the average
        partial.close()                                        # all ranks have the same mean

    Floating-point and complex parameters and buffers are averaged in float32. Each rank keeps its
    optimizer's state. All ranks start with the model of rank 0. Without an optimizer, call `step()`
    after each update. `every`: number of updates per average. The other options are those of
    `optireduce.Communicator.partial_reduce`.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer | None = None,
        *,
        communicator: Communicator,
        group_size: int = 2,
        weights: Literal["dynamic", "constant"] = "dynamic",
        every: int = 1,
        decay: float = 0.5,
        mix_within: int | None = 2,
        repair: bool = True,
        repair_timeout_s: float = 1.0,
        patience_s: float = 10.0,
        bound_ms: float | None = None,
    ) -> None:
        if every < 1:
            raise ValueError(f"every is {every}, expected at least 1 step")
        self._communicator = communicator
        tensors = [tensor.detach() for tensor in [*model.parameters(), *model.buffers()]]
        tensors = [torch.view_as_real(tensor) if tensor.is_complex() else tensor for tensor in tensors]
        self._tensors = [tensor for tensor in tensors if tensor.is_floating_point()]
        self._flat = numpy.zeros(sum(tensor.numel() for tensor in self._tensors), "float32")
        self._every, self._steps, self._iteration = every, 0, 0
        #: Report of the last average; None before the first.
        self.report: Report | None = None
        self._gather()
        communicator.exact.broadcast(self._flat, 0)
        self._scatter()
        self._partial = communicator.partial_reduce(
            len(self._flat),
            group_size=group_size,
            weights=weights,
            decay=decay,
            mix_within=mix_within,
            repair=repair,
            repair_timeout_s=repair_timeout_s,
            patience_s=patience_s,
            bound_ms=bound_ms,
        )
        self._hook: Any = None if optimizer is None else optimizer.register_step_post_hook(lambda *_: self.step())

    @property
    def iteration(self) -> int:
        """Newest iteration in the group of the last average; 0 before the first average."""
        return self._iteration

    def step(self) -> None:
        """Counts an update, and averages the model after every `every` updates. A given optimizer
        calls it."""
        self._steps += 1
        if self._steps % self._every:
            return
        self._gather()
        self.report = self._partial.average(self._flat, self._iteration + 1)
        assert self.report.group is not None
        self._iteration = self.report.group.iteration
        self._scatter()

    def close(self, timeout: float | None = None) -> None:
        """Ends training on all ranks: waits for them, and sets all models to their exact mean. The
        communicator stays open."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        self._partial.close(timeout)
        self._gather()
        self._communicator.exact.all_reduce(self._flat, "avg")
        self._scatter()

    def _gather(self) -> None:
        at = 0
        for tensor in self._tensors:
            self._flat[at : at + tensor.numel()] = tensor.reshape(-1).to("cpu", torch.float32).numpy()
            at += tensor.numel()

    def _scatter(self) -> None:
        at = 0
        for tensor in self._tensors:
            values = torch.from_numpy(self._flat[at : at + tensor.numel()])
            tensor.copy_(values.view(tensor.shape))
            at += tensor.numel()
