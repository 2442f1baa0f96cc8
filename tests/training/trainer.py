"""One rank that trains small networks, one after the other, and measures time and accuracy.

    badnet run --loss 0.01 -- python tests/training/trainer.py runs.json rows.jsonl

`runs.json` is a list of runs. Rank 0 appends a row with the run and its outcome to `rows.jsonl`.
Rank and peers are in torchrun's variables.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import optireduce
import optireduce.torch
from tasks import Task, task

#: Port of the first rendezvous. Each run uses the next one, since old TCP ports stay in TIME_WAIT.
PORT = 24_000
#: Timeout for other ranks.
TIMEOUT = datetime.timedelta(seconds=60)
#: First steps, which are not timed: DDP makes its buckets, and ranks begin to measure their bound.
UNTIMED_STEPS = 4


def warm_up(model: str) -> None:
    """Makes torch load and compile its code, which would dominate the first step."""
    work = task(model)
    optimizer = work.optimizer(work.module.parameters())
    batch = next(work.batches(1, 0, 1))
    for _ in range(2):
        optimizer.zero_grad()
        work.loss(work.module, batch).backward()
        optimizer.step()


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([one.detach().flatten() for one in module.parameters()])


def gathered(parameters: torch.Tensor) -> list[torch.Tensor]:
    copies = [torch.empty_like(parameters) for _ in range(dist.get_world_size())]
    dist.all_gather(copies, parameters)
    return copies


def curve_of(work: Task, points: list[Any]) -> list[list[float]]:
    """Returns steps, seconds, loss and accuracy of each point, on rank 0 only.

    Changes the parameters of the network.
    """
    curve: list[list[float]] = []
    for steps, seconds, parameters in points if dist.get_rank() == 0 else []:
        torch.nn.utils.vector_to_parameters(parameters, work.module.parameters())
        curve.append([steps, round(seconds, 4), *(round(one, 5) for one in work.judge())])
    return curve


def train(run: dict[str, Any]) -> dict[str, Any]:
    """Trains once, in the default process group."""
    warm_up(run["model"])
    torch.manual_seed(run["seed"])
    rank, ranks = dist.get_rank(), dist.get_world_size()
    work = task(run["model"])
    module = work.module
    model = DistributedDataParallel(module)
    optimizer = work.optimizer(model.parameters())
    state = None
    if run["backend"] == "optireduce":
        # Accuracy runs continue after a halt, so ranks would settle in different steps. They settle
        # at the end instead.
        state = optireduce.torch.State(**({"synchronize_every": None} if run["what"] == "accuracy" else {}))
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        state.guard(optimizer)
    # The same sequence on all ranks: steps in which the last rank is late.
    late = random.Random(run["seed"])
    steps = halts = 0
    points, ends = [], []
    dist.barrier()
    begin = time.perf_counter()
    for batch in work.batches(run["epochs"], rank, ranks):
        if late.random() < run["late_share"] and rank == ranks - 1:
            time.sleep(run["late_ms"] / 1e3)
        if steps == run["killed_at"] and rank == ranks - 1:
            os._exit(0)
        try:
            optimizer.zero_grad()
            work.loss(model, batch).backward()
            optimizer.step()
        except optireduce.HaltError:
            # A real job ends here. This run goes on, to show the resulting accuracy.
            halts += 1
        except RuntimeError as error:
            if run["killed_at"] is None:
                raise
            return {"steps": steps, "ended_by": str(error).splitlines()[0][:200], "curve": []}
        steps += 1
        ends.append(time.perf_counter() - begin)
        if steps % work.STEPS_PER_POINT == 0 and run["what"] != "steps":
            points.append((steps, ends[-1], flat(module)))
    seconds = ends[-1]
    if run["what"] == "steps":
        slowest = torch.tensor(ends, dtype=torch.float64).diff(prepend=torch.zeros(1, dtype=torch.float64)) * 1e3
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        step_ms = [round(one, 3) for one in slowest[UNTIMED_STEPS:].tolist()]
        reports = state.session.reports if state is not None else []
        lost_bytes, expected_bytes = (sum(getattr(one, name) for one in reports) for name in ("lost_bytes", "expected_bytes"))
        return {"steps": steps, "seconds": seconds, "step_ms": step_ms, "lost": lost_bytes / max(expected_bytes, 1)}
    if run["killed_at"] is not None:
        # The exact collectives below need all ranks.
        accuracy = work.judge()[1]
        live = len(state.session.reports[-1].ranks) if state is not None else ranks
        return {"accuracy": accuracy, "steps": steps, "seconds": seconds, "live_ranks": live, "curve": curve_of(work, points)}
    lost = [0.0, 0.0]
    unsettled = flat(module)
    if state is not None:
        state.settle(optimizer)
        reports = state.session.reports
        lost = [float(sum(getattr(one, name) for one in reports)) for name in ("lost_bytes", "expected_bytes")]
    copies, before = gathered(flat(module)), gathered(unsettled)
    sums = torch.tensor([*lost, seconds], dtype=torch.float64)
    dist.all_reduce(sums)
    optireduce.torch.synchronize(module)
    final = flat(module)
    curve = curve_of(work, points)
    torch.nn.utils.vector_to_parameters(final, module.parameters())
    loss, accuracy = work.judge()
    lost_bytes, expected_bytes, all_seconds = sums.tolist()
    return {
        "accuracy": accuracy,
        "test_loss": loss,
        "steps": steps,
        "skipped": state.skipped if state is not None else 0,
        "halts": halts,
        "lost": lost_bytes / expected_bytes if expected_bytes else 0.0,
        "seconds": all_seconds / ranks,
        "differing_ranks": sum(not torch.equal(one, copies[0]) for one in copies),
        "difference_max": max((one - copies[0]).abs().max().item() for one in copies),
        "difference_before": max((one - before[0]).abs().max().item() for one in before),
        "curve": curve,
    }


def parse(about: str | None) -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", type=pathlib.Path, help="JSON file with a list of runs")
    arguments.add_argument("rows", type=pathlib.Path, help="file to which rank 0 appends a line of JSON per run")
    return arguments.parse_args()


def main() -> None:
    args = parse(__doc__)
    torch.set_num_threads(1)
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    for index, run in enumerate(json.loads(args.runs.read_text())):
        optireduce.torch.configure(**{"engine": "udp", **run["settings"]})
        # Rank 0 serves the store until all ranks have left the group.
        store = dist.TCPStore(os.environ["MASTER_ADDR"], PORT + index, ranks, rank == 0, timeout=TIMEOUT)
        dist.init_process_group(run["backend"], store=store, rank=rank, world_size=ranks, timeout=TIMEOUT)
        row = {**run, "ranks": ranks, **train(run)}
        if run["killed_at"] is None:
            dist.barrier()
            dist.destroy_process_group()
        if rank == 0:
            with args.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if run["killed_at"] is not None:
            # Process groups cannot be destroyed in order without the killed rank.
            time.sleep(1)
            os._exit(0)


if __name__ == "__main__":
    main()
