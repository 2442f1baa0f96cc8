"""Jobs of processes: every rank runs the same function, and the test sees each result or error.

Importing torch takes seconds, so processes are forks of a server that has imported it, and are
reused. After a crash or hang they are replaced.
"""

import multiprocessing
import pathlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from optireduce._ports import free_port

TIMEOUT_S = 90


@dataclass(frozen=True)
class Outcome:
    """Result or error of a rank."""

    value: Any = None
    error: str = ""
    message: str = ""
    trace: str = ""


def free_root() -> str:
    return f"127.0.0.1:{free_port('127.0.0.1')}"


def wait_for(path: pathlib.Path) -> None:
    """Waits until another rank has created this file."""
    until = time.monotonic() + TIMEOUT_S / 2
    while not path.exists():
        assert time.monotonic() < until, f"{path}: not created"
        time.sleep(0.001)


def memory_for_peers() -> list[set[str]]:
    """Returns the files of memory that this process lends, and that it reads."""
    maps = [line.split() for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "optireduce-buffer" in line]
    return [{inode for _, mode, _, _, inode, *_ in maps if mode == wanted} for wanted in ("rw-s", "r--s")]


def serve(pipe: Connection) -> None:
    """Runs jobs in a process."""
    while (job := pipe.recv()) is not None:
        function, arguments = job
        try:
            outcome = Outcome(value=function(*arguments))
        except BaseException as error:
            outcome = Outcome(error=type(error).__name__, message=str(error), trace=traceback.format_exc())
        pipe.send(outcome)


class Ranks:
    """Processes that run jobs."""

    def __init__(self) -> None:
        self._processes: list[tuple[Any, Connection]] = []

    def _start(self) -> tuple[Any, Connection]:
        context = multiprocessing.get_context("forkserver")
        # Optimizers import `torch._dynamo` at their first step.
        context.set_forkserver_preload(["torch._dynamo"])
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def outcomes(self, ranks: int, function: Callable[..., Any], *arguments: Any, timeout_s: float = TIMEOUT_S) -> list[Outcome]:
        """Runs `function(rank, ranks, root, *arguments)` on every rank."""
        while len(self._processes) < ranks:
            self._processes.append(self._start())
        root, job = free_root(), self._processes[:ranks]
        for rank, (_, pipe) in enumerate(job):
            pipe.send((function, (rank, ranks, root, *arguments)))
        found = []
        for process, pipe in job:
            try:
                found.append(pipe.recv() if pipe.poll(timeout_s) else Outcome(error="Hang", message=f"after {timeout_s} s"))
            except EOFError:
                process.join()
                found.append(Outcome(error="Death", message=f"exit code {process.exitcode}"))
        if any(outcome.error in ("Hang", "Death") for outcome in found):
            self.close()
        return found

    def run(self, ranks: int, function: Callable[..., Any], *arguments: Any, timeout_s: float = TIMEOUT_S) -> list[Any]:
        """Runs as `outcomes`, and fails if a rank fails."""
        found = self.outcomes(ranks, function, *arguments, timeout_s=timeout_s)
        failed = [(rank, outcome) for rank, outcome in enumerate(found) if outcome.error]
        assert not failed, "\n".join(f"rank {rank}: {one.error}: {one.message}\n{one.trace}" for rank, one in failed)
        return [outcome.value for outcome in found]

    def close(self) -> None:
        for process, pipe in self._processes:
            process.kill()
            process.join()
            pipe.close()
        self._processes.clear()
