"""Several models in one group, copies of models, and comparisons of replicas."""

import copy
import dataclasses
import gc
import io
import itertools
import logging
import pickle
import time

import optireduce
import optireduce.torch
import pytest
import torch
import torch.distributed as dist
from groups import CALM, group, session
from optireduce.torch._copies import pack
from ranks import memory_for_peers
from torch.nn.parallel import DistributedDataParallel


def hooked(elements, **settings):
    model, state = DistributedDataParallel(torch.nn.Linear(elements, elements)), optireduce.torch.State(**settings)
    model.register_comm_hook(state, optireduce.torch.comm_hook)
    return model, state


def passes(model, value, number=3):
    """Makes backward passes and returns the gradient of the bias."""
    for _ in range(number):
        model.zero_grad()
        (model(torch.ones(1, model.module.in_features)) * value).sum().backward()
    return model.module.bias.grad[0].item()


def weights(model):
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def heard(act):
    """Returns the warnings of the package during `act`."""
    said, handler = [], logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("optireduce").addHandler(handler)
    try:
        act()
    finally:
        logging.getLogger("optireduce").removeHandler(handler)
    return said


def one_after_the_other(rank, ranks, root):
    before = memory_for_peers()[0]
    with group(rank, ranks, root, shared_memory="auto"):
        kept, found, lent = [], [], []
        for trial in range(9):
            model, state = hooked(60)
            found.append(passes(model, trial + rank))
            if rank == 0:
                # States that exist on this rank only, and a state without all-reduces.
                kept += [state] if trial % 3 == 1 else [optireduce.torch.State()] if trial == 4 else []
            numbers = {key[1] for key in session().buckets()}
            del model, state
            gc.collect()
            lent.append(len(memory_for_peers()[0] - before))
        buckets = len(session().buckets())
        dist.barrier()
        return found, numbers, buckets, lent


def test_models_one_after_the_other_have_their_own_buckets_and_free_them(job):
    (first, numbers, kept, _), (second, _, freed, lent) = job.run(2, one_after_the_other)
    assert first == second == [trial + 0.5 for trial in range(9)]
    assert 8 in numbers and kept == 3 and freed == 0, (numbers, kept, freed)
    assert max(lent[2:]) <= max(lent[:2]), f"memory of dead models stays: {lent}"


def copies(rank, ranks, root, backend):
    with group(rank, ranks, root, backend):
        model, state = hooked(40, **CALM, secret="of all ranks of the job") if backend == "gloo" else hooked(40)
        assert passes(model, rank) == (ranks - 1) / 2
        file, made = io.BytesIO(), []
        said = heard(lambda: made.append(copy.deepcopy(model)))
        assert len(said) == 1 and "has no process group" in said[0], said
        averaged = torch.optim.swa_utils.AveragedModel(model)
        averaged.update_parameters(model)
        torch.save(model, file)
        file.seek(0)
        made += [pickle.loads(pickle.dumps(model)), torch.load(file, weights_only=False), averaged.module]
        assert all(torch.equal(weights(one), weights(model)) for one in made)
        saved = pickle.dumps(state)
        assert b"of all ranks" not in saved
        # A state that was loaded makes means for another model, as PowerSGD's does.
        if backend == "optireduce":
            other, loaded = DistributedDataParallel(torch.nn.Linear(40, 40)), pickle.loads(saved)
            other.register_comm_hook(loaded, optireduce.torch.comm_hook)
            assert (passes(other, 2 * rank), loaded.world_size) == (ranks - 1, ranks)
        assert passes(model, 3 * rank) == 3 * (ranks - 1) / 2
        dist.barrier()
        state.close()


@pytest.mark.parametrize("backend", ["optireduce", "gloo"])
def test_a_model_with_the_hook_can_be_copied_and_saved(job, backend):
    job.run(2, copies, backend)


def lossy(rank, ranks, root, has_hook, every, steps):
    """Trains with bounds that most stages exceed, without `guard` and `settle`. Returns the weights
    after the last step and after the end."""
    with group(rank, ranks, root, bound_ms=0.3, synchronize_every=every):
        torch.manual_seed(7)
        model = DistributedDataParallel(torch.nn.Linear(120, 100))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        if has_hook:
            state = optireduce.torch.State(synchronize_every=every)
            model.register_comm_hook(state, optireduce.torch.comm_hook)
        # A job would halt.
        session().halt_if = lambda report, halts, name: None
        generator = torch.Generator().manual_seed(rank)

        def train():
            for step in range(steps):
                if step % 8 == 2 * rank + 1:
                    time.sleep(0.005)
                optimizer.zero_grad()
                model(torch.randn(8, 120, generator=generator)).square().mean().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                if has_hook:
                    state._step.halt = None
                optimizer.step()

        said = heard(train)
        lost = sum(report.lost_bytes for report in session().reports)
        at_last = weights(model)
        said += heard(dist.destroy_process_group)
    return at_last, weights(model), lost, [one for one in said if "replicas may differ" in one]


@pytest.mark.parametrize("has_hook", [True, False])
def test_replicas_are_made_the_same_every_so_many_steps_without_a_guard(job, has_hook):
    found = job.run(3, lossy, has_hook, 8, 24)
    assert any(lost for _, _, lost, _ in found)
    assert all(torch.equal(at_last, found[0][0]) for at_last, *_ in found), "the last of 24 steps is one of them"
    assert all(len(said) <= 1 and all("settle" in one for one in said) for *_, said in found), found


def test_without_the_hook_replicas_are_made_the_same_at_the_end(job):
    found = job.run(3, lossy, False, 100, 20)
    assert any(lost for _, _, lost, _ in found)
    assert all(torch.equal(end, found[0][1]) for _, end, *_ in found)


def several(rank, ranks, root, kind):
    """Trains two layers with several optimizers or models, and makes the replica of rank 1 differ in
    both. Returns the parameters and the states of the optimizers."""
    with group(rank, ranks, root, synchronize_every=4):
        torch.manual_seed(7)
        first, second = torch.nn.Linear(40, 40), torch.nn.Linear(40, 40)
        has_two_models, is_closure = kind in ("two states", "no hook"), kind == "LBFGS"
        models = [DistributedDataParallel(one) for one in ([first, second] if has_two_models else [torch.nn.Sequential(first, second)])]
        states = [] if kind == "no hook" else [optireduce.torch.State(synchronize_every=4) for _ in models]
        for model, state in zip(models, states):
            model.register_comm_hook(state, optireduce.torch.comm_hook)
        if is_closure:
            optimizers = [torch.optim.LBFGS(models[0].parameters(), lr=0.1, max_iter=3)]
        elif kind == "two states":
            optimizers = [torch.optim.Adam([*first.parameters(), *second.parameters()])]
        else:
            optimizers = [torch.optim.SGD(first.parameters(), lr=0.01, momentum=0.9), torch.optim.Adam(second.parameters())]
        for state, optimizer in itertools.product(states, optimizers):
            if kind != "two optimizers, no guard":
                state.guard(optimizer)

        def differ():
            with torch.no_grad():
                for one in (first, second):
                    one.bias.add_(0.01)
            for one in states or [dist.group.WORLD._get_backend(torch.device("cpu"))._replicas]:
                one._differs = True

        def loss(model):
            model.zero_grad()
            (value := model(torch.ones(2, 40)).square().mean()).backward()
            return value

        for step in range(4):
            if step == 1 and rank == 1 and not is_closure:
                differ()
            if is_closure:
                optimizers[0].step(lambda: loss(models[0]))
            elif kind == "no hook":
                for model, optimizer in zip(models, optimizers):
                    loss(model)
                    optimizer.step()
            else:
                for model in models:
                    loss(model)
                for optimizer in optimizers:
                    optimizer.step()
        if is_closure:
            # Other points would cost other numbers of evaluations.
            if rank == 1:
                differ()
                state = optimizers[0].state[first.weight]
                state["func_evals"] += 5
                state["old_dirs"] = [2 * one for one in state["old_dirs"][:-1]]
            assert states[0].settle(optimizers[0])
        packed = pack([one.state_dict()["state"] for one in optimizers], tensors := [])
        return [weights(first), weights(second), *tensors], packed, [one.steps for one in states]


@pytest.mark.parametrize("kind", ["two optimizers", "two optimizers, no guard", "two states", "no hook", "LBFGS"])
def test_replicas_with_several_optimizers_or_models_are_made_the_same(job, kind):
    (tensors, *found), (others, *others_found) = job.run(2, several, kind)
    assert found == others_found and all(torch.equal(*pair) for pair in zip(tensors, others, strict=True)), (found, others_found)
    assert set(found[1]) <= {4}, "a step after one backward pass counts once"


def confused(rank, ranks, root):
    with group(rank, ranks, root):
        model, state = hooked(40)
        other = DistributedDataParallel(torch.nn.Linear(40, 40))
        other.register_comm_hook(state, optireduce.torch.comm_hook)
        passes(model, 1.0)
        # The same model may be wrapped again.
        again = DistributedDataParallel(model.module)
        again.register_comm_hook(state, optireduce.torch.comm_hook)
        passes(again, 1.0)
        with pytest.raises((ValueError, RuntimeError), match="of another model than before; make a State for each model"):
            passes(other, 1.0)
        dist.barrier()


def test_a_state_takes_the_gradients_of_one_model(job):
    job.run(2, confused)


def as_if_lost(rank, ranks, root, kind):
    """Rank 1 permanently loses a mean in the fourth step, without the hook. Returns whether the
    weights are the same at the end, and the warnings."""
    with group(rank, ranks, root, synchronize_every=None if kind == "never" else 100):
        torch.manual_seed(7)
        shards = kind == "tensor parallel"
        layer = torch.nn.Linear(100, 100)
        model = layer if shards else DistributedDataParallel(layer)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        if shards:
            # Each rank has its own part of a larger layer; gradients of inputs are summed.
            with torch.no_grad():
                layer.bias.add_(rank)
        replicas = dist.group.WORLD._get_backend(torch.device("cpu"))._replicas
        note, step = replicas.note, 0
        replicas.note = lambda report: note(dataclasses.replace(report, is_applied=False) if rank == 1 and step == 3 else report)

        def sum_gradients(gradient):
            gradient = gradient.clone()
            dist.all_reduce(gradient)
            return gradient

        def train():
            nonlocal step
            for step in range(6):
                optimizer.zero_grad()
                inputs = torch.ones(100, 100, requires_grad=shards)
                if shards:
                    inputs.register_hook(sum_gradients)
                model(inputs).sum().backward()
                if rank == 1 and step == 3 and not shards:
                    with torch.no_grad():
                        layer.bias.add_(1.0)
                optimizer.step()

        said = heard(train)
        said += heard(dist.destroy_process_group)
    return weights(layer), [one for one in said if "replicas may differ" in one]


@pytest.mark.parametrize("kind", ["data parallel", "tensor parallel", "never"])
def test_a_loss_without_the_hook_is_told_once_with_the_cure_and_mended_where_replicas_are(job, kind):
    (left, quiet), (right, said) = job.run(2, as_if_lost, kind)
    assert torch.equal(left, right) == (kind == "data parallel")
    assert quiet == [] and len(said) == 1 and "step 4" in said[0] and "optireduce.torch.synchronize(model)" in said[0], said


def unguarded(rank, ranks, root, ends):
    """Returns the step of the halt, or the reports that a state keeps after steps of a loop without
    a torch optimizer."""
    with group(rank, ranks, root):
        model, state = hooked(100)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if not ends:
            for _ in range(20):
                passes(model, 1.0, 1)
                optireduce.torch.begin_step()
            return state.steps, len(state._step)
        with pytest.raises(optireduce.HaltError) as error:
            for step in range(40):
                passes(model, 1.0, 1)
                if step == 5 and rank == 1:
                    state._step.halt = state._step[0]
                optimizer.step()
        return step, str(error.value)


def test_a_hook_without_a_guard_halts_all_ranks(job):
    (first, others), (second, message) = job.run(2, unguarded, True)
    assert second == 5 and "more than 10 % was lost in 3" in message, message
    assert first >= 5 and "rank 1 has halted" in others, others


def test_a_loop_without_an_optimizer_keeps_no_reports(job):
    assert job.run(2, unguarded, False) == [(20, 0)] * 2


def halted_before(rank, ranks, root):
    """Returns the steps of a state that halts, and of the next one for the same model."""
    with group(rank, ranks, root):
        model, state = hooked(40)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            state.guard(optimizer)
        passes(model, 1.0, 1)
        optimizer.step()
        state._halt("as if too much was lost")
        with pytest.raises(optireduce.HaltError):
            optimizer.step()
        again, following = DistributedDataParallel(model.module), optireduce.torch.State()
        again.register_comm_hook(following, optireduce.torch.comm_hook)
        following.guard(optimizer)
        for _ in range(3):
            passes(again, 1.0, 1)
            optimizer.step()
        return state.steps, following.steps


def test_after_a_halt_another_state_guards_the_optimizer(job):
    assert job.run(2, halted_before) == [(1, 3)] * 2
