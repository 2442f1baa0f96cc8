"""Training with DDP: the backend, and the communication hook on others."""

import dataclasses
import importlib.util
import logging
import os
import pathlib
import subprocess
import sys
import time

import optireduce
import optireduce.torch
import pytest
import torch
import torch.distributed as dist
from groups import CALM, group, session
from ranks import wait_for
from torch.nn.parallel import DistributedDataParallel

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "ddp_digits.py"


def example():
    spec = importlib.util.spec_from_file_location("ddp_digits", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bits(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).view(torch.int32)


def digits(rank, ranks, root, backend, kind):
    with group(rank, ranks, root, backend):
        accuracy, model = example().train(6, backend, seed=1, kind=kind)
        return accuracy, bits(model).tolist()


@pytest.mark.parametrize("path", sorted(EXAMPLE.parent.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_has_under_80_lines(path):
    assert len(path.read_text().splitlines()) < 80


@pytest.mark.parametrize("kind", ["mlp", "conv"])
def test_the_example_trains_as_well_as_with_gloo_and_replicas_are_equal_to_the_bit(job, kind):
    lossless = job.run(4, digits, "gloo", kind)
    bounded = job.run(4, digits, "optireduce", kind)
    assert all(model == bounded[0][1] for _, model in bounded)
    assert lossless[0][0] > 0.9
    assert abs(bounded[0][0] - lossless[0][0]) < 0.02


def saves_a_checkpoint(rank, ranks, root):
    """A plain loop, in which rank 0 does something else for a while."""
    with group(rank, ranks, root, bound_ms=50):
        torch.manual_seed(1)
        model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(50, 400), torch.nn.ReLU(), torch.nn.Linear(400, 1)))
        state = optireduce.torch.State()
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        optimizer, longest = torch.optim.SGD(model.parameters(), 0.01), 0.0
        for step in range(40):
            if (rank, step) == (0, 20):
                time.sleep(3)
            begin = time.monotonic()
            optimizer.zero_grad()
            model(torch.randn(8, 50)).square().mean().backward()
            optimizer.step()
            longest = max(longest, time.monotonic() - begin)
        state.settle(optimizer)
        return [parameter.detach() for parameter in model.parameters()], longest


def test_a_checkpoint_on_one_rank_ends_no_job(job):
    found = job.run(4, saves_a_checkpoint)
    for rank, (parameters, longest) in enumerate(found):
        assert rank == 0 or longest > 1, f"rank {rank} did not wait: {longest} s"
        for one, other in zip(parameters, found[0][0], strict=True):
            torch.testing.assert_close(one, other)


def test_the_example_with_a_transformer_learns():
    example = EXAMPLE.with_name("ddp_text.py")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run([*torchrun, str(example), "--steps", "20"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Guessing among about 96 characters has a loss of 4.6.
    assert float(done.stdout.split("step 20: loss ")[1].split()[0]) < 3.4, done.stdout


def overlaps(rank, ranks, root, path):
    with group(rank, ranks, root):
        layers = [torch.nn.Linear(100, 100) for _ in range(4)]
        model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.03)
        state, running = optireduce.torch.State(), []

        def hook(state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            computed = path / f"computed{passes}"
            if rank == 1 and bucket.index() == 0:
                wait_for(computed)
            futures.append(optireduce.torch.comm_hook(state, bucket))
            running.append(not futures[0].done())
            if rank == 0 and bucket.is_last():
                computed.touch()
            return futures[-1]

        model.register_comm_hook(state, hook)
        for passes in range(4):
            futures = []
            running.clear()
            model(torch.ones(2, 100)).sum().backward()
        return running


def test_the_backward_pass_goes_on_while_buckets_are_reduced(job, tmp_path):
    running = job.run(2, overlaps, tmp_path)[0]
    assert len(running) >= 3 and all(running), "rank 1 is late with its first bucket; rank 0 computes all others meanwhile"


class Branches(torch.nn.Module):
    """A network whose branches are used in turns."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(40, 60)
        self.left, self.right = torch.nn.Linear(60, 40), torch.nn.Linear(60, 40)

    def forward(self, values, goes_left):
        return (self.left if goes_left else self.right)(self.first(values))


def branches(rank, ranks, root, backend, has_hook):
    with group(rank, ranks, root, backend):
        torch.manual_seed(3)
        # About a bucket per layer, to overlap with the backward pass.
        model = DistributedDataParallel(Branches(), find_unused_parameters=True, bucket_cap_mb=0.006)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        state = optireduce.torch.State(**CALM) if has_hook else None
        if state is not None:
            model.register_comm_hook(state, optireduce.torch.comm_hook)
            state.guard(optimizer)
        for step in range(8):
            optimizer.zero_grad()
            torch.manual_seed(100 * rank + step)
            model(torch.randn(16, 40), step % 3 == 0).square().mean().backward()
            optimizer.step()
        if state is not None:
            assert not state.settle(optimizer) and "8 steps, 0 skipped" in state.report(), state.report()
            state.close()
        return bits(model)


@pytest.mark.parametrize(("backend", "has_hook"), [("optireduce", False), ("optireduce", True), ("gloo", True)])
def test_rebuilt_buckets_and_unused_parameters_train_as_with_gloo(job, backend, has_hook):
    expected = job.run(2, branches, "gloo", False)
    found = job.run(2, branches, backend, has_hook)
    assert torch.equal(found[0], found[1])
    numbers = [one[0].view(torch.float32) for one in (found, expected)]
    torch.testing.assert_close(*numbers, rtol=1e-4, atol=1e-6)


def as_if_lost(state, outcome, is_agreed=True):
    """Changes the reports of this step to a large loss on this rank or, with "apply", on another
    one."""
    for index, one in enumerate(state._step):
        state._step[index] = dataclasses.replace(one, is_applied=outcome == "apply", is_agreed=is_agreed)
    state._step.halt = state._step[-1] if outcome == "halt" else None


def guarded(elements, **settings):
    """Returns a model, its optimizer, and the state that guards it."""
    model = DistributedDataParallel(torch.nn.Linear(elements, elements))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = optireduce.torch.State(**settings)
    model.register_comm_hook(state, optireduce.torch.comm_hook)
    state.guard(optimizer)
    return model, optimizer, state


def skips(rank, ranks, root, agree):
    """Returns which steps changed no parameter until the halt. Rank 0, or all ranks if they agree,
    lose much in the second bounded step, then in three in a row."""
    with group(rank, ranks, root, **CALM, agree=agree):
        model, optimizer, state = guarded(300)
        steps, said = [], []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: said.append(record.getMessage())
        logging.getLogger("optireduce").addHandler(handler)
        with pytest.raises(RuntimeError, match="3 [a-z-]+ in a row"):
            for step in range(20):
                before = bits(model).clone()
                optimizer.zero_grad()
                model(torch.randn(4, 300)).sum().backward()
                if step in (3, 5, 6, 7):
                    as_if_lost(state, "apply" if rank == 1 and not agree else "halt" if step == 7 else "skip")
                optimizer.step()
                steps.append(torch.equal(before, bits(model)))
        logging.getLogger("optireduce").removeHandler(handler)
        of_steps = [one for one in said if f"rank {rank} of group" in one and ": more than 10 % was lost" in one and ": step " in one]
        assert len(of_steps) == state.skipped, (said, state.skipped)
        return steps, state.skipped, bits(model)


def test_if_they_agree_all_ranks_skip_and_halt_on_the_same_step(job):
    (first, skipped, left), (second, _, right) = job.run(2, skips, True)
    assert first == second == [step in (3, 5, 6) for step in range(7)], "the eighth step halts"
    assert skipped == 4 and torch.equal(left, right)


def only_skips(rank, ranks, root):
    with group(rank, ranks, root, **CALM, agree=True):
        model, optimizer, state = guarded(30)
        for _ in range(8):
            optimizer.zero_grad()
            model(torch.randn(4, 30)).sum().backward()
            as_if_lost(state, "skip")
            optimizer.step()
        return state.skipped


def test_if_they_agree_skips_halt_only_once_the_library_does(job):
    assert job.run(2, only_skips) == [6, 6], "the first two steps are exact: they declare the buckets"


def decides_alone(rank, ranks, root):
    with group(rank, ranks, root, agree=True):
        model, optimizer, state = guarded(300)
        settled = []
        for step in range(4):
            optimizer.zero_grad()
            model(torch.randn(4, 300)).sum().backward()
            if step == 2 and rank == 1:
                # The decision to apply the update arrived too late.
                as_if_lost(state, "skip", is_agreed=False)
            optimizer.step()
            settled.append(state.settle(optimizer))
        return settled, bits(model)


def test_a_rank_that_decides_alone_takes_the_replica_of_another_one(job):
    (settled, left), (_, right) = job.run(2, decides_alone)
    assert settled == [False, False, True, False] and torch.equal(left, right)


def test_if_they_do_not_agree_no_step_is_skipped_and_a_rank_halts_with_the_first(job):
    (first, skipped, _), (second, others, _) = job.run(2, skips, False)
    assert first == [False] * 7 and skipped == 4
    assert second[:7] == [False] * 7 and others == 0


def raises_in_backward(rank, ranks, root):
    with group(rank, ranks, root, timeout_s=5):
        model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(100, 100), torch.nn.Linear(100, 100)))
        output = model(torch.randn(2, 100))

        def fails(gradient):
            raise ArithmeticError("one rank fails in the middle of its backward pass")

        if rank == 1:
            output.register_hook(fails)
        with pytest.raises(Exception) as error:
            output.sum().backward()
            dist.barrier()
        if rank == 1:
            session().abort()
        return str(error.value)


def test_a_rank_that_fails_in_backward_does_not_hang_the_others(job):
    found = job.run(2, raises_in_backward)
    assert "one rank fails" in found[1]
    assert "rank 0" in found[0] and "rank 1" in found[0], found[0]


def one_dies(rank, ranks, root):
    with group(rank, ranks, root, bound_ms=200, early="adaptive"):
        torch.manual_seed(5)
        model = DistributedDataParallel(torch.nn.Linear(100, 100))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        state = optireduce.torch.State(synchronize_every=10)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        state.guard(optimizer)
        for step in range(30):
            if step == 5 and rank == ranks - 1:
                # After its last means have left.
                time.sleep(0.3)
                os._exit(3)
            optimizer.zero_grad()
            torch.manual_seed(100 * rank + step)
            model(torch.randn(8, 100)).square().mean().backward()
            optimizer.step()
        return session().reports[-1].ranks, bits(model)


def test_the_others_go_on_when_a_rank_dies(job):
    *others, dead = job.outcomes(3, one_dies)
    assert (dead.error, dead.message) == ("Death", "exit code 3")
    assert [one.error for one in others] == ["", ""], others
    assert all(one.value[0] == (0, 1) for one in others), "the dead rank was dropped"
    assert torch.equal(others[0].value[1], others[1].value[1])
