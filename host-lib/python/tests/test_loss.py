"""Losses and their repairs, with bounds that are too short for any machine."""

import contextlib
import math
import time

import optireduce
import optireduce.torch
import pytest
import torch
from groups import group, session
from optireduce.torch._work import Work
from ranks import wait_for
from torch.nn.parallel import DistributedDataParallel

STEPS, ELEMENTS = 40, 20_000


def late(rank, step):
    """Delays each rank now and then by more than the bounds here, so that something is lost."""
    if step % 8 == 2 * rank + 1:
        time.sleep(0.005)


def corrected(settled):
    """Returns a correction in the unit of the means: buckets hold the terms of their sum."""
    return torch.from_numpy(settled.correction) * session()._headroom("avg")


def sums(rank, ranks, root, bound_ms, agree):
    with group(rank, ranks, root, bound_ms=bound_ms, agree=agree):
        generator = torch.Generator().manual_seed(rank)
        total, reports = torch.zeros(ELEMENTS), []
        for step in range(STEPS):
            gradient = torch.randn(ELEMENTS, generator=generator)
            late(rank, step)
            session().all_reduce(Work("all_reduce", [gradient]), gradient, "avg", "one", lambda report, _: reports.append(report)).wait()
            total += gradient
        settled = session().buckets()["one"].settle(20.0)
        assert settled.is_settled and settled.repairs.drift_bytes == 0, settled
        if settled.correction is not None:
            total += corrected(settled)
        lost = sum(report.lost_bytes for report in reports)
        return total, lost, [(report.is_agreed, report.is_applied) for report in reports]


@pytest.mark.parametrize(("bound_ms", "agree"), [(0.05, True), (0.05, False), (0.5, True)])
def test_with_repairs_all_ranks_have_added_up_the_same(job, bound_ms, agree):
    found = job.run(3, sums, bound_ms, agree)
    # A busy rank without a decision decides alone, and reports that it is not agreed.
    voted = [[applied for _, applied in step] for step in zip(*(said for *_, said in found)) if all(agreed for agreed, _ in step)]
    assert len(voted) > STEPS / 2 if agree else not voted, found
    assert all(len(set(step)) == 1 for step in voted), "all ranks skip the same updates"
    for total, *_ in found[1:]:
        # Repairs change the order of up to 40 additions.
        torch.testing.assert_close(total, found[0][0], rtol=0, atol=1e-4)
    assert math.isfinite(found[0][0].norm().item())
    # The shorter bound loses something on any machine.
    assert bound_ms > 0.1 or any(lost for _, lost, _ in found)


def two_streams(rank, ranks, root, bound_ms):
    with group(rank, ranks, root, bound_ms=bound_ms):
        generator = torch.Generator().manual_seed(rank)
        # Equal lengths with different scales, so that values in the wrong bucket are noticed.
        totals, scales = [torch.zeros(ELEMENTS), torch.zeros(ELEMENTS)], [1.0, 1e6]
        for step in range(STEPS):
            late(rank, step)
            gradients = [scale * torch.randn(ELEMENTS, generator=generator) for scale in scales]
            with optireduce.torch.bounded():
                works = [torch.distributed.all_reduce(one, torch.distributed.ReduceOp.AVG, async_op=True) for one in gradients]
            for work in works:
                # A job would halt here.
                with contextlib.suppress(optireduce.HaltError):
                    work.wait()
            for total, gradient in zip(totals, gradients):
                total += gradient
            optireduce.torch.begin_step()
        buckets = session().buckets()
        assert [key[-1] for key in buckets] == [0, 1], buckets
        for bucket, total in zip(buckets.values(), totals):
            settled = bucket.settle(20.0)
            assert settled.is_settled and settled.repairs.drift_bytes == 0, settled
            if settled.correction is not None:
                total += corrected(settled)
        return totals, sum(report.lost_bytes for report in session().reports)


def test_repairs_never_cross_into_another_bucket_of_the_same_length(job):
    found = job.run(3, two_streams, 0.1)
    assert any(lost for _, lost in found)
    for (small, large), _ in found[1:]:
        torch.testing.assert_close(small, found[0][0][0], rtol=0, atol=1e-4)
        torch.testing.assert_close(large, found[0][0][1], rtol=0, atol=1e2)


def moved_on(rank, ranks, root, returned):
    """Rank 0 finishes the second all-reduce without rank 1; then they synchronize and reduce once
    more. All gradients are ones, and so are all means."""
    with group(rank, ranks, root, bound_ms=200):
        torch.manual_seed(rank)
        model = torch.nn.Linear(3, 2)
        reports, means = [], []

        def reduce():
            means.append(torch.ones(ELEMENTS))
            session().all_reduce(Work("all_reduce", [means[-1]]), means[-1], "avg", "one", lambda report, _: reports.append(report)).wait()

        # The first one is exact.
        reduce()
        if rank == 1:
            wait_for(returned)
        reduce()
        if rank == 0:
            returned.touch()
        optireduce.torch.synchronize(model)
        reduce()
        weights = torch.cat([one.detach().flatten() for one in model.parameters()])
        return reports[0].is_applied, reports[0].lost_bytes, means[1], means[-1], weights


def test_what_a_mean_lacked_does_not_come_after_replicas_are_synchronized(job, tmp_path):
    found = job.run(2, moved_on, tmp_path / "returned")
    assert not found[0][0] and found[0][1] > 0, found
    assert torch.equal(found[0][2], torch.zeros(ELEMENTS)), "a skipped mean is zeros"
    for *_, mean, weights in found:
        assert torch.equal(mean, torch.ones(ELEMENTS)), "the mean includes no repair"
        assert torch.equal(weights, found[0][-1])


def replicas(rank, ranks, root, optimizer_type, synchronize_every):
    """Returns parameters before and after `settle`, with bounds that most stages exceed."""
    with group(rank, ranks, root, bound_ms=0.3):
        torch.manual_seed(7)
        model = DistributedDataParallel(torch.nn.Linear(120, 100))
        optimizer = getattr(torch.optim, optimizer_type)(model.parameters(), lr=0.01, **MOMENTUM.get(optimizer_type, {}))
        state = optireduce.torch.State(synchronize_every=synchronize_every)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        state.guard(optimizer)
        generator = torch.Generator().manual_seed(rank)
        for step in range(24):
            late(rank, step)
            optimizer.zero_grad()
            model(torch.randn(8, 120, generator=generator)).square().mean().backward()
            # A job would halt.
            state._step.halt = None
            optimizer.step()
        before = torch.cat([one.detach().flatten() for one in model.parameters()])
        differed = synchronize_every is None and state.settle(optimizer)
        held = [*model.parameters(), *(one[name] for one in optimizer.state.values() for name in sorted(one))]
        after = torch.cat([one.detach().flatten() for one in held])
        return before, after, differed, sum(report.lost_bytes for report in state.session.reports)


MOMENTUM = {"SGD": {"momentum": 0.9}}


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_settle_makes_replicas_and_optimizers_the_same_to_the_bit(job, optimizer):
    found = job.run(3, replicas, optimizer, None)
    assert any(lost for *_, lost in found)
    assert all(torch.equal(after, found[0][1]) for _, after, *_ in found)
    assert len({differed for _, _, differed, _ in found}) == 1, "all ranks say the same"
    assert found[0][2] or all(torch.equal(before, found[0][0]) for before, *_ in found)


def test_a_guarded_optimizer_settles_every_so_many_steps(job):
    found = job.run(3, replicas, "SGD", 8)
    assert any(lost for *_, lost in found)
    assert all(torch.equal(before, found[0][0]) for before, *_ in found), "the last of 24 steps is one of them"


def quiet(rank, ranks, root):
    with group(rank, ranks, root):
        model = DistributedDataParallel(torch.nn.Linear(120, 100))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        state = optireduce.torch.State(synchronize_every=None)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        for _ in range(4):
            model(torch.randn(8, 120)).square().mean().backward()
            assert state.step_allowed()
            optimizer.step()
        return state.settle(optimizer)


def test_settle_hands_out_nothing_if_nothing_was_lost(job):
    assert job.run(2, quiet) == [False, False]


def test_steps_between_synchronisations_are_checked():
    with pytest.raises(optireduce.ArgumentError, match="synchronize_every is 0, expected at least 1 step, or None"):
        optireduce.torch.State(synchronize_every=0)
