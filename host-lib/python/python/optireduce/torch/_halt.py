"""A halt of one rank is one of all.

Each rank judges what it lost itself, so one may halt where the others would go on. It tells them, by a message beside all collectives, and they
halt in their next step. Nothing is sent, and nobody waits, as long as none halts.
"""

import contextlib
import struct
import threading
import time
from typing import Any

from .. import OptiReduceError, PeerError, TimeoutError

#: Of the messages, beyond the tags that programs use.
TAG = 0xFFFF_FFFE
#: What they say: the collective.
SAID = struct.Struct("<Q")
#: How long a rank that halts waits for its messages to leave.
TELL_S = 1.0


class Halts:
    """What this rank tells the others, and hears of them."""

    def __init__(self, calls: Any, rank: int, size: int) -> None:
        self._calls, self._rank, self._size = calls, rank, size
        self._message: Any = None
        # The collective after which this rank has halted, or heard of it.
        self._last = -1
        self._lock = threading.Lock()

    def tell(self, op: int) -> None:
        """Tells all others that this rank halts after collective `op`."""
        with self._lock:
            if op <= self._last:
                return
            self._last = op
        until, sent = time.monotonic() + TELL_S, []
        for rank in range(self._size):
            if rank != self._rank:
                with contextlib.suppress(OptiReduceError):
                    sent.append(self._calls.start_send(SAID.pack(op), rank, TAG))
        for request in sent:
            # A rank that is gone needs to hear nothing.
            with contextlib.suppress(OptiReduceError):
                request.wait(max(0.0, until - time.monotonic()))

    def heard(self) -> int | None:
        """The rank that has halted, if one has, and this one has not after the same collective. Does not wait."""
        if self._size == 1:
            return None
        with self._lock:
            if self._message is None:
                self._message = self._calls.start_recv(None, TAG)
            if not self._message.test():
                return None
            message, self._message = self._message, None
            try:
                rank, said = message.wait()
            except (PeerError, TimeoutError):
                # A rank is gone, or none has halted for a while.
                return None
            if len(said) != SAID.size:
                return None
            (op,) = SAID.unpack(said)
            is_news, self._last = op > self._last, max(op, self._last)
            return int(rank) if is_news else None
