"""Gradients on a GPU, which are copied through pinned memory. All ranks share one GPU."""

import optireduce.torch
import pytest
import torch
from groups import CALM, group
from torch.nn.parallel import DistributedDataParallel

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here")

# Versions of torch without backends in Python.
IS_OLD = tuple(int(number) for number in torch.__version__.split(".")[:2]) < (2, 15)
#: NCCL needs a GPU per rank, so Gloo makes the calls that are not DDP's gradients.
BACKENDS = ["gloo", pytest.param("cpu:optireduce,cuda:gloo", marks=pytest.mark.skipif(IS_OLD, reason="takes torch 2.15"))]


def network(dtype):
    torch.manual_seed(1)
    layers = [torch.nn.Linear(500, 500, dtype=dtype) for _ in range(5)]
    return torch.nn.Sequential(*[one for layer in layers for one in (layer, torch.nn.ReLU())]).cuda()


def trained(rank, ranks, root, backend, has_hook, dtype):
    """Returns the parameters after some steps, and the number of guarded steps."""
    with group(rank, ranks, root, backend):
        # Several buckets, to overlap with the backward pass.
        model = DistributedDataParallel(network(dtype), bucket_cap_mb=1, gradient_as_bucket_view=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        state = None
        if has_hook:
            state = optireduce.torch.State(**({} if "optireduce" in backend else CALM))
            model.register_comm_hook(state, optireduce.torch.comm_hook)
            state.guard(optimizer)
        for step in range(10):
            optimizer.zero_grad()
            torch.manual_seed(100 * rank + step)
            model(torch.randn(32, 500, dtype=dtype, device="cuda")).float().square().mean().backward()
            optimizer.step()
        steps = 0 if state is None else state.steps
        if state is not None:
            assert not state.settle(optimizer) and f"{steps} steps, 0 skipped" in state.report(), state.report()
            state.close()
        return torch.cat([one.detach().float().flatten() for one in model.parameters()]).cpu(), steps


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_replicas_on_gpus_are_equal_to_the_bit_and_trained_as_with_gloo(job, backend, dtype, tolerance):
    expected = job.run(3, trained, "gloo", False, dtype)
    found = job.run(3, trained, backend, True, dtype)
    assert all(torch.equal(one, found[0][0]) and steps == 10 for one, steps in found)
    torch.testing.assert_close(found[0][0], expected[0][0], rtol=tolerance, atol=tolerance)


class Late(torch.autograd.Function):
    """Passes on a gradient that the GPU is still computing."""

    @staticmethod
    def forward(_, values):
        return values.clone()

    @staticmethod
    def backward(_, gradient):
        torch.cuda._sleep(200_000_000)
        return gradient * 2


def late(rank, ranks, root):
    with group(rank, ranks, root, "gloo"):
        layer = torch.nn.Linear(1000, 1000, bias=False)
        torch.nn.init.zeros_(layer.weight)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def forward(self, values):
                return Late.apply(self.layer(values))

        model = DistributedDataParallel(Model().cuda())
        model.register_comm_hook(optireduce.torch.State(**CALM), optireduce.torch.comm_hook)
        found = []
        for step in range(4):
            model.zero_grad()
            model(torch.full((1, 1000), float(rank + step), device="cuda")).sum().backward()
            # Without a wait of the host: the training loop's stream must wait for the mean.
            found.append(layer.weight.grad.double().sum() / 1e6)
        return [one.item() for one in found]


def test_a_gradient_is_taken_once_the_gpu_has_made_it_and_read_once_the_mean_is_back(job):
    assert job.run(3, late) == [[2.0 * (1 + step) for step in range(4)]] * 3


def fails(rank, ranks, root):
    with group(rank, ranks, root, "gloo", timeout_s=20):
        model = DistributedDataParallel(torch.nn.Linear(100, 100).cuda())
        state = optireduce.torch.State(**CALM, timeout_s=3)
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        output = model(torch.randn(2, 100, device="cuda"))
        if rank == 1:
            state.session.abort()
        with pytest.raises(Exception) as error:
            output.sum().backward()
            torch.cuda.synchronize()
        return str(error.value)


def test_what_fails_on_the_way_is_an_error_of_the_backward_pass(job):
    found = job.run(2, fails)
    assert all("optireduce" in one or "rank" in one or "closed" in one for one in found), found
