"""FSDP on CPUs: parameters are gathered exactly, gradients are reduced to shards, bounded."""

import pytest
import torch
from groups import group, session
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard


def sharded(rank, ranks, root, backend, version):
    with group(rank, ranks, root, backend):
        torch.manual_seed(1)
        linear, relu = torch.nn.Linear, torch.nn.ReLU
        model = torch.nn.Sequential(linear(64, 128), relu(), linear(128, 128), relu(), linear(128, 10))
        if version == 1:
            model = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
        else:
            mesh = torch.distributed.init_device_mesh("cpu", (ranks,))
            for layer in model:
                if isinstance(layer, torch.nn.Linear):
                    fully_shard(layer, mesh=mesh)
            fully_shard(model, mesh=mesh)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = torch.Generator().manual_seed(rank)
        losses = []
        for _ in range(6):
            images = torch.randn(16, 64, generator=data)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images), images[:, :10].argmax(1))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, {report.kind for report in session().reports} if backend == "optireduce" else set()


@pytest.mark.parametrize("version", [1, 2])
def test_shards_train_as_with_gloo_and_their_gradients_are_bounded(job, version):
    expected, found = (job.run(2, sharded, backend, version) for backend in ("gloo", "optireduce"))
    for (losses, _), (bounded, kinds) in zip(expected, found):
        assert bounded == pytest.approx(losses, rel=1e-5) and kinds == {"reduce-scatter"}
    assert len(set(found[0][0])) == 6, "it learns"
