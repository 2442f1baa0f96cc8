"""Processes that make many communicators and collectives keep their descriptors, threads and memory."""

import gc
import os
import pathlib
import threading
from collections.abc import Iterator

import numpy
import pytest
from groups import group
from ranks import Ranks
from test_communicator import connect

IS_WHOLE = "OPTIREDUCE_NIGHTLY" in os.environ
COMMUNICATORS = 200 if IS_WHOLE else 6
COLLECTIVES = 20_000 if IS_WHOLE else 600
ELEMENTS = 40_000
# The allocator's arenas grow by 25 MiB in the first thousand calls. One array a call would be 90.
SLACK_KIB = 40 << 10


@pytest.fixture(scope="module")
def job() -> Iterator[Ranks]:
    """Processes of these tests alone, which own no garbage of others."""
    ranks = Ranks()
    yield ranks
    ranks.close()


def held():
    """Returns the descriptors, threads and KiB of this process."""
    gc.collect()
    status = pathlib.Path("/proc/self/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    tasks = len(list(pathlib.Path("/proc/self/task").iterdir()))
    return {"descriptors": len(os.listdir("/proc/self/fd")), "threads": tasks, "KiB": int(resident.split()[1])}


def use(communicator, collectives):
    """Makes calls of every kind, and leaves nothing open but what the communicator owns."""
    ranks = communicator.world_size
    bucket, levels, pair = communicator.bucket(ELEMENTS), communicator.bucket(ELEMENTS, groups=2), communicator.split(communicator.rank % 2)
    partial = pair.partial_reduce(100, group_size=2)
    gradient, exact = numpy.ones(ELEMENTS, "float32"), numpy.ones(300, "float64")
    for _ in range(collectives // 10):
        requests = [bucket.all_reduce(gradient, async_op=True), communicator.exact.all_reduce(exact, async_op=True)]
        assert requests[0].wait().is_applied
        requests[1].wait()
        assert levels.all_reduce(gradient).is_applied
        shard, _ = bucket.reduce_scatter(gradient)
        bucket.all_gather(shard)
        pair.barrier()
        assert communicator.exact.all_gather(b"x" * 100) == [b"x" * 100] * ranks
        to, source = (communicator.rank + 1) % ranks, (communicator.rank - 1) % ranks
        sent = communicator.send(b"y" * 1000, to, 3, async_op=True)
        assert communicator.recv(source, 3) == (source, b"y" * 1000)
        sent.wait()
        communicator.exact.broadcast(gradient, 0)
    partial.average(numpy.ones(100, "float32"), 1)
    partial.close()
    assert bucket.settle(5.0).is_settled
    pair.close()


def soak(rank, ranks, root):
    before = {}
    for count in range(COMMUNICATORS):
        with connect(rank, ranks, root, timeout_s=60) as communicator:
            use(communicator, 100 if count else COLLECTIVES)
        if count == 1:
            before = held()
    return before, held()


def test_many_communicators_and_collectives_leave_nothing_behind(job):
    for before, after in job.run(4, soak, timeout_s=3600):
        assert after["descriptors"] <= before["descriptors"] and after["threads"] <= before["threads"], (before, after)
        assert after["KiB"] <= before["KiB"] + SLACK_KIB, (before, after)


def collectives(rank, ranks, root):
    """One communicator holds as much after many collectives as after few."""
    with connect(rank, ranks, root, timeout_s=60) as communicator:
        use(communicator, 100)
        before = held()
        for _ in range(COLLECTIVES // 200):
            use(communicator, 200)
        return before, held()


def test_many_collectives_of_one_communicator_leave_nothing_behind(job):
    for before, after in job.run(4, collectives, timeout_s=3600):
        assert after["threads"] <= before["threads"], (before, after)
        assert after["descriptors"] <= before["descriptors"] and after["KiB"] <= before["KiB"] + SLACK_KIB, (before, after)


def groups(rank, ranks, root):
    import torch
    import torch.distributed as dist

    before = {}
    host, port = root.split(":")
    store = dist.TCPStore(host, int(port), ranks, rank == 0)
    for count in range(max(COMMUNICATORS // 4, 4)):
        with group(rank, ranks, root, store=dist.PrefixStore(str(count), store)):
            half = [dist.new_group([0, 1]), dist.new_group([2, 3])][rank // 2]
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 10))
            for _ in range(3):
                model(torch.ones(2, 100)).sum().backward()
            dist.all_reduce(torch.ones(1000), group=half)
            dist.barrier()
            del model
        if count == 1:
            before = held()
    assert threading.active_count() < 20
    return before, held()


def test_many_process_groups_leave_nothing_behind(job):
    for before, after in job.run(4, groups, timeout_s=3600):
        assert after["descriptors"] <= before["descriptors"] and after["threads"] <= before["threads"], (before, after)
        assert after["KiB"] <= before["KiB"] + SLACK_KIB, (before, after)
