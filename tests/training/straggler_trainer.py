"""One worker that trains a small network on its own digits, once for each run.

Workers may be slow or stall.

    export RANK=0 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500
    python tests/training/straggler_trainer.py runs.json rows.jsonl

`runs.json` is a list of runs. Rank 0 appends a row with the run and its outcome to `rows.jsonl`.
Rank and peers are in torchrun's variables; all ranks share the files. A step takes as long as its
run specifies, because the worker sleeps: computing takes a millisecond.
"""

import json
import os
import pathlib
import random
import time
from typing import Any

import optireduce
import optireduce.torch
import torch
import torch.distributed as dist
import tasks
from optireduce.torch import _settings
from tasks import TRAINED_IMAGES, digits, network_of
from torch.nn.parallel import DistributedDataParallel
from trainer import TIMEOUT, flat, parse

#: Base of the ports. Each run uses three new ones, since old TCP ports stay in TIME_WAIT.
PORT = 25_000
IMAGES_PER_STEP = 32
RATE, MOMENTUM = 0.1, 0.9
#: Share of a worker's images that show its own digits; the others show all digits.
OWN_SHARE = 0.8
#: Seconds between two points of a curve.
POINT_S = 0.1
#: Seconds from the rendezvous to the start of a run.
START_S = 0.1
#: Collectives that a rank may be ahead of a late one.
LEAD = 64
#: Bound of a group's collectives; later data is repaired.
GROUP_BOUND_MS = 20

Points = list[tuple[float, int, torch.Tensor]]


def shard(images: torch.Tensor, labels: torch.Tensor, rank: int, ranks: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the images of a worker: mostly of digits that few other workers have."""
    shared = round((1 - OWN_SHARE) * len(labels))
    mine = torch.arange(len(labels))
    own = mine[shared:][torch.argsort(labels[shared:], stable=True)].chunk(ranks)[rank]
    chosen = torch.cat([own, mine[:shared][rank::ranks]])
    return images[chosen], labels[chosen]


def network() -> torch.nn.Module:
    return network_of("mlp")[0]


def judge(parameters: torch.Tensor, images: torch.Tensor, labels: torch.Tensor) -> tuple[float, float]:
    """Loss and accuracy of a model on the test images."""
    module = network()
    torch.nn.utils.vector_to_parameters(parameters, module.parameters())
    with torch.no_grad():
        return tasks.judge(module(images), labels)


class Worker:
    """A rank in one run: its data, steps, and points of the curve."""

    def __init__(self, run: dict[str, Any], rank: int, ranks: int, folder: pathlib.Path) -> None:
        self.run, self.rank, self.ranks, self.folder = run, rank, ranks, folder
        torch.manual_seed(run["seed"])
        images, labels = digits()
        order = torch.randperm(len(images))
        train, test = order[:TRAINED_IMAGES], order[TRAINED_IMAGES:]
        self.test = images[test], labels[test]
        self.images, self.labels = shard(images[train], labels[train], rank, ranks)
        self.module = network()
        # Different on each worker; all draws above are the same.
        self.batches = torch.Generator().manual_seed(1000 * run["seed"] + rank)
        self.stalls = random.Random(1000 * run["seed"] + rank)
        self.begin = 0.0
        self.steps = 0
        self.points: Points = []

    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def is_over(self) -> bool:
        return self.seconds() >= self.run["seconds"]

    def gradient(self, model: torch.nn.Module) -> None:
        """Computes a gradient, and sleeps for this worker's step time."""
        if not self.is_over():
            is_stalled = self.stalls.random() < self.run["stall_share"]
            slowness = self.run["slowness"] if self.rank == self.ranks - 1 else 1
            time.sleep((self.run["step_ms"] * slowness + is_stalled * self.run["stall_ms"]) / 1e3)
        batch = torch.randint(len(self.images), (IMAGES_PER_STEP,), generator=self.batches)
        torch.nn.functional.cross_entropy(model(self.images[batch]), self.labels[batch]).backward()

    def stepped(self) -> None:
        """Counts an update of the model, and adds a point to the curve if one is due."""
        if not self.is_over():
            self.steps += 1
            if len(self.points) * POINT_S <= self.seconds():
                self.points.append((self.seconds(), self.steps, flat(self.module)))

    def all_reduced(self, state: optireduce.torch.State | None) -> dict[str, Any]:
        """Trains with all-reduces of gradients."""
        model = DistributedDataParallel(self.module)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
        if state is not None:
            model.register_comm_hook(state, optireduce.torch.comm_hook)
            state.guard(optimizer)
        self.warm_up(lambda: model(torch.zeros(1, 64)).sum().backward(), optimizer)
        dist.barrier()
        self.meet()
        stop, calls, halts = self.folder / "stop", 0, 0
        # All ranks must make the same number of calls, so rank 0 announces the last one before any
        # rank can be beyond it.
        while not (stop.exists() and calls >= int(stop.read_text())):
            if self.rank == 0 and self.is_over() and not stop.exists():
                (self.folder / "stop.new").write_text(str(calls + (2 if state is None else LEAD + 2)))
                (self.folder / "stop.new").rename(stop)
            optimizer.zero_grad()
            self.gradient(model)
            try:
                optimizer.step()
            except optireduce.HaltError:
                # A real job ends here. This run goes on, to show the resulting accuracy.
                halts += not self.is_over()
            calls += 1
            self.stepped()
        reports = [] if state is None else state.session.reports
        deadline_ms = None if not reports else reports[-1].bound_ms
        lost, expected = (sum(getattr(one, name) for one in reports) for name in ("lost_bytes", "expected_bytes"))
        return {"lost": lost / max(expected, 1), "skipped": 0 if state is None else state.skipped, "halts": halts, "deadline_ms": deadline_ms}

    def partly_reduced(self, communicator: optireduce.Communicator) -> dict[str, Any]:
        """Trains with averages of models of the workers that are ready."""
        optimizer = torch.optim.SGD(self.module.parameters(), lr=RATE, momentum=MOMENTUM)
        self.warm_up(lambda: self.module(torch.zeros(1, 64)).sum().backward(), optimizer)
        partial = optireduce.torch.PartialReduce(
            self.module,
            optimizer,
            communicator=communicator,
            group_size=self.run["group_size"],
            weights=self.run["weights"],
            bound_ms=GROUP_BOUND_MS,
        )
        communicator.barrier()
        self.meet()
        groups, waited_ms = 0, 0.0
        while not self.is_over():
            optimizer.zero_grad()
            self.gradient(self.module)
            optimizer.step()
            self.stepped()
            groups, waited_ms = groups + 1, waited_ms + partial.report.group.waited_ms
        partial.close()
        return {"groups": groups, "waited_ms": waited_ms / max(groups, 1), "iteration": partial.iteration}

    def warm_up(self, backward: Any, optimizer: torch.optim.Optimizer) -> None:
        """Makes torch load and compile its code, which would dominate the first step."""
        for _ in range(2):
            backward()
        optimizer.zero_grad()

    def meet(self) -> None:
        """Waits for a start time that rank 0 chooses."""
        start = self.folder / "start"
        if self.rank == 0:
            (self.folder / "start.new").write_text(repr(time.monotonic() + START_S))
            (self.folder / "start.new").rename(start)
        while not start.exists():
            time.sleep(0.001)
        self.begin = float(start.read_text())
        time.sleep(max(0.0, -self.seconds()))


def all_reduce(worker: Worker, address: str, index: int) -> dict[str, Any]:
    """Runs once with all-reduces, in a new process group."""
    run, rank, ranks = worker.run, worker.rank, worker.ranks
        # `configure` keeps settings of earlier runs in this process.
    _settings._settings.pop("bound_ms", None)
    optireduce.torch.configure(**run["settings"])
        # Rank 0 serves the store until all ranks have left the group.
    store = dist.TCPStore(address, PORT + 3 * index, ranks, rank == 0, timeout=TIMEOUT)
    dist.init_process_group(run["backend"], store=store, rank=rank, world_size=ranks, timeout=TIMEOUT)
    noted = worker.all_reduced(optireduce.torch.State() if run["backend"] == "optireduce" else None)
    dist.barrier()
    dist.destroy_process_group()
    return noted


def partial_reduce(worker: Worker, address: str, index: int) -> dict[str, Any]:
    """Runs once with partial reduces, in a new communicator."""
    root = f"{address}:{PORT + 3 * index + 2}"
    with optireduce.Communicator(rank=worker.rank, world_size=worker.ranks, root=root, timeout_s=TIMEOUT.total_seconds()) as communicator:
        return worker.partly_reduced(communicator)


def curve(points: list[Points], seconds: float, test: tuple[torch.Tensor, torch.Tensor]) -> list[list[float]]:
    """Points of the mean of all workers' models: total steps, seconds, loss and accuracy."""
    made = []
    for point in range(1, round(seconds / POINT_S) + 1):
        newest = [[one for one in of_worker if one[0] <= point * POINT_S][-1:] for of_worker in points]
        if all(newest):
            loss, accuracy = judge(torch.stack([one[0][2] for one in newest]).mean(0), *test)
            made.append([sum(one[0][1] for one in newest), round(point * POINT_S, 3), round(loss, 5), round(accuracy, 5)])
    return made


def row(worker: Worker, folder: pathlib.Path) -> dict[str, Any]:
    """Row of a run, from the files of all workers."""
    noted = [torch.load(folder / f"{rank}.pt") for rank in range(worker.ranks)]
    points = [one["points"] for one in noted]
    made = curve(points, worker.run["seconds"], worker.test)
    return {
        **worker.run,
        "workers": worker.ranks,
        "accuracy": made[-1][3] if made else 0.0,
        "own_accuracies": [round(judge(one[-1][2], *worker.test)[1], 5) if one else 0.0 for one in points],
        "steps": [one["steps"] for one in noted],
        "noted": [one["noted"] for one in noted],
        "curve": made,
    }


def main() -> None:
    args = parse(__doc__)
    torch.set_num_threads(1)
    rank, ranks, address = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["MASTER_ADDR"]
    for index, run in enumerate(json.loads(args.runs.read_text())):
        folder = args.rows.parent / f"run{index}"
        folder.mkdir(exist_ok=True)
        worker = Worker(run, rank, ranks, folder)
        noted = (partial_reduce if run["backend"] == "partial" else all_reduce)(worker, address, index)
        torch.save({"points": worker.points, "steps": worker.steps, "noted": noted}, folder / f"{rank}.new")
        (folder / f"{rank}.new").rename(folder / f"{rank}.pt")
        if rank == 0:
            limit = time.monotonic() + TIMEOUT.total_seconds()
            while not all((folder / f"{other}.pt").exists() for other in range(ranks)):
                if time.monotonic() > limit:
                    raise TimeoutError(f"run {index}: not all of {ranks} workers have written their results to {folder}")
                time.sleep(0.005)
            with args.rows.open("a") as file:
                file.write(json.dumps(row(worker, folder)) + "\n")


if __name__ == "__main__":
    main()
