"""Ways to end a process: nothing hangs, nothing crashes."""

import subprocess
import sys

import pytest
from ranks import free_root

BEGIN = """
import sys, threading, numpy, optireduce
rank, root = int(sys.argv[1]), sys.argv[2]
communicator = optireduce.Communicator(rank, 2, root, bound_ms=1000, early="off", timeout_s=20)
bucket = communicator.bucket(100_000)
gradient = numpy.ones(100_000, "float32")
"""

BEGIN_TORCH = """
import datetime, os, sys, torch, torch.distributed as dist, optireduce.torch
rank, (host, port) = int(sys.argv[1]), sys.argv[2].split(":")
os.environ.update(RANK=sys.argv[1], WORLD_SIZE="2", MASTER_ADDR=host, MASTER_PORT=port)
dist.init_process_group("optireduce", timeout=datetime.timedelta(seconds=20))
gradient = torch.ones(100_000)
"""

ENDS = {
    "a request in flight": "if rank == 0: request = bucket.start_all_reduce(gradient)",
    "a daemon thread in a barrier": "if rank == 0: threading.Thread(target=communicator.barrier, daemon=True).start()",
    "an exception": "if rank == 0: request = bucket.start_all_reduce(gradient); raise SystemExit(0)",
    "a communicator in a cycle": "communicator_of = {}; communicator_of['itself'] = communicator_of, communicator",
}


ENDS_TORCH = {
    "a work in flight": "work = dist.all_reduce(gradient, async_op=True)",
    "a peer that is waited for": "work = dist.barrier(async_op=True) if rank == 0 else None",
    "a receive that nothing comes for": "work = dist.irecv(gradient, 1 - rank)",
}


@pytest.mark.parametrize("end", [*ENDS, *ENDS_TORCH])
def test_a_process_may_end_with(end):
    root = free_root()
    program = BEGIN + ENDS[end] if end in ENDS else BEGIN_TORCH + ENDS_TORCH[end]
    command = [sys.executable, "-c", program]
    ranks = [subprocess.Popen([*command, str(rank), root], stderr=subprocess.PIPE, text=True) for rank in range(2)]
    found = [(rank.communicate(timeout=40)[1], rank.returncode) for rank in ranks]
    assert [code for _, code in found] == [0, 0], found
