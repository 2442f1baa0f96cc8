"""Ranks that rejoin a DDP job after they were killed and restarted, or stopped and dropped."""

import collections
import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator

import optireduce.torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from ranks import free_root

RANKS, LEAVES = 3, 1
#: Steps of all ranks after the rejoin.
STEPS_BACK = 30


def rank(agree: bool) -> None:
    """Trains until a rank has rejoined, and some steps more."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    # One bucket in the first pass, several afterwards.
    network = torch.nn.Sequential(*[torch.nn.Linear(150, 150) for _ in range(6)])
    model = DistributedDataParallel(network, bucket_cap_mb=0.2)
    state = optireduce.torch.State.from_env(bound_ms=200, early="off", agree=agree, synchronize_every=20, timeout_s=30)
    model.register_comm_hook(state, optireduce.torch.comm_hook)
    optimizer = state.guard(torch.optim.Adam(model.parameters(), lr=1e-3))
    back, seen = None, collections.Counter()
    while back is None or state.steps < back + STEPS_BACK:
        generator = torch.Generator().manual_seed(100 * state.steps + state.rank)
        optimizer.zero_grad()
        model(torch.randn(4, 150, generator=generator)).square().mean().backward()
        optimizer.step()
        reports = list(state.session.reports)
        if reports:
            seen[reports[-1].ranks] += 1
            # A pipe that nobody reads would fill up.
            if seen[reports[-1].ranks] <= 10:
                print(*reports[-1].ranks, flush=True)
        if back is None and any(report.joined_rank is not None for report in reports):
            back = state.steps
    state.settle(optimizer)
    moments = [one for value in optimizer.state.values() for one in value.values()]
    tensors = [*network.parameters(), *moments]
    print("end", state.steps, zlib.crc32(torch.cat([one.detach().flatten() for one in tensors]).numpy().tobytes()), flush=True)
    state.close()


class Job:
    """Processes of all ranks, and the lines that they print."""

    def __init__(self, agree: bool, agent: bool) -> None:
        self._agree, self._agent, self._root = agree, agent, free_root()
        self.ranks = [self.start(rank) for rank in range(RANKS)]

    def start(self, rank: int, **variables: str) -> "subprocess.Popen[str]":
        place = {"OPTIREDUCE_RANK": str(rank), "OPTIREDUCE_WORLD_SIZE": str(RANKS), "OPTIREDUCE_ROOT": self._root}
        command = [sys.executable, __file__, *(["agree"] if self._agree else [])]
        if self._agent and rank == LEAVES:
            shell = f"OPTIREDUCE_REJOIN=$((TORCHELASTIC_RESTART_COUNT > 0)) exec {shlex.join(command)}"
            torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--max-restarts", "9"]
            command = [*torchrun, "--no-python", "sh", "-c", shell]
        return subprocess.Popen(command, env={**os.environ, **place, **variables}, stdout=subprocess.PIPE, text=True)

    def wait_for(self, live: str, steps: int) -> None:
        """Waits until rank 0 has made `steps` steps with these ranks."""
        output = self.ranks[0].stdout
        assert output is not None
        for line in output:
            steps -= line == f"{live}\n"
            if steps == 0:
                return
        raise AssertionError(f"rank 0 ended with {self.ranks[0].wait()} before its steps with ranks {live}")

    def ends(self) -> list[str]:
        """Returns the last line of each rank."""
        outputs = [process.communicate(timeout=80)[0] for process in self.ranks]
        assert [process.returncode for process in self.ranks] == [0] * RANKS, outputs
        return [output.splitlines()[-1] for output in outputs]


@contextlib.contextmanager
def job(agree: bool, agent: bool = False) -> Iterator[Job]:
    started = Job(agree, agent)
    try:
        yield started
    finally:
        for process in started.ranks:
            # SIGTERM, so that an agent ends its worker.
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def test_a_rank_that_is_killed_and_started_again_takes_the_model_of_the_others():
    with job(agree=True) as it:
        it.wait_for("0 1 2", 5)
        it.ranks[LEAVES].kill()
        it.ranks[LEAVES].communicate()
        it.wait_for("0 2", 5)
        it.ranks[LEAVES] = it.start(LEAVES, OPTIREDUCE_REJOIN="1")
        ends = it.ends()
        assert ends[0].startswith("end") and ends == [ends[0]] * RANKS


def test_a_rank_that_stood_still_takes_the_model_of_the_others():
    with job(agree=False) as it:
        it.wait_for("0 1 2", 5)
        it.ranks[LEAVES].send_signal(signal.SIGSTOP)
        it.wait_for("0 2", 5)
        it.ranks[LEAVES].send_signal(signal.SIGCONT)
        ends = it.ends()
        assert ends[0].startswith("end") and ends == [ends[0]] * RANKS


def test_an_agent_of_torchruns_starts_a_rank_again_and_nobody_else_restarts():
    """Uses an agent for one rank, as in the help of examples/ddp_restart.py."""
    with job(agree=True, agent=True) as it:
        it.wait_for("0 1 2", 5)
        agent = it.ranks[LEAVES].pid
        (worker,) = pathlib.Path(f"/proc/{agent}/task/{agent}/children").read_text().split()
        os.kill(int(worker), signal.SIGKILL)
        it.wait_for("0 2", 5)
        # Ranks 0 and 2 are still their first processes.
        ends = it.ends()
        assert ends[0].startswith("end") and ends == [ends[0]] * RANKS
        assert it.ranks[LEAVES].pid == agent


if __name__ == "__main__":
    rank(sys.argv[1:] == ["agree"])
