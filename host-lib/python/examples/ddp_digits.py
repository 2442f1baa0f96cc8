"""Trains a classifier of handwritten digits, data-parallel.

    torchrun --nproc-per-node 4 host-lib/python/examples/ddp_digits.py
    torchrun --nproc-per-node 4 host-lib/python/examples/ddp_digits.py --model conv --backend gloo
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


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    with gzip.open(pathlib.Path(__file__).parent / "data" / "digits.csv.gz", "rt") as file:
        rows = torch.from_numpy(numpy.loadtxt(file, delimiter=",", dtype="float32"))
    return rows[:, :-1] / 16, rows[:, -1].long()


def network_of(model: str) -> tuple[torch.nn.Module, float]:
    """Returns a network of about ten thousand parameters for 8x8 images, and its learning rate."""
    nn = torch.nn
    if model == "mlp":
        return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), 0.2
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(nn.Unflatten(1, (1, 8, 8)), *layers, nn.Flatten(), nn.Linear(512, 10)), 0.1


def train(epochs: int, backend: str, seed: int, kind: str = "mlp", groups: int | str | None = None) -> tuple[float, torch.nn.Module]:
    """Returns the accuracy on test images, and the model."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    (images, labels), rank, ranks = digits(), dist.get_rank(), dist.get_world_size()
    train, test = torch.randperm(len(images)).split([1440, len(images) - 1440])
    network, rate = network_of(kind)
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    state = optireduce.torch.State(groups=groups) if backend == "optireduce" else None
    if state is not None:
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
        if rank == 0:
            print(state.report())
    with torch.no_grad():
        return (network(images[test]).argmax(1) == labels[test]).float().mean().item(), network


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--backend", default="optireduce", help="optireduce or gloo (default: %(default)s)")
    arguments.add_argument("--model", default="mlp", choices=["mlp", "conv"], help="perceptron or convolutional net (default: %(default)s)")
    arguments.add_argument("--groups", help="'hosts' for two levels, with one group per host (default: one level)")
    arguments.add_argument("--epochs", type=int, default=20, help="passes over the data (default: %(default)s)")
    arguments.add_argument("--seed", type=int, default=0, help="seed of weights and batches (default: %(default)s)")
    args = arguments.parse_args()
    dist.init_process_group(args.backend)
    begin = time.perf_counter()
    accuracy, _ = train(args.epochs, args.backend, args.seed, args.model, args.groups)
    if dist.get_rank() == 0:
        print(f"{args.backend}: accuracy {100 * accuracy:.2f} % after {time.perf_counter() - begin:.1f} s")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
