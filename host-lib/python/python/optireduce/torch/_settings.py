"""What the backend and the communication hook do, unless they are told otherwise."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import torch

from .. import ArgumentError

#: Float sums and means of fewer elements are exact: a loss or a metric is small, a bucket of gradients is not.
BOUNDED_ELEMENTS_MIN = 1024
#: What moves gradients: datagrams with a deadline; or TCP, all of them exact, to compare with.
ENGINES = ("udp", "tcp")

_chosen: contextvars.ContextVar[bool | None] = contextvars.ContextVar("optireduce_bounded", default=None)
# What a rank missed is to be in the update that it missed it in: replicas stay the same.
_settings: dict[str, Any] = {"wait_for_repairs": True}


def configure(**settings: Any) -> None:
    """Settings for the process groups and states that are made from now on: those of `optireduce.Communicator`, and `engine`: "udp", or
    "tcp", with which nothing is bounded. The same on all ranks."""
    engine_of(settings)
    _settings.update(settings)


def configured(**settings: Any) -> dict[str, Any]:
    """What was configured, and these; without the engine, which is none of a communicator."""
    return {name: value for name, value in {**_settings, **settings}.items() if name != "engine"}


def engine_of(settings: dict[str, Any]) -> str:
    """The engine in these settings, or else the one that was configured."""
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
    """All-reduces and reduce-scatters that are called inside, in this thread, are exact whatever they reduce. On all ranks alike."""
    return _choose(False)


def bounded() -> contextlib.AbstractContextManager[None]:
    """All-reduces and reduce-scatters that are called inside, in this thread, are of gradients: they are bounded, as those of a backward
    pass are, if they are sums or means of at least 1024 float32, bfloat16 or float16. On all ranks alike."""
    return _choose(True)


def is_bounded() -> bool:
    """Whether what is reduced now is a gradient: it is called from a backward pass, as by DDP and FSDP, or inside `bounded()`."""
    chosen = _chosen.get()
    return torch._C._current_graph_task_id() != -1 if chosen is None else chosen
