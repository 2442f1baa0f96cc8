"""Settings of the backend and of the communication hook."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import torch

from .. import ArgumentError

#: Smaller float sums and means are exact: they are losses or metrics, not buckets of gradients.
BOUNDED_ELEMENTS_MIN = 1024
#: Optimizer steps between comparisons of replicas.
SYNCHRONIZE_EVERY = 100
#: Transports of gradients: "udp", bounded; "tcp", exact, for comparisons.
ENGINES = ("udp", "tcp")

_chosen: contextvars.ContextVar[bool | None] = contextvars.ContextVar("optireduce_bounded", default=None)
_settings: dict[str, Any] = {}
#: Settings of this package, which a communicator does not have.
_OURS = ("engine", "synchronize_every")


def configure(**settings: Any) -> None:
    """Sets defaults for later process groups and states, the same on all ranks: rows of
    `optireduce.SETTINGS`, and

    - `engine`: "udp", or "tcp", which makes all calls exact.
    - `synchronize_every`: for models without the hook: number of optimizer steps after which their
      replicas are compared, and made equal if needed; None: never. Default: 100."""
    engine_of(settings)
    check_every(settings.get("synchronize_every"), "optireduce.torch.configure")
    _settings.update(settings)


def configured(**settings: Any) -> dict[str, Any]:
    """Returns the configured settings of a communicator, overridden by these."""
    return {name: value for name, value in {**_settings, **settings}.items() if name not in _OURS}


def check_every(synchronize_every: int | None, of: str) -> None:
    if synchronize_every is not None and synchronize_every < 1:
        raise ArgumentError(f"{of}: synchronize_every is {synchronize_every}, expected at least 1 step, or None")


def synchronize_every() -> int | None:
    """Returns the configured number of steps between comparisons of replicas."""
    return _settings.get("synchronize_every", SYNCHRONIZE_EVERY)  # type: ignore[no-any-return]


def engine_of(settings: dict[str, Any]) -> str:
    """Returns the engine in these settings, or the configured one."""
    engine = settings.get("engine", _settings.get("engine", ENGINES[0]))
    if engine not in ENGINES:
        raise ArgumentError(f"engine is {engine!r}, expected 'udp' or 'tcp'")
    return str(engine)


@contextlib.contextmanager
def _choose(bounded: bool) -> Iterator[None]:
    token = _chosen.set(bounded)
    try:
        yield
    finally:
        _chosen.reset(token)


def exact() -> contextlib.AbstractContextManager[None]:
    """Makes all-reduces and reduce-scatters in this thread exact. Use it on all ranks alike."""
    return _choose(False)


def bounded() -> contextlib.AbstractContextManager[None]:
    """Makes all-reduces and reduce-scatters in this thread bounded, as in a backward pass: sums
    and means of at least 1024 float32, bfloat16 or float16. Use it on all ranks alike."""
    return _choose(True)


def is_bounded() -> bool:
    """Returns whether a reduction is of gradients: in a backward pass, or inside `bounded()`."""
    chosen = _chosen.get()
    return torch._C._current_graph_task_id() != -1 if chosen is None else chosen
