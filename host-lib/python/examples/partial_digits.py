"""Trains a digit classifier with Partial Reduce: ranks that are ready average their models.

    torchrun --nproc-per-node 4 host-lib/python/examples/partial_digits.py
    torchrun --nproc-per-node 4 host-lib/python/examples/partial_digits.py --slow-ms 50

Each rank trains on different images, with `--skew` mostly on different digits.
"""

import argparse
import gzip
import pathlib
import time

import numpy
import torch

import optireduce
import optireduce.torch

DATA = pathlib.Path(__file__).parent / "data" / "digits.csv.gz"


def digits(rank: int, ranks: int, skew: bool) -> tuple[torch.Tensor, ...]:
    """Returns images and labels of this rank, and those for tests."""
    with gzip.open(DATA, "rt") as file:
        rows = torch.from_numpy(numpy.loadtxt(file, delimiter=",", dtype="float32"))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    images, labels = rows[order, :-1] / 16, rows[order, -1].long()
    mine = labels[:1440] % ranks == rank if skew else torch.arange(1440) % ranks == rank
    # A tenth of all images, so that no rank misses a digit.
    mine |= torch.arange(1440) % 10 == 0
    return images[:1440][mine], labels[:1440][mine], images[1440:], labels[1440:]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--group-size", type=int, default=2, help="ranks per group (default: %(default)s)")
    arguments.add_argument("--weights", default="dynamic", help="dynamic or constant (default: %(default)s)")
    arguments.add_argument("--steps", type=int, default=300, help="steps of the newest model (default: %(default)s)")
    arguments.add_argument("--slow-ms", type=float, default=0.0, help="delay of each step of the last rank in ms (default: 0)")
    arguments.add_argument("--skew", action="store_true", help="give ranks different digits")
    args = arguments.parse_args()
    torch.set_num_threads(1)
    communicator = optireduce.Communicator()
    rank, ranks = communicator.rank, communicator.world_size
    torch.manual_seed(rank)
    images, labels, test_images, test_labels = digits(rank, ranks, args.skew)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    partial = optireduce.torch.PartialReduce(
        model, optimizer, communicator=communicator, group_size=args.group_size, weights=args.weights
    )
    begin = time.perf_counter()
    # Each average advances a slow rank to the newest iteration of its group.
    while partial.iteration < args.steps:
        batch = torch.randint(len(images), (32,))
        if rank == ranks - 1:
            time.sleep(args.slow_ms / 1e3)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()
    seconds, last = time.perf_counter() - begin, partial.report
    partial.close()
    with torch.no_grad():
        accuracy = (model(test_images).argmax(1) == test_labels).float().mean().item()
    print(f"rank {rank}: accuracy {100 * accuracy:.2f} % after {seconds:.2f} s; {last}")
    communicator.close()


if __name__ == "__main__":
    main()
