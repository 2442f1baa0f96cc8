"""Ranks that come back into a job: processes that were started again.

DDP's buckets are known by their order, and DDP rebuilds them after its first backward pass. So a process that comes back makes two
passes of its own, in which it declares what the others declared. Then it asks one of them with which bucket a step begins.
"""

import json
import logging
from collections.abc import Hashable
from typing import Any

from .. import MismatchError, PeerError, TimeoutError
from ._session import Session

log = logging.getLogger("optireduce")

#: Backward passes after which DDP's buckets stay.
PASSES = 2
#: Tags of messages.
QUESTION, ANSWER = 0, 1

Layout = list[str]


def layout(keys: list[Hashable]) -> Layout:
    """What two ranks compare of their buckets."""
    return [str(key[2:]) for key in keys if isinstance(key, tuple)]


class Returns:
    """What ranks that come back are told, and ask."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._question: Any = None

    def answer(self, keys: list[Hashable], phase: int) -> None:
        """Tells a rank that has asked. `phase`: the number of a collective over the first of these buckets."""
        calls = self._session.calls
        if self._question is None:
            self._question = calls.start_recv(None, QUESTION)
        if not self._question.test():
            return
        question, self._question = self._question, None
        try:
            rank, _ = question.wait()
        except (PeerError, TimeoutError):
            # A rank is gone, or nobody has asked for a while.
            return
        calls.start_send(json.dumps([layout(keys), phase]).encode(), rank, ANSWER)

    def ask(self, keys: list[Hashable]) -> int:
        """The number of a collective over the first of these buckets, from the lowest rank that is there."""
        session = self._session
        for rank in (rank for rank in range(session.size) if rank != session.rank):
            try:
                session.calls.start_send(b"", rank, QUESTION)
                answer = session.calls.start_recv(rank, ANSWER).wait()[1]
            except (PeerError, TimeoutError) as error:
                log.info("%s", session.describe(f"asks the next rank: {error}"))
                continue
            theirs, phase = json.loads(answer)
            if theirs != layout(keys):
                found = f"DDP's buckets are {layout(keys)}, but {theirs} on rank {rank}"
                raise MismatchError(f"{session.describe('come back')}: {found}; all ranks must have the same model, wrapped in the same way")
            return int(phase)
        raise PeerError(f"{session.describe('come back')}: no other rank answers; start all ranks again")
