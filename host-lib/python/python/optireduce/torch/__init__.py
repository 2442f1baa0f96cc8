"""PyTorch: the torch.distributed backend "optireduce", for CPU tensors, and a DDP hook.

    import torch.distributed as dist
    import optireduce.torch

    dist.init_process_group("optireduce")
    model = DDP(model)
    state = optireduce.torch.State()
    model.register_comm_hook(state, optireduce.torch.comm_hook)
    state.guard(optimizer)                                           # halts if too much is lost
    ...
    state.settle(optimizer)                                          # at the end

The hook also works with other backends. It was run with Gloo, but not with NCCL.
"""

import weakref
from typing import Any

import torch
import torch.distributed as dist
from torch.optim.optimizer import register_optimizer_step_post_hook

from .. import OptiReduceError
from ._backend import OptiReduceBackend
from ._partial import PartialReduce
from ._settings import bounded, configure, exact
from ._state import State, comm_hook, sessions_of, step_states
from ._work import tell_completion

__all__ = ["PartialReduce", "State", "begin_step", "bounded", "comm_hook", "configure", "exact", "synchronize"]

# In the order in which all ranks made their groups.
_backends: list[weakref.ref[OptiReduceBackend]] = []


def _create(options: Any, _: Any) -> Any:
    if dist.get_debug_level() == dist.DebugLevel.DETAIL:
        raise OptiReduceError(
            "TORCH_DISTRIBUTED_DEBUG is DETAIL, expected OFF or INFO: with DETAIL torch wraps backends, which fails for those in Python"
        )
    backend = OptiReduceBackend(
        options.store, options.group_rank, options.group_size, options.timeout, options.group_id or "default"
    )
    _backends.append(weakref.ref(backend, _backends.remove))
    return backend


def begin_step(optimizer: torch.optim.Optimizer | None = None, *_: Any) -> None:
    """Marks the end of an update of the model. torch's optimizers call it. Other training loops
    call it after each update, on all ranks. Raises `HaltError` if too much was lost."""
    for backend in [one() for one in _backends]:
        if backend is not None:
            backend.begin_step(optimizer)
    step_states(optimizer)


def synchronize(model: torch.nn.Module, root: int = 0, group: Any = None) -> None:
    """Copies the root's parameters and buffers to all ranks, to the bit. Call it at the end of
    training and before a checkpoint, on all ranks and for all models of the group.

    It waits for outstanding repairs of all these models and discards them. The root's parameters
    include them, or no replica does."""
    group = dist.group.WORLD if group is None else group
    for session in sessions_of(group) if isinstance(group, dist.ProcessGroup) else []:
        session.settle()
    for tensor in [*model.parameters(), *model.buffers()]:
        dist.broadcast(tensor.detach(), root, group=group)


if dist.is_available() and "OPTIREDUCE" not in dist.Backend._plugins:
    dist.Backend.register_backend("optireduce", _create, extended_api=True, devices=["cpu"])
    register_optimizer_step_post_hook(begin_step)
    tell_completion()
