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
                        # A nested callback, which waits for a third call.
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
    """Callbacks of many calls wait for the last call, on one rank and then on the other."""
    with group(rank, ranks, root):
        found = []
        for waiting in range(2):
            last, futures = threading.Event(), []
            if rank != waiting:
                # torch runs a callback that is added too late on the thread that adds it.
                dist.recv(torch.ones(1), waiting)
            for _ in range(40):
                future = dist.all_reduce(torch.ones(3), async_op=True).get_future()
                if rank == waiting:
                    futures.append(future.then(lambda _, last=last: last.wait(60)))
            if rank == waiting:
                dist.send(torch.ones(1), 1 - rank)
            dist.all_reduce(torch.ones(3), async_op=True).get_future().then(lambda _, last=last: last.set()).wait()
            found += [future.wait() for future in futures]
        return found


def test_many_callbacks_may_wait_at_a_time(job):
    assert job.run(2, many_wait) == [[True] * 40] * 2


def power_sgd(rank, ranks, root):
    with group(rank, ranks, root):
        torch.manual_seed(1)
        model = DDP(torch.nn.Sequential(torch.nn.Linear(200, 200), torch.nn.Linear(200, 10)))
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        optimizer = torch.optim.SGD(model.parameters(), 0.2)
        inputs = torch.randn(20, 200, generator=torch.Generator().manual_seed(rank))
        losses = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = model(inputs).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, torch.cat([one.detach().reshape(-1) for one in model.parameters()])


def test_torchs_power_sgd_hook_waits_in_its_callbacks_and_trains(job):
    (losses, model), (_, other) = job.run(2, power_sgd)
    # The hook multiplies matrices on each rank, and the last bits depend on their alignment.
    torch.testing.assert_close(model, other, rtol=1e-5, atol=1e-6)
    assert losses[-1] < losses[0] / 2, losses
