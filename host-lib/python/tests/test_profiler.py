"""Traces of torch.profiler: the range of a collective lasts from its call to its end."""

import json

import optireduce.torch
import torch
import torch.distributed as dist
from groups import group
from optireduce.torch._work import Work
from ranks import wait_for
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

LAYERS = 4


def traces(rank, ranks, root, path):
    with group(rank, ranks, root):
        layers = [torch.nn.Linear(100, 100) for _ in range(LAYERS)]
        model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.03)
        state = optireduce.torch.State()

        def hook(state, bucket):
            # Rank 1's first bucket waits until rank 0 has computed all of its buckets.
            computed = path / f"computed{passes}"
            if rank == 1 and bucket.index() == 0:
                wait_for(computed)
            future = optireduce.torch.comm_hook(state, bucket)
            if rank == 0 and bucket.is_last():
                computed.touch()
            return future

        model.register_comm_hook(state, hook)
        for passes in range(3):
            model(torch.ones(2, 100)).sum().backward()
        passes = 3
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            model(torch.ones(2, 100)).sum().backward()
            dist.barrier()
        profiler.export_chrome_trace(str(path / f"{rank}.json"))


def test_a_trace_shows_buckets_reduced_while_the_backward_pass_runs(job, tmp_path):
    job.run(2, traces, tmp_path)
    events = [one for one in json.loads((tmp_path / "0.json").read_text())["traceEvents"] if "dur" in one]
    collectives = [one for one in events if one["name"].startswith("optireduce::all_reduce of DDP's bucket")]
    assert len(collectives) == LAYERS, [one["name"] for one in events if "optireduce" in one["name"]]
    first = min(collectives, key=lambda one: one["ts"])
    assert "bucket 0 " in first["name"]
    # Gradients of the later layers are computed within the range of the first bucket.
    backward = [one for one in events if "AddmmBackward0" in one["name"] and one["ts"] > first["ts"]]
    assert len(backward) >= LAYERS - 1
    assert all(one["ts"] + one["dur"] <= first["ts"] + first["dur"] for one in backward), (first, backward)
    barrier = next(one for one in events if one["name"] == "optireduce::barrier")
    assert barrier["ts"] > max(one["ts"] for one in collectives)


def test_a_range_ends_before_its_work_since_the_profiler_may_end_with_the_work():
    completed = []
    work = Work("barrier", [])
    work.recorded = torch.futures.Future()
    work.recorded.add_done_callback(lambda _: completed.append(work.is_completed()))
    work.finish()
    assert completed == [False] and work.is_completed()
