"""All-reduces on two levels, of arrays and with the DDP communication hook."""

import os
import signal
import subprocess

import numpy
import optireduce
import optireduce.torch
import pytest
import torch
from groups import CALM, group, session
from torch.nn.parallel import DistributedDataParallel


def gradient(rank: int, elements: int) -> numpy.ndarray:
    return numpy.random.default_rng(rank).standard_normal(elements, "float32")


def several(rank, ranks, root):
    with optireduce.Communicator(rank=rank, world_size=ranks, root=root, **CALM) as communicator:
        buckets = [communicator.bucket(elements, groups=2) for elements in (100_003, 2, 40_000)]
        arrays = [gradient(rank, bucket.elements) for bucket in buckets]
        requests = [bucket.all_reduce(array, async_op=True) for bucket, array in zip(buckets, arrays, strict=True)]
        reports = [request.wait() for request in reversed(requests)]
        again = gradient(rank, 100_003)
        reports.append(buckets[0].all_reduce(again))
        assert all(bucket.settle().is_settled for bucket in buckets)
        total = communicator.bucket(1000, op="sum", groups=2)
        summed = numpy.full(1000, rank + 1, "float32")
        reports.append(total.all_reduce(summed))
        communicator.barrier()
        return reports, [*arrays, again, summed]


def test_all_ranks_get_the_mean_in_place(job):
    found = job.run(4, several)
    for rank, (reports, arrays) in enumerate(found):
        inside, across = (rank // 2 * 2, rank // 2 * 2 + 1), (rank % 2, rank % 2 + 2)
        for report in reports:
            assert (report.kind, report.is_applied, report.lost_bytes) == ("all-reduce", True, 0)
            first, *middle, last = report.parts
            assert (first.kind, last.kind) == ("reduce-scatter", "all-gather"), report
            assert first.ranks == last.ranks == inside and all(one.ranks == across for one in middle), report
            assert (report.ranks, report.missing) == ((0, 1, 2, 3), ())
        assert all((one == other).all() for one, other in zip(arrays, found[0][1], strict=True))
    arrays = found[0][1]
    for array in arrays[:3]:
        mean = numpy.mean([gradient(rank, len(array)) for rank in range(4)], axis=0)
        assert abs(array - mean).max() < 1e-5
    assert (arrays[3] == arrays[0]).all() and (arrays[4] == 10).all()


def refused(rank, ranks, root):
    with optireduce.Communicator(rank=rank, world_size=ranks, root=root, **CALM) as communicator:
        said = []
        for groups in (0, 1, 2, 3, "hosts", "racks"):
            with pytest.raises(optireduce.OptiReduceError) as error:
                communicator.bucket(10, groups=groups)
            said.append(f"{type(error.value).__name__}: {error.value}")
        communicator.barrier()
        return said


def test_groups_that_cannot_be_are_refused(job):
    for rank, (zero, one, *numbers, hosts, racks) in enumerate(job.run(2, refused)):
        for groups, text in enumerate(numbers, 2):
            assert f"rank {rank}: " in text and f"2 ranks in {groups} groups: expected at least two" in text
        assert "127.0.0.1 has ranks 0, 1; expected at least two hosts" in hosts
        for groups, text in ((0, zero), (1, one), ("racks", racks)):
            assert text == f"ArgumentError: groups is {groups}, expected 2 to 1024 groups, auto or hosts"


def trained(rank, ranks, root, backend, groups):
    with group(rank, ranks, root, backend):
        torch.manual_seed(0)
        layers = [torch.nn.Linear(100, 100) for _ in range(4)]
        model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.05)
        state = optireduce.torch.State(groups=groups, synchronize_every=4)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        optimizer = state.guard(torch.optim.SGD(model.parameters(), 0.1))
        inputs = torch.Generator().manual_seed(rank)
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(8, 100, generator=inputs)).square().mean().backward()
            optimizer.step()
        state.settle(optimizer)
        kinds, steps = {(report.kind, len(report.parts)) for report in state.session.reports}, state.steps
        lost = sum(report.lost_bytes for report in state.session.reports)
        state.close()
        parameters = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
        return parameters.tolist(), kinds, steps, lost


@pytest.mark.parametrize("backend", ["optireduce", "gloo"])
def test_ddp_trains_on_two_levels_and_replicas_are_equal_to_the_bit(job, backend):
    flat, levels = (job.run(4, trained, backend, groups) for groups in (None, 2))
    for parameters, kinds, steps, lost in levels:
        assert (parameters, kinds, steps, lost) == (levels[0][0], {("all-reduce", 3)}, 10, 0)
    assert flat[0][1] == {("all-reduce", 0)}
    # Two levels add in a different order.
    assert numpy.abs(numpy.subtract(flat[0][0], levels[0][0])).max() < 1e-5


def one_ends(rank, ranks, root):
    with group(rank, ranks, root, bound_ms=200):
        model = DistributedDataParallel(torch.nn.Linear(100, 100))
        state = optireduce.torch.State(groups=2)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        optimizer = state.guard(torch.optim.SGD(model.parameters(), 0.1))
        try:
            for step in range(1000):
                if step == 5 and rank == 3:
                    os._exit(0)
                model(torch.ones(4, 100)).sum().backward()
                optimizer.step()
        except optireduce.PeerError as error:
            # Without `destroy_process_group`, which waits for all ranks.
            session().abort()
            return str(error)


def test_a_rank_that_ends_ends_ddp_on_two_levels(job):
    found = job.outcomes(4, one_ends)
    assert found[3].error == "Death"
    for rank, outcome in enumerate(found[:3]):
        # Rank 0 shares no group with rank 3, and sees only that ranks of its groups have ended.
        gone = "ranks [3] are" if rank else "ranks ["
        assert gone in outcome.value and "on two levels no other rank has their parts" in outcome.value, f"rank {rank}: {outcome}"


def one_stands_still(rank, ranks, root):
    with group(rank, ranks, root, bound_ms=100):
        torch.manual_seed(0)
        model = DistributedDataParallel(torch.nn.Linear(100, 100))
        state = optireduce.torch.State(groups=2)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        optimizer = state.guard(torch.optim.SGD(model.parameters(), 0.01))
        for step in range(40):
            if step == 5 and rank == 3:
                with subprocess.Popen(["sh", "-c", f"sleep 1.5; kill -CONT {os.getpid()}"]):
                    os.kill(os.getpid(), signal.SIGSTOP)
            optimizer.zero_grad()
            model(torch.full((4, 100), float(rank))).square().mean().backward()
            optimizer.step()
        state.settle(optimizer)
        return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).tolist()


def test_a_rank_that_stands_still_goes_on_with_the_others(job):
    parameters = job.run(4, one_stands_still)
    assert all(one == parameters[0] for one in parameters)


def refused_state(rank, ranks, root, settings, *groups):
    with group(rank, ranks, root, **settings):
        *before, last = groups
        for one in before:
            optireduce.torch.State(groups=one)
        with pytest.raises(optireduce.ArgumentError) as error:
            optireduce.torch.State(groups=last)
        assert session().groups == (before[-1] if before else None)
        return str(error.value)


def test_states_of_one_group_have_the_same_groups_and_do_not_agree(job):
    for text in job.run(4, refused_state, {}, 2, 2, "hosts"):
        assert text.endswith("groups is 'hosts', expected 2, as for the first state"), text
    for rank, text in enumerate(job.run(4, refused_state, {"agree": True}, 2)):
        assert text.startswith(f"rank {rank} of group ") and "agree is True" in text, text
