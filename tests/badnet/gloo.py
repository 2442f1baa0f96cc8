#!/usr/bin/env python3
"""All-reduce through torch.distributed, measured as by `optireduce run --bench`.

Before every call there is a barrier, then the straggler sleeps, then each rank times its own call.
A row has percentiles over calls, with the slowest rank of each call. Prints a line of JSON for each
size. Rank and peers are in torchrun's variables.
"""
import argparse
import json
import resource
import time

import torch
import torch.distributed as dist

CALLS_A_ROUND, CALLS_MIN, CALLS_MAX = 5, 20, 20_000


def size(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bench", default="64K,1M,25M", help="sizes in bytes; K, M and G stand for KiB, MiB and GiB")
    arguments.add_argument("--secs", type=float, default=3.0, help="seconds for each size")
    arguments.add_argument("--straggler-ms", type=float, default=0.0, help="lateness of the last rank in every call")
    args = arguments.parse_args()

    torch.set_num_threads(1)
    before_mb = peak_mb()
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for bytes_ in map(size, args.bench.split(",")):
        gradient = torch.arange(bytes_ // 4, dtype=torch.float32).remainder(1000) * 1e-3 - 0.5 + rank
        data = gradient.clone()
        dist.all_reduce(data)
        seconds, stop = [], torch.zeros(1)
        begin, cpu = time.perf_counter(), time.process_time()
        while not stop.item():
            for _ in range(CALLS_A_ROUND):
                data.copy_(gradient)
                dist.barrier()
                if args.straggler_ms and rank == ranks - 1:
                    time.sleep(args.straggler_ms / 1e3)
                call = time.perf_counter()
                dist.all_reduce(data)
                seconds.append(time.perf_counter() - call)
            took, calls = time.perf_counter() - begin, len(seconds)
            stop[0] = took >= args.secs and calls >= CALLS_MIN or calls >= CALLS_MAX or took >= 4 * args.secs
            dist.broadcast(stop, 0)
        cpu = torch.tensor([time.process_time() - cpu], dtype=torch.float64)
        memory = torch.tensor([peak_mb() - before_mb], dtype=torch.float64)
        slowest = torch.tensor(seconds, dtype=torch.float64)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        dist.all_reduce(cpu)
        dist.all_reduce(memory, dist.ReduceOp.MAX)
        expected = torch.arange(4, dtype=torch.float32).remainder(1000) * 1e-3 - 0.5 + (ranks - 1) / 2
        assert torch.allclose(data[:4] / ranks, expected, atol=1e-5), "wrong sums"
        if rank == 0:
            ms = slowest.sort().values * 1e3
            at = lambda share: ms[min(len(ms) - 1, int(share * len(ms)))].item()
            row = dict(size_bytes=bytes_, iters=len(ms), p50_ms=at(0.5), p90_ms=at(0.9), p99_ms=at(0.99), max_ms=at(1.0))
            cost = dict(cpu_s_per_gb=cpu.item() / (len(ms) * bytes_) * 1e9, memory_mb=memory.item())
            print(json.dumps(row | cost | dict(received_fraction=1.0)), flush=True)
    dist.barrier()
    dist.destroy_process_group()


main()
