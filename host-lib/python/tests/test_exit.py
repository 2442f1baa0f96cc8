"""Ways to end a process: nothing hangs, nothing crashes."""

import itertools
import subprocess
import sys

import pytest
from ranks import free_root

BEGIN = """
import sys, threading, numpy, optireduce
rank, root = int(sys.argv[1]), sys.argv[2]
communicator = optireduce.Communicator(rank=rank, world_size=2, root=root, bound_ms=1000, early="off", timeout_s=20)
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
    "a request in flight": "if rank == 0: request = bucket.all_reduce(gradient, async_op=True)",
    "a daemon thread in a barrier": "if rank == 0: threading.Thread(target=communicator.barrier, daemon=True).start()",
    "an exception": "if rank == 0: request = bucket.all_reduce(gradient, async_op=True); raise SystemExit(0)",
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


LATE = {
    "a thread": "threading.Thread(target=lambda: time.sleep(0.5) or reduce()).start()",
    "atexit": "atexit.register(reduce)",
}


@pytest.mark.parametrize("where", LATE)
def test_calls_after_the_end_of_the_main_thread(where):
    root = free_root()
    late = """
import atexit, threading, time
def reduce():
    dist.all_reduce(gradient)
    print(gradient[0].item(), flush=True)
dist.all_reduce(gradient)
"""
    command = [sys.executable, "-c", BEGIN_TORCH + late + LATE[where]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    ranks = [subprocess.Popen([*command, str(rank), root], **pipes) for rank in range(2)]
    found = [(*rank.communicate(timeout=80), rank.returncode) for rank in ranks]
    assert [(output, code) for output, _, code in found] == [("4.0\n", 0)] * 2, found


STARTED = """
import datetime, multiprocessing, os, sys, torch, torch.distributed as dist, optireduce.torch

def group(rank, ranks, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("optireduce", timeout=datetime.timedelta(seconds=60))

def rank_main(rank, port):
    group(rank, 2, port)
    dist.all_reduce(torch.ones(4))
    # Without destroy_process_group; with a callback and an unmatched receive.
    dist.all_reduce(torch.ones(4), async_op=True).get_future().then(lambda future: future.value())
    return dist.irecv(torch.ones(4), 1 - rank)

if __name__ == "__main__":
    how, before, port, other_port = sys.argv[1:]
    if how == "torchrun":
        rank_main(int(os.environ["RANK"]), os.environ["MASTER_PORT"])
        sys.exit()
    if before == "a group":
        group(0, 1, other_port)
        dist.all_reduce(torch.ones(4), async_op=True).get_future().wait()
        dist.destroy_process_group()
    if how == "forkserver":
        multiprocessing.set_forkserver_preload(["optireduce.torch"])
    context = multiprocessing.get_context(how)
    ranks = [context.Process(target=rank_main, args=(rank, port)) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(80)
    codes = [rank.exitcode for rank in ranks]
    for rank in ranks:
        rank.kill()
    sys.exit(0 if codes == [0, 0] else f"exit codes {codes}, expected [0, 0]")
"""


# torchrun itself makes no group before.
STARTS = [("torchrun", "only the import"), *itertools.product(["spawn", "fork", "forkserver"], ["only the import", "a group"])]


@pytest.mark.parametrize(("how", "before"), STARTS)
def test_ranks_end_however_they_were_started(how, before, tmp_path):
    (program := tmp_path / "program.py").write_text(STARTED)
    ports = [free_root().split(":")[1] for _ in range(2)]
    run = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", ports[0]] if how == "torchrun" else []
    command = [sys.executable, *run, str(program), how, before, *ports]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=200)
    assert ended.returncode == 0, ended.stderr
