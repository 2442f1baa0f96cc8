"""Halts of one rank, which halt all ranks.

Each rank judges its own losses, so one may halt where the others would continue. It sends them a
message, outside of all collectives, and they halt in one of their next steps. Without a halt
nothing is sent, and no rank waits.
"""

import contextlib
import struct
import threading
import time
from typing import Any

from .. import OptiReduceError, PeerError, TimeoutError

#: Tag of the messages, outside of the range for programs.
TAG = 0xFFFF_FFFE
#: Content of a message: the collective.
SAID = struct.Struct("<Q")
#: Time that a halting rank waits for its messages to leave.
TELL_S = 1.0


class Halts:
    """Halt messages to and from the other ranks."""

    def __init__(self, calls: Any, rank: int, size: int) -> None:
        self._calls, self._rank, self._size = calls, rank, size
        self._message: Any = None
        # Latest collective after which this rank or another one is known to have halted.
        self._last = -1
        self._lock = threading.Lock()

    def tell(self, op: int) -> None:
        """Tells the other ranks that this rank halts after collective `op`."""
        with self._lock:
            if op <= self._last:
                return
            self._last = op
        until, sent = time.monotonic() + TELL_S, []
        for rank in range(self._size):
            if rank != self._rank:
                with contextlib.suppress(OptiReduceError):
                    sent.append(self._calls.send(SAID.pack(op), rank, TAG, async_op=True))
        for request in sent:
            # Fails for ranks that are gone, which need no message.
            with contextlib.suppress(OptiReduceError):
                request.wait(max(0.0, until - time.monotonic()))

    def heard(self) -> int | None:
        """Returns a rank that has newly halted, or None. Does not wait."""
        if self._size == 1:
            return None
        with self._lock:
            if self._message is None:
                self._message = self._calls.recv(None, TAG, async_op=True)
            if not self._message.is_finished():
                return None
            message, self._message = self._message, None
            try:
                rank, said = message.wait()
            except (PeerError, TimeoutError):
                # A rank is gone, or no message arrived within the timeout.
                return None
            if len(said) != SAID.size:
                return None
            (op,) = SAID.unpack(said)
            is_news, self._last = op > self._last, max(op, self._last)
            return int(rank) if is_news else None
