"""Communicators and buckets, as used by numpy programs."""

import array
import asyncio
import contextlib
import ctypes
import dataclasses
import itertools
import os
import pathlib
import pickle
import re
import resource
import signal
import subprocess
import threading
import time

import numpy
import optireduce
import pytest
from optireduce._ports import free_port
from ranks import free_root, memory_for_peers, wait_for

# A bound that a busy machine does not exceed, so that nothing is lost.
SLOW = {"bound_ms": 4000, "early": "off", "timeout_s": 20}


def connect(rank, ranks, root, **settings):
    return optireduce.Communicator(rank=rank, world_size=ranks, root=root, **{**SLOW, **settings})


def averages(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        bucket = communicator.bucket(1000)
        assert (bucket.elements, communicator.rank, communicator.world_size) == (1000, rank, ranks)
        gradient = numpy.arange(1000, dtype="float32") + rank
        report = bucket.all_reduce(gradient)
        assert report.is_applied and report.loss == 0 and "apply" in str(report), report
        total = communicator.bucket(1000, op="sum")
        column = numpy.ones((10, 200), "float32")[:, ::2]
        total.all_reduce(column)
        assert (column == ranks).all()
        assert bucket.settle(5.0).is_settled
        return gradient, dataclasses.asdict(report)["ranks"]


def test_all_ranks_get_the_mean_in_place(job):
    for mean, live in job.run(4, averages):
        numpy.testing.assert_array_equal(mean, numpy.arange(1000, dtype="float32") + 1.5)
        assert live == (0, 1, 2, 3)


def other_arrays(rank, ranks, root):
    import torch

    with connect(rank, ranks, root) as communicator:
        bucket = communicator.bucket(6)
        plain, view = array.array("f", [rank] * 6), memoryview(bytearray(24)).cast("f")
        tensor = torch.full((2, 3), float(rank))
        for one in (plain, view, tensor):
            bucket.all_reduce(one)
        return list(plain), list(view), tensor.flatten().tolist()


def test_whatever_has_the_buffer_protocol_or_dlpack_is_reduced(job):
    assert job.run(2, other_arrays) == [([0.5] * 6, [0.0] * 6, [0.5] * 6)] * 2


def refuses_arrays(rank, ranks, root):
    import torch

    with connect(rank, ranks, root, timeout_s=60) as communicator:
        bucket, levels = communicator.bucket(4), communicator.bucket(4, groups=2)
        partial = communicator.partial_reduce(4, group_size=2)
        frozen = numpy.zeros(4, "float32")
        frozen.flags.writeable = False
        odd = numpy.zeros(17, "uint8")[1:].view("float32")
        step = numpy.lib.stride_tricks.as_strided
        wrong = {
            "float64": numpy.zeros(4),
            "frozen": frozen,
            "list": [0.0] * 4,
            "object": object(),
            "big": numpy.zeros(4, ">f4"),
            "big, of ctypes": (ctypes.c_float.__ctype_be__ * 4)(),
            "odd": odd,
            "one place": step(numpy.zeros(4, "float32"), (4,), (0,)),
            "windows": step(numpy.zeros(4, "float32"), (2, 2), (4, 4)),
            "expanded": torch.zeros(1).expand(4),
            "with gradient": torch.zeros(4, requires_grad=True),
            "bf16": torch.zeros(4, dtype=torch.bfloat16),
            "elsewhere": torch.zeros(4, device="meta"),
            "masked": numpy.ma.masked_array(numpy.zeros(4, "float32"), [False, False, False, True]),
            "negated": torch.zeros(4, dtype=torch.complex64).conj().imag,
            "complex": numpy.zeros(4, "complex64"),
        }
        bounded, exact = {name: set() for name in wrong}, {name: set() for name in wrong}
        exact_calls = communicator.exact
        for name, array in wrong.items():
            # The root's array and the inputs of halves are only read.
            is_read = name in ("frozen", "one place", "windows", "expanded")
            calls = [bucket.all_reduce, levels.all_reduce, lambda array: partial.average(array, 1)]
            calls += [] if is_read else [bucket.reduce_scatter, bucket.all_gather]
            exacts = [exact_calls.all_reduce, exact_calls.reduce_scatter, lambda array: exact_calls.broadcast(array, (rank + 1) % ranks)]
            exacts += [] if is_read else [lambda array: exact_calls.broadcast(array, rank)]
            for messages, those in ((bounded, calls), (exact, [] if name in ("float64", "bf16") else exacts)):
                for call, is_async in itertools.product(those, (False, True)):
                    with pytest.raises(optireduce.ArgumentError) as error:
                        call(array, async_op=True) if is_async and "lambda" not in call.__name__ else call(array)
                    messages[name].add(str(error.value))
        for array in (odd, numpy.zeros(2, "int32"), "text"):
            with pytest.raises(optireduce.ArgumentError, match="expected uint8"):
                communicator.exact.all_gather(array)
        bucket.all_reduce(numpy.zeros(4, "float32"))
        partial.close()
        return bounded, exact


def test_an_array_that_cannot_be_reduced_is_refused_before_anything_is_sent(job):
    expected = {
        "float64": "elements of type float64, expected float32",
        "frozen": "read-only",
        "list": "list",
        "object": "object",
        "big": "elements of type big-endian float32 ('>f4'), expected float32 in this machine's byte order",
        "big, of ctypes": "elements of type big-endian float32 ('>f4')",
        "odd": "elements of type float32 at addresses that are not multiples of 4, expected float32 at aligned addresses",
        "one place": "share memory (shape [4], strides [0] bytes)",
        "windows": "share memory (shape [2, 2], strides [4, 4] bytes)",
        "expanded": "share memory",
        "with gradient": "detach",
        "bf16": "elements of type bfloat16, expected float32",
        "elsewhere": "torch.Tensor",
        "masked": "is masked, expected one without a mask, which other ranks do not know; pass array.filled(...)",
        "negated": "negation is pending, expected its values in memory; pass array.resolve_neg()",
        "complex": "elements of type complex64, expected ",
    }
    for bounded, exact in job.run(4, refuses_arrays):
        assert bounded.keys() == exact.keys() == expected.keys()
        for name, messages in bounded.items():
            assert len(messages) == 1 and expected[name] in min(messages), (name, messages)
        types = ", expected one of float16, bfloat16, float32, float64, int8, uint8, int16, uint16, int32, uint32, int64, uint64, bool"
        for name, messages in exact.items():
            text = expected[name].replace(", expected float32", types)
            assert messages == set() if name in ("float64", "bf16") else len(messages) == 1 and text in min(messages), (name, messages)


def arranged(rank, ranks, root):
    """Reduces the numbers 0 to 5 plus the rank, in arrays of several arrangements in memory."""
    import torch

    with connect(rank, ranks, root, timeout_s=60) as communicator:
        bucket, one = communicator.bucket(6), communicator.bucket(1)
        numbers = numpy.arange(6, dtype="float32") + rank
        arrays = {
            "reversed": numpy.zeros(6, "float32")[::-1],
            "columns": numpy.zeros((3, 2), "float32").T,
            "every other": numpy.zeros((2, 6), "float32")[:, ::2],
            "field": numpy.zeros(6, [("flag", "u4"), ("value", "f4")])["value"],
            "ctypes": (ctypes.c_float * 6)(),
            "transposed": torch.zeros(3, 2).T,
            "empty dimensions": numpy.zeros((1, 6, 1), "float32"),
        }
        found = {}
        for name, array in arrays.items():
            flat = torch.as_tensor(array) if isinstance(array, torch.Tensor) else numpy.asarray(array)
            flat[...] = (torch.from_numpy if isinstance(array, torch.Tensor) else numpy.asarray)(numbers.reshape(flat.shape))
            bucket.all_reduce(array)
            found[name] = numpy.asarray(array).reshape(-1).tolist()
        for name, scalar in (("0-d", numpy.array(rank, "float32")), ("0-d of torch", torch.tensor(float(rank)))):
            one.all_reduce(scalar)
            found[name] = scalar.item()
        communicator.exact.broadcast(numpy.lib.stride_tricks.as_strided(numbers, (6,), (0,)) if rank == 0 else numbers, 0)
        return found, numbers.tolist()


def test_an_array_is_reduced_in_its_own_order_wherever_its_elements_lie(job):
    for rank, (found, numbers) in enumerate(job.run(2, arranged)):
        scalars = [found.pop("0-d"), found.pop("0-d of torch")]
        assert all(one == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5] for one in found.values()), found
        assert scalars == [0.5, 0.5] and numbers == ([0.0] * 6 if rank else [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])


def wrong_lengths(rank, ranks, root, odd_ranks):
    """Returns the error of a wrong length, and of the next call."""
    with optireduce.Communicator(rank=rank, world_size=ranks, root=root, **{**SLOW, "bound_ms": 200}) as communicator:
        bucket = communicator.bucket(8)
        with pytest.raises(optireduce.OptiReduceError) as error:
            # Until the call of the odd ranks is known.
            for _ in range(50):
                bucket.all_reduce(numpy.zeros(3 if rank in odd_ranks else 8, "float32"))
        with pytest.raises(optireduce.OptiReduceError) as again:
            bucket.all_reduce(numpy.zeros(8, "float32"))
        communicator.abort()
        return [type(one.value).__name__ for one in (error, again)], [str(one.value).split(": ", 2)[2] for one in (error, again)]


@pytest.mark.parametrize("odd_ranks", [(1,), (0, 1, 2)])
def test_a_wrong_length_is_the_same_mismatch_on_every_rank(job, odd_ranks):
    for names, texts in (found := job.run(3, wrong_lengths, odd_ranks)):
        assert names == ["MismatchError"] * 2, found
        expected = f"in collective 0, the number of elements passed to an all-reduce is 3 on rank {odd_ranks[0]}, expected 8, as bucket 0 has"
        assert texts == [texts[0]] * 2 and texts[0].startswith(expected), found


def refuses_numbers(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        bucket = communicator.bucket(4)
        partial = communicator.partial_reduce(4, group_size=2)
        data, values = b"x", numpy.zeros(4, "float32")
        calls = {
            "rank": lambda: optireduce.Communicator(rank=-1, world_size=2, root=root),
            "world_size": lambda: optireduce.Communicator(rank=0, world_size=-2, root=root),
            "elements": lambda: communicator.bucket(-4),
            "root": lambda: communicator.exact.broadcast(values, -1),
            "to": lambda: communicator.send(data, -1),
            "source": lambda: communicator.recv(-1),
            "tag": lambda: communicator.send(data, 0, -1),
            "color": lambda: communicator.split(-1),
            "group_size": lambda: communicator.partial_reduce(4, group_size=-2),
            "mix_within": lambda: communicator.partial_reduce(4, group_size=2, mix_within=-2),
            "patience_s": lambda: communicator.partial_reduce(4, group_size=2, patience_s=-1),
            "iteration": lambda: partial.average(values, -1),
            "timeout": lambda: bucket.settle(-1),
        }
        texts = {}
        for name, call in calls.items():
            with pytest.raises(optireduce.ArgumentError) as error:
                call()
            texts[name] = str(error.value)
        with pytest.raises(optireduce.ArgumentError, match="timeout is -0.5"):
            communicator.close(-0.5)
        # Nothing was changed: the ranks are in step.
        bucket.all_reduce(values)
        communicator.exact.broadcast(values, 0)
        partial.close()
        return texts


def test_a_negative_number_is_an_argument_error_that_names_it_and_changes_nothing(job):
    for texts in job.run(2, refuses_numbers):
        for name, text in texts.items():
            assert text.startswith(f"{name} is -") and ", expected " in text, text
def skipped(rank, ranks, root, done):
    """Rank 0 reduces without rank 1, which is late, on a bucket and on two levels."""
    with connect(rank, ranks, root, bound_ms=100, drop_silent_after=None, repair="off") as communicator:
        buckets = [communicator.bucket(1000), communicator.bucket(1000, groups=2)]
        found = []
        for number, bucket in enumerate(buckets):
            if rank % 2 == 1:
                wait_for(done.with_suffix(f".{number}"))
            gradient = numpy.ones(1000, "float32")
            report = bucket.all_reduce(gradient)
            found.append((report.is_applied, gradient.max(), gradient.min()))
            if rank % 2 == 0:
                done.with_suffix(f".{number}").touch()
            communicator.barrier()
        return found


def test_a_skipped_reduction_is_zeros(job, tmp_path):
    found = job.run(4, skipped, tmp_path / "done")
    for number in range(2):
        steps = [one[number] for one in found]
        assert any(not is_applied for is_applied, *_ in steps), steps
        assert all(most == least == float(is_applied) for is_applied, most, least in steps), steps


def halted(rank, ranks, root, returned):
    """Rank 0 reduces without rank 1, which is late. Two skips precede the halts."""
    settings = dict(bound_ms=20, mtu=1500, drop_silent_after=None, repair=False)
    with connect(rank, ranks, root, **settings) as communicator:
        bucket = communicator.bucket(100_000)

        async def awaited(gradient):
            return await bucket.all_reduce(gradient, async_op=True)

        ways = [
            bucket.all_reduce,
            bucket.all_reduce,
            bucket.all_reduce,
            lambda gradient: bucket.all_reduce(gradient, async_op=True).wait(),
            lambda gradient: asyncio.run(awaited(gradient)),
            bucket.reduce_scatter,
        ]
        if rank == 1:
            wait_for(returned)
        found = []
        for number, way in enumerate(ways):
            gradient, error = numpy.ones(100_000, "float32"), None
            try:
                way(gradient)
            except optireduce.HaltError as halt:
                error = pickle.loads(pickle.dumps(halt))
                assert error.report.number == number and not error.report.is_applied and error.report.loss > 0.1, error.report
            found.append((str(error), gradient.max(), gradient.min()))
        if rank == 0:
            returned.touch()
        communicator.barrier()
        # The ranks are in step: `close` compares the numbers of their calls.
        with contextlib.suppress(optireduce.HaltError):
            assert bucket.all_reduce(numpy.ones(100_000, "float32")).number == len(ways)
        return found


def test_a_halt_is_an_error_with_zeros_and_the_job_can_go_on(job, tmp_path):
    found = job.run(2, halted, tmp_path / "returned")[0]
    assert [error for error, *_ in found[:2]] == ["None"] * 2, found
    for error, *_ in found[2:]:
        assert error.startswith("rank 0: ") and "of bucket 0 of 100000 elements: " in error and "stop the job" in error, error
    assert all(most == least == 0 for _, most, least in found[:5]), found


def ends(rank, ranks, root, skipped, settles):
    """Rank 0 skips an update, and ends the job with or without it."""
    try:
        with connect(rank, ranks, root, bound_ms=50, drop_silent_after=None) as communicator:
            bucket = communicator.bucket(1000)
            if rank == 1:
                wait_for(skipped)
            assert bucket.all_reduce(numpy.ones(1000, "float32")).is_applied <= rank
            if rank == 0:
                skipped.touch()
            if settles or rank == 1:
                assert bucket.settle().is_settled
    except optireduce.UnsettledError as error:
        return str(error)
    return None


def test_a_job_ends_with_an_error_if_a_bucket_with_repairs_was_not_settled(job, tmp_path):
    assert job.run(2, ends, tmp_path / "settled", True) == [None, None]
    first, second = job.run(2, ends, tmp_path / "not settled", False)
    assert first.startswith("rank 0: close: ") and "lacks 4000 bytes of repairs of buckets [0]" in first and second is None, first


def requests(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        buckets = [communicator.bucket(elements) for elements in (5000, 70, 1)]
        gradients = [numpy.full(bucket.elements, rank, "float32") for bucket in buckets]
        started = [bucket.all_reduce(gradient, async_op=True) for bucket, gradient in zip(buckets, gradients)]
        reports = [request.wait() for request in reversed(started)]
        assert all(request.is_finished() for request in started)
        assert started[0].wait() is reports[2]

        async def both():
            return await asyncio.gather(*(b.all_reduce(g, async_op=True) for b, g in zip(buckets, gradients)))

        assert [report.elements for report in asyncio.run(both())] == [5000, 70, 1]
        return [float(gradient.sum()) for gradient in gradients]


def test_requests_overlap_and_can_be_awaited(job):
    assert job.run(2, requests) == [[2500, 35, 0.5]] * 2


def in_one_expression(rank, ranks, root):
    """Only the last object of each expression has a name."""
    array = lambda: numpy.full(1000, rank, "float32")  # noqa: E731
    with connect(rank, ranks, root) as communicator:
        again = lambda: communicator.split(0)  # noqa: E731
        bucket, levels = again().bucket(1000), again().bucket(1000, groups=2)
        partial = again().partial_reduce(1000, group_size=ranks, patience_s=1)
        objects = [bucket, levels, partial]
        for one in (bucket, levels):
            reduced = array()
            assert one.all_reduce(reduced).is_applied and (reduced == 1.5).all(), one
            objects.append(one)
        averaged = array()
        # A rank that is a few milliseconds late is in another group.
        mean = numpy.mean(partial.average(averaged, 1).ranks)
        assert numpy.allclose(averaged, mean)
        requests = [
            again().barrier(async_op=True),
            again().exact.all_gather(b"x", async_op=True),
            again().send(b"x", rank, 0, async_op=True),
            again().exact.all_to_all([b"x"] * ranks, async_op=True),
            again().bucket(1000).all_reduce(array(), async_op=True),
            again().bucket(1000).reduce_scatter(array(), async_op=True),
            again().bucket(1000, groups=2).all_reduce(array(), async_op=True),
            again().partial_reduce(1000, group_size=ranks, patience_s=1).average(array(), 1, async_op=True),
        ]
        results = [request.wait(20) for request in requests]
        communicator.barrier()
        return len(results), len(objects)


def test_objects_keep_alive_what_they_need(job):
    assert job.run(4, in_one_expression) == [(8, 5)] * 4


def awaits(rank, ranks, root):
    """Awaits many requests at a time, gives one up, and counts the threads that this takes."""
    with connect(rank, ranks, root, timeout_s=60) as communicator:
        bucket, before = communicator.bucket(1000), threading.active_count()

        async def program():
            gradients = [numpy.full(1000, rank, "float32") for _ in range(40)]
            calls = [bucket.all_reduce(gradient, async_op=True) for gradient in gradients]
            reports = await asyncio.gather(*calls, communicator.barrier(async_op=True), communicator.send(b"x", rank, 7, async_op=True))
            assert await communicator.recv(rank, 7, async_op=True) == (rank, b"x")
            never = communicator.recv(rank, 8, async_op=True)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(never, 0.05)
            return [report.is_applied for report in reports[:40]], threading.active_count() - before

        begin = time.monotonic()
        actions, threads = asyncio.run(program())
        assert time.monotonic() - begin < 30, "asyncio.run waited for the request that was given up"
        return actions, threads


def test_awaited_requests_need_no_threads_and_one_given_up_lets_the_program_end(job):
    assert job.run(2, awaits) == [([True] * 40, 0)] * 2


def many_buckets(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        buckets = [communicator.bucket(1000) for _ in range(200)]
        arrays = [numpy.full(1000, rank, "float32") for _ in buckets]
        before = len(os.listdir("/proc/self/fd"))
        for bucket, array in zip(buckets, arrays):
            bucket.all_reduce(array)
        assert all((array == 0.5).all() for array in arrays)
        return len(os.listdir("/proc/self/fd")) - before


def test_buckets_take_few_files(job):
    for files in job.run(2, many_buckets):
        assert files <= 128


def lent_memory(rank, ranks, root, local, file_bytes):
    """Checks two calls at a time of each bucket; returns the files lent and read after each."""
    elements, files, limits = 100_000, [], resource.getrlimit(resource.RLIMIT_FSIZE)
    # Files of earlier jobs in this process.
    others = memory_for_peers()
    with connect(rank, ranks, root, shared_memory=local) as communicator:
        buckets = [communicator.bucket(elements), communicator.bucket(elements, op="sum")]
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, limits[1]))
        try:
            for call in range(8):
                gradients = [numpy.arange(elements, dtype="float32") + ranks * call + rank + part for part in range(4)]
                requests = [bucket.all_reduce(gradient, async_op=True) for bucket, gradient in zip(2 * buckets, gradients)]
                # Drops the last request of the first round without a wait, which frees its memory.
                last = requests.pop()
                for request in [last, *requests] if call else requests:
                    report = request.wait()
                    assert (report.is_applied, report.lost_bytes) == (True, 0)
                for part, factor in enumerate((1, ranks, 1)):
                    mean = numpy.arange(elements, dtype="float32") + ranks * call + (ranks - 1) / 2 + part
                    numpy.testing.assert_array_equal(gradients[part], factor * mean)
                del request, requests, last
                communicator.barrier()
                files.append([found - old for found, old in zip(memory_for_peers(), others)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    return files


def test_ranks_of_a_host_read_the_gradients_and_means_of_one_another_where_they_lie(job):
    # Two calls of each of two buckets, each with a gradient and a mean.
    for lent in job.run(2, lent_memory, "auto", None):
        assert [len(files) for files in lent[2]] == [8, 8]
        assert lent[3:] == [lent[2]] * 5, "memory is reused by later calls"


@pytest.mark.parametrize(("local", "file_bytes"), [("off", None), ("auto", 100_000)])
def test_memory_that_cannot_be_lent_is_copied_to_the_same_end(job, local, file_bytes):
    for lent in job.run(2, lent_memory, local, file_bytes):
        assert lent == [[set(), set()]] * 8


def exact(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        values = numpy.array([rank, -rank, 7], "int64")
        found = [values.copy(), values.copy()]
        requests = [communicator.exact.all_reduce(one, op, async_op=True) for one, op in zip(found, ("sum", "max"))]
        assert [request.wait() for request in requests] == [None, None]
        assert [one.tolist() for one in found] == [[3, -3, 21], [2, 0, 7]]
        with pytest.raises(optireduce.ArgumentError, match="op is mean, expected one of sum, avg, .* for elements of type int64"):
            communicator.exact.all_reduce(values, "mean")
        with pytest.raises(optireduce.ArgumentError, match=f"rank {rank}: exact all_reduce of 3 elements of int64, avg: .* no avg of i64"):
            communicator.exact.all_reduce(values, "avg")
        received = communicator.recv((rank - 1) % ranks, 3, async_op=True)
        with pytest.raises(TimeoutError, match="the call continues"):
            received.wait(0.01)
        communicator.barrier()
        communicator.send(b"hello", (rank + 1) % ranks, 3)
        assert received.wait() == ((rank - 1) % ranks, b"hello")


def test_exact_reductions_and_messages(job):
    job.run(3, exact)


def weights(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        values = numpy.full(100, rank, "float64").astype("float32")
        communicator.exact.broadcast(values, root=1)
        communicator.barrier()
        group = communicator.split(rank % 2)
        assert (group.rank, group.world_size) == (rank // 2, 2)
        group.close()
        bucket = communicator.bucket(10)
        shard, report = bucket.reduce_scatter(numpy.full(10, rank, "float32"))
        start, end = bucket.shard_range
        assert (len(shard), report.kind) == (end - start, "reduce-scatter")
        whole, _ = bucket.all_gather(shard)
        assert communicator.metrics()["live"] == list(range(ranks))
        return values.tolist(), communicator.exact.all_gather(b"x" * rank), whole.tolist()


def test_weights_groups_and_parts(job):
    expected = ([1.0] * 100, [b"", b"x", b"xx", b"xxx"], [1.5] * 10)
    assert job.run(4, weights) == [expected] * 4


def differing_lengths(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        with pytest.raises(optireduce.MismatchError) as declared:
            communicator.bucket(100 + (rank == 1))
        bucket = communicator.bucket(100)
        with pytest.raises(optireduce.MismatchError) as called:
            bucket.all_reduce(numpy.zeros(100 + (rank == 1), "float32"))
        communicator.abort()
        return str(declared.value), str(called.value)


def test_lengths_that_differ_are_an_error_on_every_rank(job):
    for rank, (declared, called) in enumerate(job.run(3, differing_lengths)):
        assert declared.startswith(f"rank {rank}: declaring a bucket of {101 if rank == 1 else 100} elements:")
        assert "is 101 on rank 1, but 100 on rank 0" in declared
        assert called.startswith(f"rank {rank}: all_reduce of bucket 0 of 100 elements:")
        assert "rank 1" in called and "101" in called


def another_order(rank, ranks, root):
    communicator = connect(rank, ranks, root)
    first, second = communicator.bucket(100), communicator.bucket(200)
    arrays = {first: numpy.zeros(100, "float32"), second: numpy.zeros(200, "float32")}
    with pytest.raises(optireduce.MismatchError) as error:
        for bucket in (first, second) if rank else (second, first):
            bucket.all_reduce(arrays[bucket])
    communicator.abort()
    return str(error.value)


def test_another_order_of_calls_is_an_error_on_every_rank(job):
    for message in job.run(2, another_order):
        assert "bucket" in message and "rank" in message


def settings_that_differ(rank, ranks, root):
    with pytest.raises(optireduce.MismatchError, match="bf16 is on on rank 1, but off on rank 0"):
        connect(rank, ranks, root, bf16=rank == 1)


def test_settings_that_differ_are_an_error_on_every_rank(job):
    job.run(2, settings_that_differ)


def a_secret(rank, ranks, root, is_same):
    settings = {"secret": "of all ranks of the job" if is_same else f"of rank {rank} and nobody else", "timeout_s": 3}
    if is_same:
        with connect(rank, ranks, root, **settings) as communicator:
            gradient = numpy.full(100, rank, "float32")
            communicator.bucket(100).all_reduce(gradient)
            return gradient[0]
    with pytest.raises(optireduce.PeerError):
        connect(rank, ranks, root, **settings)


def test_ranks_with_one_secret_meet_and_those_with_others_do_not(job):
    assert job.run(2, a_secret, True) == [0.5, 0.5]
    job.run(2, a_secret, False)


def wrong_world_size(rank, ranks, root):
    with pytest.raises(optireduce.OptiReduceError) as error:
        connect(rank, ranks + rank, root, timeout_s=3)
    return str(error.value)


def test_world_sizes_that_differ_are_an_error_on_every_rank(job):
    for rank, message in enumerate(job.run(2, wrong_world_size)):
        assert message.startswith(f"rank {rank} of {2 + rank}: connect: ") and "rank" in message, message


def not_finite(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        bucket = communicator.bucket(100)
        gradient = numpy.full(100, rank, "float32")
        if rank == 0:
            gradient[3], gradient[50] = numpy.nan, numpy.inf
        report = bucket.all_reduce(gradient)
        return report.not_finite, "2 values are not finite" in str(report), gradient


def test_nan_and_infinity_are_counted_and_stay_where_they_were(job):
    for count, is_told, mean in job.run(2, not_finite):
        assert (count, is_told) == (2, True)
        assert numpy.isnan(mean[3]) and numpy.isinf(mean[50])
        assert (numpy.delete(mean, [3, 50]) == 0.5).all()


def a_peer_dies(rank, ranks, root):
    communicator = connect(rank, ranks, root)
    if rank == 1:
        communicator.abort()
        return None
    with pytest.raises(optireduce.PeerError) as error:
        communicator.barrier()
    communicator.abort()
    return str(error.value)


def test_a_rank_that_is_gone_is_named(job):
    assert "rank 1 has ended" in job.run(2, a_peer_dies)[0]


def closed(rank, ranks, root):
    communicator = connect(rank, ranks, root)
    bucket = communicator.bucket(10)
    communicator.close()
    communicator.close()
    gradient = numpy.zeros(10, "float32")
    for call in (communicator.barrier, lambda: bucket.all_reduce(gradient), lambda: communicator.bucket(1)):
        with pytest.raises(optireduce.ClosedError, match=f"^rank {rank}: "):
            call()


def test_a_closed_communicator_says_so_and_may_be_closed_twice(job):
    job.run(2, closed)


def forked(rank, ranks, root):
    communicator = connect(rank, ranks, root)
    bucket = communicator.bucket(10)
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        said = []
        for call in (communicator.barrier, communicator.close, lambda: bucket.all_reduce(numpy.zeros(10, "float32"))):
            try:
                call()
                said.append("nothing")
            except optireduce.ForkedError as error:
                said.append(f"fork of process {os.getppid()}" in str(error))
        del communicator, bucket, call
        os.write(writing, repr(said).encode())
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 1000).decode()
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    bucket.all_reduce(numpy.zeros(10, "float32"))
    communicator.close()
    return said


def test_a_fork_gets_errors_and_breaks_nothing(job):
    assert job.run(2, forked) == ["[True, True, True]"] * 2


def interrupted(rank, ranks, root, ended):
    communicator = connect(rank, ranks, root)
    if rank == 1:
        wait_for(ended)
        communicator.abort()
        return 0.0
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        communicator.barrier()
    ended.touch()
    communicator.abort()
    return time.monotonic() - begin


def test_control_c_ends_a_wait(job, tmp_path):
    assert job.run(2, interrupted, tmp_path / "ended")[0] < 10


def waits_in_a_thread(rank, ranks, root, ran):
    communicator = connect(rank, ranks, root)
    if rank == 1:
        wait_for(ran)
        communicator.barrier()
        communicator.close()
        return 0
    counted, errors = 0, []
    thread = threading.Thread(target=lambda: errors.append(communicator.barrier()))
    thread.start()
    while thread.is_alive():
        counted += 1
        if counted > 20:
            ran.touch()
        time.sleep(0.001)
    communicator.close()
    return counted


def test_other_threads_run_while_one_waits(job, tmp_path):
    assert job.run(2, waits_in_a_thread, tmp_path / "ran")[0] > 20


def aborts_a_wait(rank, ranks, root, ended):
    communicator = connect(rank, ranks, root)
    if rank == 1:
        wait_for(ended)
        communicator.abort()
        return None
    threading.Timer(0.2, communicator.abort).start()
    with pytest.raises(optireduce.ClosedError, match="rank 0: barrier: the communicator was closed or aborted"):
        communicator.barrier()
    ended.touch()
    return None


def test_abort_ends_the_waits_of_other_threads(job, tmp_path):
    job.run(2, aborts_a_wait, tmp_path / "ended")


def times_out(rank, ranks, root, ended):
    communicator = connect(rank, ranks, root, timeout_s=2.5)
    if rank == 1:
        wait_for(ended)
        communicator.abort()
        return
    with pytest.raises(TimeoutError, match="rank 1 did not make the same call within 2.5 s"):
        communicator.barrier()
    ended.touch()
    communicator.abort()


def test_a_rank_that_does_not_come_is_a_timeout(job, tmp_path):
    job.run(2, times_out, tmp_path / "ended")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bound_ms": 0}, "bound_ms is 0, expected 0.001 to 4290 ms, or measured"),
        ({"bound_ms": -1}, "bound_ms is -1, expected 0.001 to 4290 ms, or measured"),
        ({"bound_ms": []}, "bound_ms is [], expected 0.001 to 4290 ms, or measured"),
        ({"hadamard": "yes"}, "hadamard is yes, expected auto, on or off"),
        ({"repair": True}, "repair is on, expected off, next_update or this_update"),
        ({"agree": None}, "agree is None, expected on or off"),
        ({"dropsilentafter": 1}, "the name of a setting is dropsilentafter, expected one of optireduce.SETTINGS, of which drop_silent_after"),
        ({"mtu": 20}, "mtu is 20, expected 114 to 65535 bytes, or auto"),
        ({"card_fallback": "tcp"}, "card_fallback is tcp, expected off or udp"),
        ({"secret": "short"}, "16"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings, message):
    with pytest.raises(ValueError) as error:
        optireduce.Communicator(rank=0, world_size=2, root="127.0.0.1:1", **settings)
    assert message in str(error.value)


def test_every_setting_is_a_keyword_that_is_documented():
    names = [setting.name for setting in optireduce.SETTINGS]
    assert len(names) > 20 and len(set(names)) == len(names)
    stub = pathlib.Path(optireduce.__file__).with_name("_optireduce.pyi").read_text()
    signature = stub[stub.index("def __new__(") : stub.index(") -> Communicator: ...")]
    keywords = re.findall(r"^        (\w+): .*,$", signature, re.MULTILINE)
    assert sorted(keywords) == sorted([*names, "secret"])
    assert [name for name in names if f"`{name}`" not in optireduce.Communicator.__doc__] == []
    for setting in optireduce.SETTINGS:
        # Every sample is valid; another keyword ends the call before it connects.
        sample = {setting.name: setting.sample} if setting.name not in ("rank", "world_size", "root") else {}
        with pytest.raises(optireduce.ArgumentError, match="no_such_setting"):
            optireduce.Communicator(rank=0, world_size=2, root="127.0.0.1:1", **sample, no_such_setting=1)


@pytest.mark.parametrize("secret", [b"of all ranks of the job", ["of all ranks of the job"]])
def test_an_error_does_not_show_a_secret(secret):
    with pytest.raises(optireduce.ArgumentError, match="secret is a <class '[a-z]+'>, expected a string") as error:
        optireduce.Communicator(rank=0, world_size=2, root="127.0.0.1:1", secret=secret)
    assert "of all ranks" not in str(error.value)


@pytest.mark.parametrize("place", ["explicit", "launcher"])
def test_one_rank_is_a_job(monkeypatch, place):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    with optireduce.Communicator(rank=0, world_size=1) if place == "explicit" else optireduce.Communicator() as communicator:
        bucket, gradient = communicator.bucket(1000), numpy.arange(1000, dtype="float32")
        report = bucket.all_reduce(gradient)
        assert (report.is_applied, report.lost_bytes, report.late_ranks) == (True, 0, ())
        assert (gradient == numpy.arange(1000)).all()
        assert communicator.exact.all_gather(b"x") == [b"x"]
        communicator.barrier()


def test_without_a_launcher_the_error_says_what_to_set(monkeypatch):
    for name in ("OPTIREDUCE_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(optireduce.ArgumentError, match="OPTIREDUCE_RANK"):
        optireduce.Communicator()


def test_the_port_of_rank_0_is_none_that_the_kernel_hands_out():
    first, last = map(int, pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = {free_port("127.0.0.1") for _ in range(20)}
    assert len(ports) > 10 and not any(first <= port <= last for port in ports)


def raises(rank, ranks, root, roots):
    """Raises errors of the kinds that no other test of this package raises."""
    with connect(rank, ranks, roots[0], groups=2) as levels:
        with pytest.raises(optireduce.UnsupportedError, match="send is not supported on two levels"):
            levels.send(b"x", (rank + 1) % ranks)
    with connect(rank, ranks, root, bound_ms=50) as communicator:
        with pytest.raises(optireduce.OutOfMemoryError, match="partial reduce of 1099511627776 elements"):
            communicator.partial_reduce(1 << 40)
        bucket, gradient = communicator.bucket(1000), numpy.ones(1000, "float32")
        bucket.all_reduce(gradient)
        left = 20
        if rank == ranks - 1:
            with subprocess.Popen(["sh", "-c", f"sleep 2; kill -CONT {os.getpid()}"]):
                os.kill(os.getpid(), signal.SIGSTOP)
            with pytest.raises(optireduce.DroppedError, match="call `rejoin`"):
                while True:
                    bucket.all_reduce(gradient)
            communicator.rejoin()
        is_back = False
        while left:
            is_back |= bucket.all_reduce(gradient).joined_rank is not None
            left -= is_back
            time.sleep(0.002)
        bucket.settle()


def test_each_kind_of_error_is_an_exception(job):
    job.run(4, raises, [free_root()])
