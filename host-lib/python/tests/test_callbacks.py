"""Callbacks of futures, which may wait for other calls of the group."""

import threading

import pytest
import torch
import torch.distributed as dist
from groups import group
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
from torch.nn.parallel import DistributedDataParallel as DDP


def start(call, rank):
    """Starts a call of each kind; returns its work."""
    many = torch.full((5000,), float(rank))
    if call == "bounded":
        return dist.all_reduce(many, async_op=True)
    if call == "exact":
        return dist.all_reduce(torch.ones(3), async_op=True)
    if call == "barrier":
        return dist.barrier(async_op=True)
    if call == "send":
        return dist.isend(torch.ones(3), 1 - rank)
    if call == "recv":
        sent = dist.isend(torch.ones(3), 1 - rank)
        return dist.irecv(torch.ones(3), 1 - rank), sent
    raise AssertionError(call)


CALLS = ["bounded", "exact", "barrier", "send", "recv"]


def waits_for_another(rank, ranks, root, how):
    with group(rank, ranks, root):
        found = []
        for outer in CALLS:
            for inner in ["bounded", "exact", "barrier"]:
                work = start(outer, rank)
                work, *kept = work if isinstance(work, tuple) else (work,)

                def then(future, inner=inner):
                    later = start(inner, rank)
                    if how == "work":
                        later.wait()
                    elif how == "future":
                        later.get_future().wait()
                    else:
                        # A callback of its own, which waits for a third call.
                        later.get_future().then(lambda _: start("exact", rank).wait()).wait()
                    return f"{outer}, then {inner}"

                found.append(work.get_future().then(then).wait())
                [one.wait() for one in kept]
                if outer == "send":
                    dist.recv(torch.ones(3), 1 - rank)
        return found


@pytest.mark.parametrize("how", ["work", "future", "callback"])
def test_a_callback_may_wait_for_any_other_call(job, how):
    expected = [f"{outer}, then {inner}" for outer in CALLS for inner in ["bounded", "exact", "barrier"]]
    assert job.run(2, waits_for_another, how) == [expected] * 2


def many_wait(rank, ranks, root):
    """Callbacks of many calls wait for the last one."""
    with group(rank, ranks, root):
        last = threading.Event()
        futures = []
        for _ in range(40):
            work = dist.all_reduce(torch.ones(3), async_op=True)
            futures.append(work.get_future().then(lambda _: last.wait(60)))
        dist.all_reduce(torch.ones(3), async_op=True).get_future().then(lambda _: last.set()).wait()
        return [future.wait() for future in futures]


def test_many_callbacks_may_wait_at_a_time(job):
    assert job.run(2, many_wait) == [[True] * 40] * 2


def power_sgd(rank, ranks, root, backend):
    with group(rank, ranks, root, backend):
        torch.manual_seed(1)
        model = DDP(torch.nn.Sequential(torch.nn.Linear(200, 200), torch.nn.Linear(200, 10)))
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        inputs = torch.Generator().manual_seed(rank)
        for _ in range(6):
            optimizer.zero_grad()
            model(torch.randn(20, 200, generator=inputs)).square().mean().backward()
            optimizer.step()
        return torch.cat([one.detach().reshape(-1) for one in model.parameters()])


def test_power_sgd_trains_as_with_gloo(job):
    ours, theirs = (job.run(2, power_sgd, backend) for backend in ("optireduce", "gloo"))
    assert torch.equal(ours[0], ours[1])
    torch.testing.assert_close(ours[0], theirs[0], rtol=1e-3, atol=1e-4)
