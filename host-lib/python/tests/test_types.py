"""Types and magnitudes of gradients: exact where float32 is too small, and no overflow of a mean."""

import optireduce.torch
import pytest
import torch
import torch.distributed as dist
from groups import CALM, group, session
from torch.nn.parallel import DistributedDataParallel

LARGEST = {torch.float64: 1e308, torch.float32: 3e38, torch.bfloat16: 3e38, torch.float16: 6e4}


def gradients(rank, ranks, root, backend, dtype, values):
    """Returns the gradients that DDP with the hook makes of `values`, and the bounded calls."""
    with group(rank, ranks, root, backend):
        model = DistributedDataParallel(torch.nn.Linear(2000, 1, bias=False, dtype=dtype))
        state = optireduce.torch.State(**CALM)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        weight, found = model.module.weight, []
        for value in values:
            # The first pass of a bucket is exact, and DDP rebuilds its buckets after it.
            for _ in range(3):
                model.zero_grad()
                (model(torch.ones(1, 2000, dtype=dtype)) * torch.tensor(value, dtype=dtype)).sum().backward()
            assert (weight.grad == weight.grad[0, 0]).all()
            found.append(weight.grad[0, 0].item())
        reports = len(state.session.reports)
        dist.barrier()
        state.close()
        return found, reports


@pytest.mark.parametrize("backend", ["optireduce", "gloo"])
@pytest.mark.parametrize("dtype", LARGEST, ids=str)
def test_gradients_of_equal_ranks_are_their_own_mean_at_any_magnitude(job, dtype, backend):
    fine = 1 + torch.finfo(dtype).eps
    values = [torch.tensor(value, dtype=dtype).item() for value in (LARGEST[dtype], -LARGEST[dtype], fine, 0.0)]
    for found, reports in job.run(3, gradients, backend, dtype, values):
        # Thirds of a sum may round.
        assert found == pytest.approx(values, rel=torch.finfo(dtype).eps, abs=0.0), found
        assert (reports == 0) == (dtype == torch.float64), "float64 is exact, all others are bounded"
    for found, _ in job.run(2, gradients, backend, dtype, values):
        assert found == values


def complex_gradients(rank, ranks, root, dtype):
    with group(rank, ranks, root):
        model = DistributedDataParallel(torch.nn.Linear(600, 4, bias=False, dtype=dtype))
        model.register_comm_hook(optireduce.torch.State(), optireduce.torch.comm_hook)
        for _ in range(3):
            model.zero_grad()
            (model(torch.ones(1, 600, dtype=dtype)) * complex(rank + 1, 3 - rank)).sum().real.backward()
        gradient = model.module.weight.grad
        assert gradient.dtype == dtype and (gradient == gradient[0, 0]).all()
        return gradient[0, 0].item(), len(session().reports)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_gradients_are_bounded_or_exact_as_their_parts(job, dtype):
    for mean, reports in job.run(2, complex_gradients, dtype):
        # Gradients are conjugate.
        assert mean == complex(1.5, -2.5) and (reports == 0) == (dtype == torch.complex128), (mean, reports)


def averages(rank, ranks, root):
    with group(rank, ranks, root):
        found = []
        for bounded in (False, True):
            for dtype, value in LARGEST.items():
                for _ in range(2):
                    values, shard = torch.full((4000,), value, dtype=dtype), torch.empty(4000 // ranks, dtype=dtype)
                    given = values.clone()
                    with optireduce.torch.bounded() if bounded else optireduce.torch.exact():
                        dist.reduce_scatter_tensor(shard, values, dist.ReduceOp.AVG)
                        assert torch.equal(values, given), "an input stays"
                        dist.all_reduce(values, dist.ReduceOp.AVG)
                    optireduce.torch.begin_step()
                found.append((values[0].item(), shard[0].item()) == (given[0].item(),) * 2)
        return found


def test_a_mean_of_large_values_is_no_infinity_in_any_call(job):
    assert job.run(2, averages) == [[True] * 8] * 2


def sparse(rank, ranks, root, backend, has_hook):
    with group(rank, ranks, root, backend):
        model = DistributedDataParallel(torch.nn.Embedding(2000, 4, sparse=True))
        if has_hook:
            model.register_comm_hook(optireduce.torch.State(**CALM), optireduce.torch.comm_hook)
        with pytest.raises((ValueError, RuntimeError)) as error:
            model(torch.tensor([rank, 5])).sum().backward()
        dist.barrier()
        return str(error.value)


@pytest.mark.parametrize(("backend", "has_hook"), [("optireduce", False), ("optireduce", True), ("gloo", True)])
def test_a_sparse_gradient_is_refused_with_the_cure(job, backend, has_hook):
    for rank, message in enumerate(job.run(2, sparse, backend, has_hook)):
        assert f"rank {rank} of group" in message and "sparse" in message and "expected a dense one" in message, message
        assert "sparse=False" in message, message
