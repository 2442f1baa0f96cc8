"""One rank that trains small networks on handwritten digits, one after the other, and measures how it went.

    badnet run --loss 0.01 -- python tests/training/trainer.py runs.json rows.jsonl

`runs.json` is a list of runs; rank 0 appends a row for each to `rows.jsonl`: the run, and what became of it. Rank and peers come
from torchrun's variables. The data and the way to train are those of host-lib/python/examples/ddp_digits.py.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import sys
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "host-lib" / "python" / "examples"))

import optireduce  # noqa: E402
import optireduce.torch  # noqa: E402
from ddp_digits import digits  # noqa: E402

#: Ranks meet at this port in the first run, at the next one in the next: TCP keeps old ones for a while.
PORT = 24_000
#: How long a rank waits for the others.
TIMEOUT = datetime.timedelta(seconds=60)
TRAINED_IMAGES = 1440
IMAGES_PER_RANK = 32
#: Steps between two points of a curve.
STEPS_PER_POINT = 3


def network(model: str) -> tuple[torch.nn.Module, float]:
    """A network of about ten thousand parameters for 8x8 images, and its learning rate."""
    nn = torch.nn
    if model == "mlp":
        return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), 0.2
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(nn.Unflatten(1, (1, 8, 8)), *layers, nn.Flatten(), nn.Linear(512, 10)), 0.1


def warm_up(model: str) -> None:
    """What torch loads and compiles in a first step, which takes longer than all that is measured."""
    module, rate = network(model)
    optimizer = torch.optim.SGD(module.parameters(), lr=rate, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        module(torch.zeros(IMAGES_PER_RANK, 64)).sum().backward()
        optimizer.step()


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([one.detach().flatten() for one in module.parameters()])


def judge(module: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> tuple[float, float]:
    """Loss and accuracy on images that were not trained with."""
    with torch.no_grad():
        output = module(images)
        return torch.nn.functional.cross_entropy(output, labels).item(), (output.argmax(1) == labels).float().mean().item()


def gathered(parameters: torch.Tensor) -> list[torch.Tensor]:
    copies = [torch.empty_like(parameters) for _ in range(dist.get_world_size())]
    dist.all_gather(copies, parameters)
    return copies


def curve_of(module: torch.nn.Module, points: list[Any], images: torch.Tensor, labels: torch.Tensor) -> list[list[float]]:
    """Steps, seconds, loss and accuracy of each point. Leaves the module with the parameters of the last."""
    curve = []
    for steps, seconds, parameters in points:
        torch.nn.utils.vector_to_parameters(parameters, module.parameters())
        curve.append([steps, round(seconds, 4), *(round(one, 5) for one in judge(module, images, labels))])
    return curve


def train(run: dict[str, Any]) -> dict[str, Any]:
    """Trains once, in the default process group."""
    warm_up(run["model"])
    torch.manual_seed(run["seed"])
    rank, ranks = dist.get_rank(), dist.get_world_size()
    images, labels = digits()
    order = torch.randperm(len(images))
    train, test = order[:TRAINED_IMAGES], order[TRAINED_IMAGES:]
    module, rate = network(run["model"])
    model = DistributedDataParallel(module)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    state = None
    if run["backend"] == "optireduce":
        state = optireduce.torch.State()
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        state.guard(optimizer)
    # The same on all ranks: in which steps the last of them is late.
    late = random.Random(run["seed"])
    steps = halts = 0
    points = []
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(run["epochs"]):
        for batch in train[torch.randperm(len(train))].split(IMAGES_PER_RANK * ranks):
            if late.random() < run["late_share"] and rank == ranks - 1:
                time.sleep(run["late_ms"] / 1e3)
            mine = batch[rank::ranks]
            if steps == run["killed_at"] and rank == ranks - 1:
                os._exit(0)
            try:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
                optimizer.step()
            except optireduce.HaltError:
                # A job ends here. This one is to show where it would have got to.
                halts += 1
            except RuntimeError as error:
                if run["killed_at"] is None:
                    raise
                return {"steps": steps, "ended_by": str(error).splitlines()[0][:200], "curve": []}
            steps += 1
            if steps % STEPS_PER_POINT == 0:
                points.append((steps, time.perf_counter() - begin, flat(module)))
    seconds = time.perf_counter() - begin
    test_curve = lambda: curve_of(module, points, images[test], labels[test])  # noqa: E731
    if run["killed_at"] is not None:
        # Nothing is exact any more, since that needs all ranks.
        accuracy = judge(module, images[test], labels[test])[1]
        live = len(state.session.reports[-1].live_ranks) if state is not None else ranks
        return {"accuracy": accuracy, "steps": steps, "seconds": seconds, "live_ranks": live, "curve": test_curve()}
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
    curve = test_curve()
    torch.nn.utils.vector_to_parameters(final, module.parameters())
    loss, accuracy = judge(module, images[test], labels[test])
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
    arguments.add_argument("runs", type=pathlib.Path, help="a list of runs, JSON")
    arguments.add_argument("rows", type=pathlib.Path, help="where rank 0 appends a line of JSON per run")
    return arguments.parse_args()


def main() -> None:
    args = parse(__doc__)
    torch.set_num_threads(1)
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    for index, run in enumerate(json.loads(args.runs.read_text())):
        optireduce.torch.configure(**run["settings"])
        # Rank 0 serves the store until all have left the group.
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
            # Without the rank that is gone no group ends in order.
            time.sleep(1)
            os._exit(0)


if __name__ == "__main__":
    main()
