"""Process groups for tests."""

import contextlib
import datetime
from collections.abc import Iterator
from typing import Any

import optireduce.torch
import torch
import torch.distributed as dist

# A bound that a busy machine does not exceed, so that nothing is lost.
CALM = {"bound_ms": 4000, "early": "off"}


@contextlib.contextmanager
def group(
    rank: int, ranks: int, root: str, backend: str = "optireduce", timeout_s: float = 30.0, store: Any = None, **settings: Any
) -> Iterator[None]:
    """Makes the default process group of a job."""
    torch.set_num_threads(1)
        # Processes, and what they configured, are kept from test to test.
    optireduce.torch.configure(**{**CALM, "agree": False, "synchronize_every": 100, **settings})
    host, port = root.split(":")
    timeout = datetime.timedelta(seconds=timeout_s)
    store = store or dist.TCPStore(host, int(port), ranks, rank == 0, timeout=timeout)
    dist.init_process_group(backend, store=store, rank=rank, world_size=ranks, timeout=timeout)
    try:
        yield
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
        # Rank 0 serves the store, so it must outlive the group.
        del store


def session(of: Any = None) -> Any:
    return (of or dist.group.WORLD)._get_backend(torch.device("cpu")).session
