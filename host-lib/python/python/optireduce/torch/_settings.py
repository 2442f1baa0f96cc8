"""What the backend and the communication hook do, unless they are told otherwise."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

#: Float sums and means of fewer elements are exact: a loss or a metric is small, a bucket of gradients is not.
BOUNDED_ELEMENTS_MIN = 1024

_exact = contextvars.ContextVar("optireduce_exact", default=False)
# What a rank missed is to be in the update that it missed it in: replicas stay the same.
_settings: dict[str, Any] = {"wait_for_repairs": True}


def configure(**settings: Any) -> None:
    """Settings for the process groups and states that are made from now on: those of `optireduce.Communicator`. The same on
    all ranks."""
    _settings.update(settings)


def configured(**settings: Any) -> dict[str, Any]:
    """What was configured, and these."""
    return {**_settings, **settings}


@contextlib.contextmanager
def exact() -> Iterator[None]:
    """All-reduces that are called inside, in this thread, are exact whatever they reduce. On all ranks alike."""
    token = _exact.set(True)
    try:
        yield
    finally:
        _exact.reset(token)


def is_exact() -> bool:
    return _exact.get()
