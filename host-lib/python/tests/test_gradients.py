"""Only gradients are bounded, and the first call of each kind is exact."""

import datetime
import logging
import time
import weakref

import optireduce
import optireduce.torch
import pytest
import torch
import torch.distributed as dist
from groups import group, session
from optireduce.torch import _session
from ranks import memory_for_peers
from torch.nn.parallel import DistributedDataParallel

SUM, AVG = dist.ReduceOp.SUM, dist.ReduceOp.AVG
ELEMENTS = 4000


def kinds():
    """Returns the kinds of the bounded calls since the last `kinds()`."""
    reports = session().reports
    found = [report.kind for report in reports]
    reports.clear()
    return found


def which(rank, ranks, root):
    with group(rank, ranks, root):
        values, shard = torch.full((ELEMENTS,), float(rank)), torch.empty(ELEMENTS // ranks)

        def calls():
            for op in (SUM, AVG):
                dist.all_reduce(values.clone(), op)
                dist.reduce_scatter_tensor(shard, values, op)
            optireduce.torch.begin_step()
            return kinds()

        # Averages of parameters between steps are exact, of any size and number.
        assert calls() == calls() == []
        with optireduce.torch.bounded():
            assert calls() == [], "the first of each is exact"
            assert calls() == ["all-reduce", "reduce-scatter"] * 2
            with optireduce.torch.exact():
                assert calls() == []
        assert calls() == []
        parameter = torch.nn.Parameter(values.clone())
        averaged = []

        def average(gradient):
            averaged.append(gradient.clone())
            dist.all_reduce(averaged[-1], AVG)

        parameter.register_hook(average)
        for _ in range(2):
            (parameter * (rank + 1)).sum().backward()
            optireduce.torch.begin_step()
        assert kinds() == ["all-reduce"] * 2 and all((one == (ranks + 1) / 2).all() for one in averaged), "from a backward pass"


def test_only_what_a_backward_pass_calls_is_bounded_unless_it_is_said(job):
    job.run(2, which)


def ended(rank, ranks, root):
    before, of_group = memory_for_peers(), []
    with group(rank, ranks, root, shared_memory="auto"), optireduce.torch.bounded():
        kept = session()
        # Memory that is returned before a peer has read it is copied, in some of the calls.
        for _ in range(10):
            dist.all_reduce(torch.full((ELEMENTS,), float(rank)), AVG)
            optireduce.torch.begin_step()
        of_group = [found - old for found, old in zip(memory_for_peers(), before)]
    assert all(of_group), f"lent and read: {of_group}"
    assert not any(found & files for found, files in zip(memory_for_peers(), of_group)), kept


def test_a_group_that_was_destroyed_has_no_memory_of_buckets(job):
    job.run(2, ended)


def converted(rank, ranks, root):
    copies, flat = [], _session.flat

    def remembered(tensor, dtype=None):
        floats = flat(tensor, dtype)
        if dtype is not None:
            copies.append(weakref.ref(floats))
        return floats

    with pytest.MonkeyPatch.context() as patch, group(rank, ranks, root), optireduce.torch.bounded():
        patch.setattr(_session, "flat", remembered)
        for call in range(3):
            gradient = torch.full((ELEMENTS,), float(rank), dtype=torch.bfloat16)
            dist.all_reduce(gradient, AVG)
            optireduce.torch.begin_step()
            assert (gradient == (ranks - 1) / 2).all()
            assert [copy() for copy in copies] == [None] * call, "a copy as large as the bucket is kept after the call"


def test_what_is_converted_is_freed_when_the_call_is_done(job):
    job.run(2, converted)


def ddp(rank, ranks, root):
    with group(rank, ranks, root):
        model = DistributedDataParallel(torch.nn.Linear(100, 100))
        for _ in range(3):
            model(torch.ones(2, 100)).sum().backward()
            optireduce.torch.begin_step()
        found = kinds()
        # As programs that average models do.
        for parameter in model.parameters():
            dist.all_reduce(parameter.data, AVG)
        return found, kinds()


def test_ddp_without_a_hook_is_bounded_and_an_average_of_its_parameters_is_not(job):
    for of_gradients, of_parameters in job.run(2, ddp):
        # The second pass may use another bucket than the first.
        assert set(of_gradients) == {"all-reduce"} and of_parameters == [], (of_gradients, of_parameters)


def types_that_differ(rank, ranks, root, name, is_known):
    """Reduces gradients of one length but different types."""
    with group(rank, ranks, root, timeout_s=3, bound_ms=100), optireduce.torch.bounded():
        # The store has a longer timeout than the group.
        store = dist.distributed_c10d._get_default_store()

        def call(dtype):
            values, shard = torch.ones(ELEMENTS, dtype=dtype), torch.empty(ELEMENTS // ranks, dtype=dtype)
            dist.all_reduce(values) if name == "all_reduce" else dist.reduce_scatter_tensor(shard, values)
            optireduce.torch.begin_step()

        for _ in range(2 * is_known):
            call(torch.float32)
        if is_known and rank == 0:
            for _ in range(2):
                call(torch.float32)
            late = [report.late_ranks for report in session().reports]
            store.wait(["done"], datetime.timedelta(seconds=30))
            session().abort()
            return late
        with pytest.raises(optireduce.OptiReduceError) as error:
            call(torch.bfloat16 if rank == 1 else torch.float32)
        if is_known:
            store.set("done", "")
        session().abort()
        return f"{type(error.value).__name__}: {error.value}"


@pytest.mark.parametrize("name", ["all_reduce", "reduce_scatter"])
def test_types_that_differ_are_an_error_on_every_rank(job, name):
    for rank, message in enumerate(job.run(2, types_that_differ, name, False)):
        assert message.startswith(f"MismatchError: rank {rank}: ") and "bf16" in message and "f32" in message, message


@pytest.mark.parametrize("name", ["all_reduce", "reduce_scatter"])
def test_a_type_that_changes_on_one_rank_later_is_an_error_there_and_the_others_go_on_without_it(job, name):
    late, message = job.run(2, types_that_differ, name, True)
    assert late[-2:] == [(1,), (1,)], late
    assert message.startswith(f"TimeoutError: rank 1: declaring a bucket of {ELEMENTS} elements: ") and "rank 0" in message, message


def not_finite(rank, ranks, root):
    with group(rank, ranks, root):
        model = DistributedDataParallel(torch.nn.Linear(60, 60))
        state, said = optireduce.torch.State(), []
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        handler = logging.Handler()
        handler.emit = lambda record: said.append((record.levelname, record.getMessage()))
        logging.getLogger("optireduce").addHandler(handler)
        for step in range(4):
            model.zero_grad()
            inputs = torch.ones(2, 60)
            if rank == 1 and step == 3:
                inputs[0, 3], inputs[0, 5] = torch.nan, torch.inf
            model(inputs).sum().backward()
        logging.getLogger("optireduce").removeHandler(handler)
        gradient = model.module.weight.grad
        return session().reports[-1].not_finite, said, gradient.isnan().any(0).tolist(), gradient.isinf().any(0).tolist()


def test_nan_and_infinity_of_one_rank_reach_all_and_the_log(job):
    for rank, (count, said, nan, infinite) in enumerate(job.run(2, not_finite)):
        assert count == 120 and [index for index in range(60) if nan[index]] == [3]
        assert [index for index in range(60) if infinite[index]] == [5]
        warnings = [text for level, text in said if level == "WARNING"]
        assert len(warnings) == 1 and f"rank {rank} of group" in warnings[0], said
        assert "120 values are not finite" in warnings[0], said


def late_lines(rank, ranks, root):
    """Steps beside a rank that is always late; returns its reports and the lines about them."""
    lines = []
    with group(rank, ranks, root, bound_ms=10, early="adaptive"):
        layers = torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(6)])
        model = DistributedDataParallel(layers, bucket_cap_mb=0.05)
        state = optireduce.torch.State()
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: lines.append(record.getMessage())
        logging.getLogger("optireduce").addHandler(handler)
        for _ in range(20):
            if rank == 2:
                time.sleep(0.05)
            model.zero_grad()
            model(torch.ones(2, 128)).sum().backward()
        dist.barrier()
        late = sum(bool(report.late_ranks) for report in session().reports)
    logging.getLogger("optireduce").removeHandler(handler)
    return late, [line for line in lines if "late" in line]


def test_a_rank_that_is_always_late_does_not_fill_the_log(job):
    late, lines = job.run(3, late_lines)[0]
    # The first, one each 10 s, and the rest at the end.
    assert late > 20 and 1 < len(lines) < 10, (late, lines)
    assert "see bound_ms" in lines[0] and any("unusual all-reduces: late ranks [" in line for line in lines[1:]), lines


def sent_bytes(rank, ranks, root, bf16):
    with group(rank, ranks, root, bf16=bf16):
        gradient = torch.linspace(-1, 1, 200_000)
        with optireduce.torch.bounded():
            for _ in range(3):
                mean = gradient.clone()
                dist.all_reduce(mean, AVG)
                optireduce.torch.begin_step()
        counters = session().calls.metrics()["counters"]
    optireduce.torch.configure(bf16=False)
    return counters, (mean - gradient).abs().max().item()


def test_bf16_halves_what_is_sent(job):
    (wide, exact), (narrow, rounded) = (job.run(2, sent_bytes, bf16)[0] for bf16 in (False, True))
    assert exact == 0.0 and 0.0 < rounded <= 2.0**-8, (exact, rounded)
    assert 0.4 < narrow["tx_packets"] / wide["tx_packets"] < 0.6, (wide, narrow)


def coalesced(rank, ranks, root):
    from torch.distributed import _functional_collectives as functional

    with group(rank, ranks, root):
        inputs = [torch.arange(float(ranks * elements)) + rank for elements in (2, 1000)]
        for _ in range(2):
            with optireduce.torch.bounded():
                parts = functional.reduce_scatter_single_coalesced(inputs, "sum", [0, 0], dist.group.WORLD)
            parts = [part.clone() for part in parts]
        return [part.tolist() for part in parts], kinds()


def test_reduce_scatter_tensor_coalesced(job):
    for rank, (parts, found) in enumerate(job.run(2, coalesced)):
        assert parts == [[2.0 * (rank * n + i) + 1 for i in range(n)] for n in (2, 1000)]
        assert found == ["reduce-scatter"], "of two calls, that of the larger is bounded the second time"


def without_a_bound(rank, ranks, root):
    # No packet would arrive within this bound.
    with group(rank, ranks, root, bound_ms=0.002, engine="tcp"):
        model = DistributedDataParallel(torch.nn.Linear(300, 300))
        state = optireduce.torch.State()
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        optimizer = state.guard(torch.optim.SGD(model.parameters(), lr=0.1))
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.full((2, 300), float(rank))).sum().backward()
            optimizer.step()
        assert not state.settle(optimizer)
        gradient = model.module.weight.grad[0, 0].item()
        found = kinds()
    optireduce.torch.configure(engine="udp")
    return gradient, state.skipped, found


def test_over_the_tcp_engine_nothing_is_bounded(job):
    assert job.run(2, without_a_bound) == [(1.0, 0, [])] * 2
    with pytest.raises(optireduce.ArgumentError, match="engine is 'rdma', expected 'udp' or 'tcp'"):
        optireduce.torch.configure(engine="rdma")


def halts(rank, ranks, root, has_hook):
    """Halts rank 1, while the others lose nothing."""
    with group(rank, ranks, root, bound_ms=500):
        model = DistributedDataParallel(torch.nn.Linear(100, 100))
        state = optireduce.torch.State() if has_hook else None
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if state is not None:
            model.register_comm_hook(state, optireduce.torch.comm_hook)
            state.guard(optimizer)
        own, steps = session().halt_if, 0
        with pytest.raises(RuntimeError) as error:
            for steps in range(40):
                optimizer.zero_grad()
                output = model(torch.ones(2, 100)).sum()
                if steps == 5 and rank == 1 and state is None:
                    session().halt_if = lambda report, halts, name: own(report, True, name)
                output.backward()
                if steps == 5 and rank == 1 and state is not None:
                    state._step.halt = state._step[0]
                optimizer.step()
        if state is not None:
            # The others may be in another step, and would not settle with this rank.
            for go_on in (lambda: state.settle(optimizer), state.step_allowed, optimizer.step):
                with pytest.raises(optireduce.HaltError, match="this state ended there"):
                    go_on()
        return steps, str(error.value)


@pytest.mark.parametrize("has_hook", [True, False])
def test_when_one_rank_halts_all_do(job, has_hook):
    found = job.run(3, halts, has_hook)
    assert found[1][0] == 5 and "more than 10 % was lost in 3" in found[1][1], found
    for steps, message in (found[0], found[2]):
        assert steps >= 5 and "rank 1 has halted: it lost more than 10 % in 3" in message, found
