"""PyTorch: the backend "optireduce" of torch.distributed, and a communication hook for DDP on any backend.

    import optireduce.torch
    dist.init_process_group("optireduce")                  # or "cpu:optireduce,cuda:nccl"
    model = DDP(model)
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
from ._state import State, comm_hook, sessions_of
from ._work import tell_completion

__all__ = ["PartialReduce", "State", "begin_step", "bounded", "comm_hook", "configure", "exact", "synchronize"]

_backends: Any = weakref.WeakSet()


def _create(options: Any, _: Any) -> Any:
    if dist.get_debug_level() == dist.DebugLevel.DETAIL:
        raise OptiReduceError(
            "TORCH_DISTRIBUTED_DEBUG is DETAIL, expected OFF or INFO: torch then wraps backends, which those in Python do not survive"
        )
    backend = OptiReduceBackend(
        options.store, options.group_rank, options.group_size, options.timeout, options.group_id or "default"
    )
    _backends.add(backend)
    return backend


def begin_step(*_: Any) -> None:
    """Says that an update of the model is complete. Optimizers of torch say so themselves; call it in a training loop that updates
    the model by hand. On all ranks alike."""
    for backend in list(_backends):
        backend.begin_step()


def synchronize(model: torch.nn.Module, root: int = 0, group: Any = None) -> None:
    """Gives all ranks the root's parameters and buffers, to the bit: at the end of training, and before a checkpoint. Repairs
    of earlier means that are still to come are waited for and discarded, for all models of the group: the root's parameters already contain
    them, or no replica does. So call it for each of these models."""
    group = dist.group.WORLD if group is None else group
    for session in sessions_of(group) if isinstance(group, dist.ProcessGroup) else []:
        session.settle()
    for tensor in [*model.parameters(), *model.buffers()]:
        dist.broadcast(tensor.detach(), root, group=group)


if dist.is_available() and "OPTIREDUCE" not in dist.Backend._plugins:
    dist.Backend.register_backend("optireduce", _create, extended_api=True, devices=["cpu"])
    register_optimizer_step_post_hook(begin_step)
    tell_completion()
