"""Rendezvous of the ranks of a group: rank 0 publishes its address in the group's store."""

import ipaddress
import os
import secrets
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from .. import ArgumentError, Communicator
from .._optireduce import own_address
from .._ports import free_port, join
from ._settings import configured

KEY = "optireduce/root"
#: Time that ranks wait for one another if no process group sets it.
TIMEOUT = timedelta(minutes=10)


def host_of(store: Any) -> str | None:
    """Returns the host of a store of torch that all ranks reach, or that of the launcher."""
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    return getattr(store, "host", None) or os.environ.get("MASTER_ADDR") or None


def this_host() -> str:
    """Identifies this host, or rather its network."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}.{os.stat('/proc/self/ns/net').st_ino}"


def connect(
    rank: int, size: int, timeout: timedelta, share: Callable[[str | None], str], store: Any, settings: dict[str, Any] | None = None
) -> Communicator:
    """Connects the ranks of a group. `share` passes a text from rank 0 to all ranks; `store` is the
    store in which they met."""
    given = {"timeout_s": min(timeout.total_seconds(), 24 * 60 * 60), **configured(**(settings or {}))}
    mine = None
    if rank == 0:
        near = host_of(store)
        host = own_address(near, given.get("interface"))
        mine = f"{join(host, free_port(host))} {secrets.token_hex(8)} {this_host()} {near or 'none'}"
    root, job_id, host, near = share(mine).split()
    if host != this_host() and ipaddress.ip_address(root.rpartition(":")[0].strip("[]")).is_loopback:
        raise ArgumentError(
            f"rank {rank} of {size}: rank 0 is on another host, and listens at the loopback address {root} (host of the store: "
            f"{near}); expected an address that other hosts reach: set MASTER_ADDR or init_method to one, or "
            "optireduce.torch.configure(interface=...) to a network interface of rank 0"
        )
    return Communicator(rank, size, root, **{**given, "job_id": job_id})


def over_store(store: Any, rank: int) -> Callable[[str | None], str]:
    """Returns a function that shares a text over a store of torch."""

    def share(mine: str | None) -> str:
        if rank == 0:
            store.set(KEY, mine)
        return bytes(store.get(KEY)).decode()

    return share
