"""How the ranks of a group find one another: rank 0 says in the group's store where it listens."""

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
#: How long ranks wait for one another, where no process group says it.
TIMEOUT = timedelta(minutes=10)


def root_address() -> str:
    """An address of this host that the others reach, and a port that is free."""
    master = os.environ.get("MASTER_ADDR", "127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Sends nothing: the kernel chooses the address on the way there.
        probe.connect((master, 9))
        host = probe.getsockname()[0]
    return f"{host}:{free_port(host)}"


def connect(
    rank: int, size: int, timeout: timedelta, share: Callable[[str | None], str], settings: dict[str, Any] | None = None
) -> Communicator:
    """A communicator of a group. `share` gives all ranks what rank 0 hands it."""
    mine = f"{root_address()} {secrets.token_hex(8)}" if rank == 0 else None
    root, job_id = share(mine).split()
    given = {"timeout_s": min(timeout.total_seconds(), 24 * 60 * 60), **configured(**(settings or {})), "job_id": job_id}
    return Communicator(rank, size, root, **given)


def over_store(store: Any, rank: int) -> Callable[[str | None], str]:
    """Shares over a store of torch."""

    def share(mine: str | None) -> str:
        if rank == 0:
            store.set(KEY, mine)
        return bytes(store.get(KEY)).decode()

    return share
