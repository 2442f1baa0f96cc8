"""The backend of torch.distributed: every call does what torch documents."""

import datetime
import os
import threading
import time

import optireduce
import optireduce.torch
import pytest
import torch
import torch.distributed as dist
from groups import group, session
from optireduce.torch._tensors import check
from torch.nn.parallel import DistributedDataParallel


def reduces(rank, ranks, root):
    with group(rank, ranks, root):
        large = torch.arange(5000, dtype=torch.float32) + rank
        for call in range(3):
            sum_ = large.clone()
            mean = (large + call).to(torch.bfloat16).reshape(50, 100).t()
            with optireduce.torch.bounded():
                dist.all_reduce(sum_)
                dist.all_reduce(mean, dist.ReduceOp.AVG)
            assert torch.equal(sum_, large * ranks + sum(range(ranks)) - ranks * rank), call
            assert mean.dtype == torch.bfloat16 and not mean.is_contiguous()
            optireduce.torch.begin_step()
        assert [report.elements for report in session().reports] == [5000] * 4, "of each bucket the first is exact"
        half = torch.full((2000,), 2.0, dtype=torch.float16)
        dist.all_reduce(half)
        dist.all_reduce(half, dist.ReduceOp.AVG)
        small = torch.tensor([rank + 1.0])
        dist.all_reduce(small)
        with optireduce.torch.bounded(), optireduce.torch.exact():
            dist.all_reduce(large.clone())
        results = {}
        for op in ("MIN", "MAX", "PRODUCT", "SUM"):
            value = torch.tensor([rank + 1, 5 - rank], dtype=torch.int64)
            dist.all_reduce(value, getattr(dist.ReduceOp, op))
            results[op] = value.tolist()
        bits = torch.tensor([1 << rank], dtype=torch.int32)
        dist.all_reduce(bits, dist.ReduceOp.BOR)
        flags = torch.tensor([rank == 0, False])
        dist.all_reduce(flags, dist.ReduceOp.MAX)
        double = torch.full((3000,), 1.0 + rank, dtype=torch.float64)
        dist.all_reduce(double)
        empty = torch.zeros(0)
        dist.all_reduce(empty)
        reduced = torch.tensor([float(rank)])
        dist.reduce(reduced, 1)
        several = [torch.full((3,), float(rank)), torch.full((2000,), float(rank))]
        dist.all_reduce_coalesced(several)
        assert len(session().reports) == 4, "all others were exact"
    return results, bits.item(), flags.tolist(), double[0].item(), half[0].item(), small.item(), several[1][0].item(), reduced.item()


def test_all_reduce_gives_what_torch_says(job):
    found = job.run(3, reduces)
    exact = {"MIN": [1, 3], "MAX": [3, 5], "PRODUCT": [6, 60], "SUM": [6, 12]}
    assert [one[:-1] for one in found] == [(exact, 7, [True, False], 6.0, 6.0, 6.0, 3.0)] * 3
    assert [one[-1] for one in found] == [0.0, 3.0, 2.0]


def moves(rank, ranks, root):
    with group(rank, ranks, root):
        weights = torch.full((2, 3), float(rank))
        dist.broadcast(weights, 2)
        column = torch.arange(8).reshape(4, 2)[:, 0] * rank
        dist.broadcast(column, 1)
        parts = [torch.zeros(2, dtype=torch.int16) for _ in range(ranks)]
        dist.all_gather(parts, torch.full((2,), rank, dtype=torch.int16))
        whole = torch.empty(2 * ranks)
        dist.all_gather_into_tensor(whole, torch.full((2,), float(rank)))
        shard = torch.empty(2)
        dist.reduce_scatter_tensor(shard, torch.arange(2.0 * ranks))
        gradient = torch.empty(1000)
        dist.reduce_scatter_tensor(gradient, torch.arange(1000.0 * ranks), dist.ReduceOp.AVG)
        listed = torch.empty(2, dtype=torch.int64)
        dist.reduce_scatter(listed, [torch.full((2,), index) for index in range(ranks)])
        gathered = [torch.zeros(1) for _ in range(ranks)] if rank == 1 else None
        dist.gather(torch.tensor([float(rank)]), gathered, dst=1)
        scattered = torch.zeros(2)
        dist.scatter(scattered, [torch.full((2,), 10.0 + index) for index in range(ranks)] if rank == 0 else None, src=0)
        swapped = torch.empty(ranks, dtype=torch.int32)
        dist.all_to_all_single(swapped, torch.arange(ranks, dtype=torch.int32) + 10 * rank)
        uneven = torch.empty(ranks * (rank + 1))
        dist.all_to_all_single(uneven, torch.full((sum(range(1, ranks + 1)),), float(rank)), [rank + 1] * ranks, list(range(1, ranks + 1)))
        outputs = [torch.empty(1) for _ in range(ranks)]
        dist.all_to_all(outputs, [torch.tensor([10.0 * rank + index]) for index in range(ranks)])
        objects = [None] * ranks
        dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank})
        said = [f"from {rank}", rank]
        dist.broadcast_object_list(said, src=1)
        dist.barrier()
    assert column.tolist() == [0, 2, 4, 6]
    assert whole.tolist() == [0, 0, 1, 1, 2, 2] and [part[0].item() for part in parts] == [0, 1, 2]
    assert shard.tolist() == [6.0 * rank, 6.0 * rank + 3] and listed.tolist() == [3 * rank] * 2
    assert torch.equal(gradient, torch.arange(1000.0 * rank, 1000.0 * (rank + 1)))
    assert gathered is None or [one.item() for one in gathered] == [0, 1, 2]
    assert scattered.tolist() == [10.0 + rank] * 2
    assert swapped.tolist() == [rank, 10 + rank, 20 + rank]
    assert uneven.tolist() == [float(peer) for peer in range(ranks) for _ in range(rank + 1)]
    assert [one.item() for one in outputs] == [10.0 * peer + rank for peer in range(ranks)]
    assert objects == [{"rank": peer, "text": "x" * peer} for peer in range(ranks)] and said == ["from 1", 1]
    return weights.tolist()


def test_everything_else_moves_whole(job):
    assert job.run(3, moves) == [[[2.0] * 3] * 2] * 3


def sends(rank, ranks, root):
    with group(rank, ranks, root):
        before, after = (rank - 1) % ranks, (rank + 1) % ranks
        # Receives stay outstanding during collectives, and start in another order than the sends.
        first, second = torch.empty(4), torch.empty(3, 2, dtype=torch.int64)
        works = [dist.irecv(second.t(), before, tag=2), dist.irecv(first, before, tag=1)]
        dist.all_reduce(torch.ones(5000))
        dist.barrier()
        works += [dist.isend(torch.full((4,), float(rank)), after, tag=1), dist.isend(torch.full((2, 3), rank), after, tag=2)]
        assert [work.wait() for work in works] == [True] * 4
        requests = dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, torch.full((2,), 10.0 + rank), after), dist.P2POp(dist.irecv, batched := torch.empty(2), before)]
        )
        for request in requests:
            request.wait()
        with pytest.raises(ValueError, match="give recv a src"):
            dist.recv(torch.empty(1))
        objects = [None]
        if rank == 0:
            dist.send_object_list([{"a": 1}], 1)
        elif rank == 1:
            dist.recv_object_list(objects, 0)
        short = torch.empty(3)
        if rank == 0:
            dist.send(torch.ones(2), 2)
        elif rank == 2:
            with pytest.raises(ValueError, match="8 bytes arrived, expected 12"):
                dist.recv(short, 0)
        dist.barrier()
        return first.tolist(), second[0].tolist(), batched.tolist(), objects


def test_sends_and_receives_run_beside_collectives(job):
    found = job.run(3, sends)
    assert [one[:3] for one in found] == [([peer] * 4, [peer] * 2, [10 + peer] * 2) for peer in (2, 0, 1)]
    assert found[1][3] == [{"a": 1}]


def sends_while_a_bucket_is_declared(rank, ranks, root):
    with group(rank, ranks, root):
        # The all-reduce waits for rank 1, which waits for the message.
        gradient = torch.full((2000,), float(rank))
        if rank == 0:
            work = dist.all_reduce(gradient, async_op=True)
            time.sleep(0.3)
            dist.send(torch.tensor([7.0]), 1)
            work.wait()
        else:
            dist.recv(said := torch.empty(1), 0)
            dist.all_reduce(gradient)
            assert said.item() == 7.0
        return gradient[0].item()


def test_a_message_passes_an_all_reduce_that_waits_for_its_receiver(job):
    assert job.run(2, sends_while_a_bucket_is_declared) == [1.0, 1.0]


def on_a_device(rank, ranks, root):
    with group(rank, ranks, root):
        with pytest.raises(ValueError, match="all_reduce: a tensor is on device meta, expected cpu; make the group with"):
            # torch asks the backend only for devices that it was registered for.
            check([torch.ones(3, device="meta")], "all_reduce")
        with pytest.raises(ValueError, match="a tensor is sparse, expected a dense one"):
            dist.all_reduce(torch.eye(3).to_sparse())


def test_a_tensor_that_is_not_on_the_host_or_not_dense_is_refused(job):
    job.run(2, on_a_device)


def futures_and_groups(rank, ranks, root):
    with group(rank, ranks, root):
        work = dist.all_reduce(torch.ones(2000), async_op=True)
        doubled = work.get_future().then(lambda future: future.value()[0] * 2)
        assert work.wait() and doubled.wait()[0].item() == 2 * ranks
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        ours = pairs[rank // 2]
        value = torch.full((2000,), float(rank))
        for _ in range(2):
            dist.all_reduce(value, group=ours)
        dist.destroy_process_group(ours)
        alone = dist.new_group([rank], use_local_synchronization=True)
        same = torch.full((2000,), 7.0)
        dist.all_reduce(same, group=alone)
        dist.broadcast(same, rank, group=alone)
        dist.barrier(group=alone)
        return value[0].item(), same[0].item()


def test_futures_and_groups(job):
    assert job.run(4, futures_and_groups) == [(2.0, 7.0), (2.0, 7.0), (10.0, 7.0), (10.0, 7.0)]


def differs(rank, ranks, root, what):
    with group(rank, ranks, root, timeout_s=10):
        elements, dtype = 3000, torch.float32
        if rank == 1 and what == "shape":
            elements = 3001
        if rank == 1 and what == "type":
            dtype = torch.float64
        with pytest.raises(optireduce.OptiReduceError) as error:
            if what == "order" and rank == 1:
                dist.broadcast(torch.ones(3000), 0)
            dist.all_reduce(torch.ones(elements, dtype=dtype))
            dist.all_reduce(torch.ones(elements, dtype=dtype))
        return f"{type(error.value).__name__}: {error.value}"


@pytest.mark.parametrize("what", ["shape", "type", "order"])
def test_calls_that_differ_are_an_error_on_every_rank(job, what):
    for rank, message in enumerate(job.run(2, differs, what)):
        assert message.startswith(f"MismatchError: rank {rank}: ") and "rank 1" in message and "rank 0" in message, message


def refused(rank, ranks, root):
    with group(rank, ranks, root):
        said = []
        for call in (
            lambda: dist.all_reduce(torch.ones(3).to(torch.float8_e4m3fn)),
            lambda: dist.reduce_scatter_tensor(torch.ones(3), torch.ones(5)),
            lambda: dist.all_gather_into_tensor(torch.ones(3), torch.ones(5)),
            lambda: dist.all_to_all_single(torch.ones(3), torch.ones(4), [1, 1], [2, 2]),
        ):
            with pytest.raises((ValueError, RuntimeError)) as error:
                call()
            said.append(str(error.value))
        dist.barrier()
        return said


def test_what_cannot_be_called_is_refused_before_anything_is_sent(job):
    for rank, said in enumerate(job.run(2, refused)):
        assert all("expected" in one for one in said), said


def dies(rank, ranks, root):
    with group(rank, ranks, root, timeout_s=10):
        if rank == 1:
            session().abort()
            with pytest.raises(optireduce.ClosedError):
                dist.barrier()
            return None
        with pytest.raises(optireduce.PeerError) as error:
            dist.barrier()
        return str(error.value)


def test_a_rank_that_is_gone_is_named(job):
    assert "rank 0: barrier" in job.run(2, dies)[0]


def times_out(rank, ranks, root):
    with group(rank, ranks, root):
        if rank == 1:
            time.sleep(1.5)
        work = dist.barrier(async_op=True)
        if rank == 0:
            with pytest.raises(TimeoutError, match="barrier: not finished within 0.2 s"):
                work.wait(datetime.timedelta(seconds=0.2))
        assert work.wait()


def test_a_wait_has_the_timeout_that_it_is_given(job):
    job.run(2, times_out)


def forks(rank, ranks, root):
    with group(rank, ranks, root):
        if (child := os.fork()) == 0:
            try:
                dist.all_reduce(torch.ones(1))
            except optireduce.ForkedError:
                os._exit(7)
            os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        dist.barrier()
        return code


def test_a_fork_gets_an_error(job):
    assert job.run(2, forks) == [7, 7]


def ends_twice(rank, ranks, root):
    with group(rank, ranks, root):
        before = session()
        dist.all_reduce(torch.ones(10))
        dist.destroy_process_group()
        before.close()
        with pytest.raises((ValueError, AssertionError)):
            dist.destroy_process_group()
        with pytest.raises(optireduce.ClosedError, match="destroyed"):
            before.check("all_reduce")
    return sorted(thread.name for thread in threading.enumerate() if thread.name in ("optireduce-_start", "optireduce-_finish"))


def test_destroying_a_group_twice_is_torchs_error_and_leaves_nothing(job):
    assert job.run(2, ends_twice) == [[], []]


def test_debugging_in_detail_is_refused():
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    try:
        with pytest.raises(optireduce.OptiReduceError, match="TORCH_DISTRIBUTED_DEBUG is DETAIL, expected OFF or INFO"):
            optireduce.torch._create(None, None)
    finally:
        dist.set_debug_level(dist.DebugLevel.OFF)


def alone(rank, ranks, root):
    """Makes calls of a group of one rank, and of one rank in a larger group."""
    with group(rank, ranks, root):
        own = [dist.new_group([one]) for one in range(ranks)][rank]
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
            given = torch.arange(4000).to(dtype).view(4, 1000).T
            values, others = given.clone(), torch.empty_like(given)
            for _ in range(2):
                if dtype != torch.complex64:
                    with optireduce.torch.bounded():
                        dist.all_reduce(values, group=own)
                    flat = torch.empty(4000, dtype=dtype)
                    dist.reduce_scatter_tensor(flat, given.reshape(-1), group=own)
                    assert torch.equal(flat, given.reshape(-1))
                dist.broadcast(values, rank, group=own)
                dist.all_gather([others], values, group=own)
                assert torch.equal(others, given) and torch.equal(values, given), dtype
                dist.all_to_all([others], [values], group=own)
                dist.scatter(others, [values], rank, group=own)
                dist.gather(values, [others], rank, group=own)
                assert torch.equal(others, given)
                optireduce.torch.begin_step()
            dist.barrier(group=own)
        if ranks == 1:
            model = DistributedDataParallel(torch.nn.Linear(100, 100))
            optimizer, state = torch.optim.SGD(model.parameters(), lr=0.1), optireduce.torch.State()
            model.register_comm_hook(state, optireduce.torch.comm_hook)
            state.guard(optimizer)
            for _ in range(4):
                model(torch.ones(2, 100)).sum().backward()
                optimizer.step()
            assert not state.settle(optimizer) and (state.steps, state.skipped) == (4, 0)
        return len(session(own).reports)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_group_of_one_rank_makes_each_call(job, ranks):
    # Of float32 and bfloat16 the first call is exact.
    assert min(job.run(ranks, alone)) >= 2
