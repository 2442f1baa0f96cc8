"""Rendezvous over a store that still holds the keys of a job that has ended."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

import optireduce
import optireduce.torch
from optireduce.torch import _bootstrap
from ranks import free_root

# Each start of a rank imports torch.
RANKS, RESTARTS = 3, 3 if "OPTIREDUCE_NIGHTLY" in os.environ else 1


def rank() -> None:
    """Process of torchrun: all ranks end with an error, in `RESTARTS` attempts."""
    dist.init_process_group("optireduce", timeout=timedelta(seconds=40))
    values = torch.ones(4)
    dist.all_reduce(values)
    assert values.tolist() == [RANKS] * 4
    attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    if attempt < RESTARTS:
        # Without an orderly end, as after a crash.
        os._exit(1)
    # One write, since the ranks share a pipe and torchrun turns buffers off.
    os.write(1, f"ended after {attempt} restarts\n".encode())
    dist.destroy_process_group()


@pytest.mark.parametrize("how", ["standalone", "static"])
def test_all_ranks_meet_again_after_each_restart_of_torchrun(how: str):
    port = free_root().rpartition(":")[2]
    place = ["--standalone"] if how == "standalone" else ["--master-addr", "127.0.0.1", "--master-port", port]
    torchrun = [sys.executable, "-m", "torch.distributed.run", *place, "--nproc-per-node", str(RANKS)]
    command = [*torchrun, "--max-restarts", str(RESTARTS), "--monitor-interval", "0.1", __file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"ended after {RESTARTS} restarts") == RANKS, done.stdout


def test_a_rank_that_comes_before_rank_0_does_not_take_the_address_of_an_ended_job():
    store, timeout = dist.HashStore(), timedelta(seconds=30)

    def attempt(mine: str) -> list[str]:
        asked = threading.Barrier(RANKS)

        def share(rank: int) -> str:
            if rank != 0:
                asked.wait()
                return _bootstrap.over_store(store, rank, RANKS, timeout)(None)
            asked.wait()
            # The others find the keys of the attempt before.
            threading.Event().wait(0.3)
            return _bootstrap.over_store(store, 0, RANKS, timeout)(mine)

        with ThreadPoolExecutor(RANKS) as ranks:
            return list(ranks.map(share, range(RANKS)))

    for mine in ["10.0.0.1:5 first", "10.0.0.1:6 second", "10.0.0.1:7 third"]:
        assert attempt(mine) == [mine] * RANKS


def test_a_rank_that_does_not_come_is_named_on_the_others():
    timeout = timedelta(seconds=0.2)
    with pytest.raises(optireduce.TimeoutError, match="rank 0: connect: rank 1 did not come to the store"):
        _bootstrap.over_store(dist.HashStore(), 0, 2, timeout)("10.0.0.1:5 first")
    with pytest.raises(optireduce.TimeoutError, match="rank 1: connect: rank 0 did not come to the store"):
        _bootstrap.over_store(dist.HashStore(), 1, 2, timeout)(None)


if __name__ == "__main__":
    rank()
