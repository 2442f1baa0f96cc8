"""Partial Reduce: averages of models among the ranks that are ready."""

import pathlib
import re
import subprocess
import sys
import time

import numpy
import optireduce
import pytest
from test_communicator import connect


def averages(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        partial = communicator.partial_reduce(1000, group_size=2, weights="constant")
        model, found, iteration = numpy.full(1000, rank, "float32"), [], 0
        for _ in range(5):
            time.sleep(0.002 * (rank + 1))
            given = model[0].item()
            report = partial.average(model, iteration + 1)
            iteration = report.group.iteration
            found.append((report.number, report.ranks, report.group.weights, given, model[0].item(), len(set(model.tolist()))))
        with pytest.raises(optireduce.ArgumentError, match="the iteration is 1, expected more than"):
            partial.average(model, 1)
        with pytest.raises(optireduce.ArgumentError, match="the number of elements is 999, expected 1000"):
            partial.average(model[:999], iteration + 1)
        partial.close()
        partial.close()
        return found


def test_members_of_a_group_get_the_mean_of_their_models(job):
    results = job.run(3, averages)
    groups = {}
    for rank, found in enumerate(results):
        for number, group, weights, given, got, values in found:
            assert rank in group and len(group) <= 2 and weights == (1 / len(group),) * len(group) and values == 1
            groups.setdefault((number, group), []).append((given, got))
    for (_, group), members in groups.items():
        assert len(members) == len(group), "each member had the same group"
        mean = sum(given for given, _ in members) / len(members)
        assert {got for _, got in members} == {members[0][1]} and abs(members[0][1] - mean) < 1e-5


def refused(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        with pytest.raises(optireduce.ArgumentError, match="groups of 3 of 2 workers; expected 2 to 2"):
            communicator.partial_reduce(10, group_size=3)
        with pytest.raises(optireduce.ArgumentError, match="weights is heavy, expected 'dynamic' or 'constant'"):
            communicator.partial_reduce(10, group_size=2, weights="heavy")
        with pytest.raises(optireduce.MismatchError, match="elements is 11 on rank 1, but 10 on rank 0"):
            communicator.partial_reduce(10 + rank, group_size=2)


def test_what_cannot_be_is_named_and_what_differs_is_named_on_all_ranks(job):
    job.run(2, refused)


def trains(rank, ranks, root, dtype):
    import optireduce.torch
    import torch

    torch.manual_seed(rank)
    # BatchNorm has an integer buffer.
    norm = [torch.nn.BatchNorm1d(2)] if dtype == "float32" else []
    model = torch.nn.Sequential(torch.nn.Linear(3, 2, dtype=getattr(torch, dtype)), *norm)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with connect(rank, ranks, root) as communicator:
        partial = optireduce.torch.PartialReduce(model, optimizer, communicator=communicator, every=2)
        begin = model[0].weight.detach().clone()
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(8, 3, dtype=model[0].weight.dtype)).abs().square().sum().backward()
            optimizer.step()
        assert partial.report.ranks == (0, 1) and partial.iteration == 5, partial.report
        partial.close()
        return begin.tolist(), [tensor.tolist() for tensor in model.state_dict().values()]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_model_of_torch_is_averaged_after_the_optimizers_steps_and_is_the_same_on_all_ranks_in_the_end(job, dtype):
    first, second = job.run(2, trains, dtype)
    assert first == second, "they begin and end with the same model"
    assert first[0] != first[1][0], "it was trained"


def test_the_example_trains(tmp_path):
    example = pathlib.Path(__file__).parent.parent / "examples" / "partial_digits.py"
    assert len(example.read_text().splitlines()) <= 80
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
    done = subprocess.run([*torchrun, str(example), "--slow-ms", "5"], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    # Ranks share a pipe, so their lines may be mixed.
    accuracies = [float(found) for found in re.findall(r"accuracy ([0-9.]+) %", done.stdout)]
    assert len(accuracies) == 3 and len(set(accuracies)) == 1 and accuracies[0] > 90, done.stdout
