"""Trains a classifier of handwritten digits, data-parallel.

    torchrun --nproc-per-node 4 host-lib/python/examples/ddp_digits.py
    torchrun --nproc-per-node 4 host-lib/python/examples/ddp_digits.py --backend gloo

The lines with optireduce are what makes a DDP script use it.
"""

import argparse
import gzip
import pathlib
import time

import numpy
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import optireduce.torch

DATA = pathlib.Path(__file__).parent / "data" / "digits.csv.gz"


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    with gzip.open(DATA, "rt") as file:
        rows = torch.from_numpy(numpy.loadtxt(file, delimiter=",", dtype="float32"))
    return rows[:, :-1] / 16, rows[:, -1].long()


def train(epochs: int, backend: str, seed: int) -> tuple[float, torch.nn.Module]:
    """The accuracy on images that were not trained with, and the model."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    images, labels = digits()
    order = torch.randperm(len(images))
    train, test = order[:1440], order[1440:]
    network = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    state = None
    if backend == "optireduce":
        state = optireduce.torch.State()
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        state.guard(optimizer)
    for _ in range(epochs):
        for batch in train[torch.randperm(len(train))].split(32 * ranks):
            mine = batch[rank::ranks]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
            optimizer.step()
    if state is not None:
        state.settle(optimizer)
        optireduce.torch.synchronize(network)
        if rank == 0:
            print(state.report())
    with torch.no_grad():
        return (network(images[test]).argmax(1) == labels[test]).float().mean().item(), network


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--backend", default="optireduce", help="optireduce or gloo (default: %(default)s)")
    arguments.add_argument("--epochs", type=int, default=20, help="passes over the data (default: %(default)s)")
    arguments.add_argument("--seed", type=int, default=0, help="of weights and batches (default: %(default)s)")
    args = arguments.parse_args()
    dist.init_process_group(args.backend)
    begin = time.perf_counter()
    accuracy, _ = train(args.epochs, args.backend, args.seed)
    if dist.get_rank() == 0:
        print(f"{args.backend}: accuracy {100 * accuracy:.2f} % after {time.perf_counter() - begin:.1f} s")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
