"""Restarted processes that rejoin a job.

DDP's buckets are identified by their order, and DDP rebuilds them after its first backward pass. So
a restarted process makes two passes alone, in which it declares the same buckets as the others.
Then it asks another rank with which bucket a step begins.
"""

import json
import logging
from collections.abc import Hashable
from typing import Any

from .. import MismatchError, PeerError, TimeoutError
from ._session import Session

log = logging.getLogger("optireduce")

#: Backward passes until DDP's buckets are final.
PASSES = 2
#: Tags of messages.
QUESTION, ANSWER = 0, 1

Layout = list[str]


def layout(keys: list[Hashable]) -> Layout:
    """Returns the properties of buckets that two ranks compare."""
    return [str(key[2:]) for key in keys if isinstance(key, tuple)]


class Returns:
    """Questions and answers of ranks that rejoin."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._question: Any = None
        # A dropped request withdraws its message.
        self._answer: Any = None

    def answer(self, keys: list[Hashable], phase: int) -> None:
        """Answers a question, if any. `phase`: number of a collective of the first bucket."""
        calls = self._session.calls
        if self._question is None:
            self._question = calls.recv(None, QUESTION, async_op=True)
        if not self._question.is_finished():
            return
        question, self._question = self._question, None
        try:
            rank, _ = question.wait()
        except (PeerError, TimeoutError):
            # A rank is gone, or no question arrived within the timeout.
            return
        self._answer = calls.send(json.dumps([layout(keys), phase]).encode(), rank, ANSWER, async_op=True)

    def ask(self, keys: list[Hashable]) -> int:
        """Returns the `phase` of the lowest rank that answers."""
        session = self._session
        for rank in (rank for rank in range(session.size) if rank != session.rank):
            try:
                session.calls.send(b"", rank, QUESTION)
                answer = session.calls.recv(rank, ANSWER)[1]
            except (PeerError, TimeoutError) as error:
                log.info("%s", session.describe(f"asking the next rank: {error}"))
                continue
            theirs, phase = json.loads(answer)
            if theirs != layout(keys):
                found = f"DDP's buckets are {layout(keys)}, but {theirs} on rank {rank}"
                raise MismatchError(f"{session.describe('rejoin')}: {found}; all ranks must have the same model, wrapped in the same way")
            return int(phase)
        raise PeerError(f"{session.describe('rejoin')}: no other rank answers; restart all ranks")
