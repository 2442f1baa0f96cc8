"""Rendezvous of the ranks of a group: rank 0 publishes its address in the group's store."""

import os
import secrets
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from .. import Communicator
from .._ports import free_port
from ._settings import configured

KEY = "optireduce/root"
#: Time that ranks wait for one another if no process group sets it.
TIMEOUT = timedelta(minutes=10)


def root_address() -> str:
    """Returns an address of this host on the route to the others, and an unused port."""
    master = os.environ.get("MASTER_ADDR", "127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Sends nothing; the kernel only chooses the address.
        probe.connect((master, 9))
        host = probe.getsockname()[0]
    return f"{host}:{free_port(host)}"


def connect(
    rank: int, size: int, timeout: timedelta, share: Callable[[str | None], str], settings: dict[str, Any] | None = None
) -> Communicator:
    """Connects the ranks of a group. `share` passes a text from rank 0 to all ranks."""
    mine = f"{root_address()} {secrets.token_hex(8)}" if rank == 0 else None
    root, job_id = share(mine).split()
    given = {"timeout_s": min(timeout.total_seconds(), 24 * 60 * 60), **configured(**(settings or {})), "job_id": job_id}
    return Communicator(rank, size, root, **given)


def over_store(store: Any, rank: int) -> Callable[[str | None], str]:
    """Returns a function that shares a text over a store of torch."""

    def share(mine: str | None) -> str:
        if rank == 0:
            store.set(KEY, mine)
        return bytes(store.get(KEY)).decode()

    return share
