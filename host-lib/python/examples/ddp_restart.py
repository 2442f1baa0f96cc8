r"""Trains a digit classifier, data-parallel, in a job that ranks may leave and rejoin.

Each rank is a separate process:

    cd host-lib/python/examples
    export OPTIREDUCE_WORLD_SIZE=3 OPTIREDUCE_ROOT=127.0.0.1:29400
    for rank in 0 1 2; do OPTIREDUCE_RANK=$rank python ddp_restart.py & done
    kill -9 %3                                                   # others continue
    OPTIREDUCE_RANK=2 OPTIREDUCE_REJOIN=1 python ddp_restart.py  # rejoins

An agent for each rank can restart it:

    OPTIREDUCE_RANK=2 torchrun --standalone --max-restarts 9 --no-python \
        sh -c 'export OPTIREDUCE_REJOIN=$((TORCHELASTIC_RESTART_COUNT > 0))
               exec python ddp_restart.py'
"""

import argparse
import time
import zlib

import torch
import torch.distributed as dist
from ddp_digits import digits
from torch.nn.parallel import DistributedDataParallel

import optireduce.torch


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--steps", type=int, default=2000, help="training steps (default: %(default)s)")
    arguments.add_argument("--pause-ms", type=float, default=5, help="pause before each step in ms (default: %(default)s)")
    arguments.add_argument("--bound-ms", type=float, help="bound on each stage in ms (default: measured)")
    args = arguments.parse_args()
    # All ranks need the same weights and the same test images.
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = digits()
    order = torch.randperm(len(images))
    train, test = order[:1440], order[1440:]
    network = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    # DDP's group has this rank only. All ranks meet in the state.
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    model = DistributedDataParallel(network)
    state = optireduce.torch.State.from_env(**({"bound_ms": args.bound_ms} if args.bound_ms else {}))
    model.register_comm_hook(state, optireduce.torch.comm_hook)
    optimizer = state.guard(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    while state.steps < args.steps:
        time.sleep(args.pause_ms / 1e3)
        chosen = torch.randint(len(train), (32 * state.world_size,), generator=torch.Generator().manual_seed(state.steps))
        mine = train[chosen[state.rank :: state.world_size]]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
        optimizer.step()
        if state.rank == 0 and state.steps % 100 == 0:
            print(f"step {state.steps}: {state.report()}", flush=True)
    state.settle(optimizer)
    with torch.no_grad():
        accuracy = (network(images[test]).argmax(1) == labels[test]).float().mean().item()
    weights = torch.cat([one.detach().flatten() for one in network.parameters()])
    print(f"rank {state.rank}: step {state.steps}, accuracy {100 * accuracy:.2f} %, weights {zlib.crc32(weights.numpy().tobytes()):08x}")
    state.close()


if __name__ == "__main__":
    main()
