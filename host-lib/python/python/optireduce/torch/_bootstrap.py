"""Rendezvous of the ranks of a group: rank 0 passes on its address through the group's store.

The store may hold the keys of an earlier attempt, since torchrun keeps its store when it restarts
the processes, and the hosts' restart counts may differ. So each rank asks with a new number, rank 0
answers that number, and waits until its own number is confirmed.
"""

import ipaddress
import os
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from .. import ArgumentError, Communicator, TimeoutError
from .._optireduce import own_address
from .._ports import free_port, join
from ._settings import configured

#: Keys of a rank's question, of the answer to it, and of its confirmation.
ASKS, ANSWER, TAKEN = ("optireduce/root/" + name + "/{}" for name in ("asks", "answer", "taken"))
#: Pause between two looks into the store, in seconds.
LOOK_S = 0.01
#: Time that ranks wait for one another if no process group sets it.
TIMEOUT = timedelta(minutes=10)


def host_of(store: Any) -> str | None:
    """Returns the host of torch's rendezvous store, or else `MASTER_ADDR`."""
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
    if size == 1:
        # A card belongs to the rank of the job.
        return Communicator(rank=0, world_size=1, **{**given, "card": None})
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
    return Communicator(rank=rank, world_size=size, root=root, **{**given, "job_id": job_id})


def over_store(store: Any, rank: int, size: int, timeout: timedelta) -> Callable[[str | None], str]:
    """Returns a function that passes a text from rank 0 to all ranks over a store of torch. Each
    text of rank 0 differs from all before."""

    def read(key: str) -> str | None:
        return bytes(store.get(key)).decode() if store.check([key]) else None

    def look(until: float, waits_for: Callable[[], str]) -> None:
        if time.monotonic() >= until:
            raise TimeoutError(f"rank {rank}: connect: {waits_for()} did not come to the store of torch within {timeout}; is it running?")
        time.sleep(LOOK_S)

    def hand_out(mine: str, until: float) -> str:
        answered: dict[int, str] = {}
        waiting = list(range(1, size))
        while waiting:
            for other in waiting:
                asks = read(ASKS.format(other))
                if asks is not None and answered.get(other) != asks:
                    store.set(ANSWER.format(other), f"{asks} {mine}")
                    answered[other] = asks
            waiting = [other for other in waiting if read(TAKEN.format(other)) != mine]
            if waiting:
                look(until, lambda: f"rank {waiting[0]}")
        return mine

    def share(mine: str | None) -> str:
        until = time.monotonic() + timeout.total_seconds()
        if mine is not None:
            return hand_out(mine, until)
        asks = secrets.token_hex(8)
        store.set(ASKS.format(rank), asks)
        while not (answer := read(ANSWER.format(rank)) or "").startswith(asks):
            look(until, lambda: "rank 0")
        text = answer.removeprefix(asks + " ")
        store.set(TAKEN.format(rank), text)
        return text

    return share
