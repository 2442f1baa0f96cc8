"""Settings of the backend and of the communication hook."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import torch

from .. import ArgumentError

#: Smaller float sums and means are exact: they are losses or metrics, not buckets of gradients.
BOUNDED_ELEMENTS_MIN = 1024
#: Transports of gradients: "udp", bounded; "tcp", exact, for comparisons.
ENGINES = ("udp", "tcp")

_chosen: contextvars.ContextVar[bool | None] = contextvars.ContextVar("optireduce_bounded", default=None)
# With repairs in the same update, replicas stay equal.
_settings: dict[str, Any] = {"wait_for_repairs": True}


def configure(**settings: Any) -> None:
    """Sets defaults for later process groups and states, the same on all ranks: settings of
    `optireduce.Communicator`, and `engine`, "udp" or "tcp", which makes all calls exact."""
    engine_of(settings)
    _settings.update(settings)


def configured(**settings: Any) -> dict[str, Any]:
    """Returns the configured settings, overridden by these, without the engine."""
    return {name: value for name, value in {**_settings, **settings}.items() if name != "engine"}


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
