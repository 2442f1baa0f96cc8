"""Calls with and without `async_op`: results, order, dropped requests, and memory of the program."""

import array
import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import optireduce
import pytest
import torch
from ranks import wait_for

ELEMENTS = 10
SLOW = {"bound_ms": 4000, "early": "off", "timeout_s": 30}


def connect(rank, ranks, root, **settings):
    return optireduce.Communicator(rank=rank, world_size=ranks, root=root, **{**SLOW, **settings})


def each_call(communicator, bucket, partial):
    """Returns calls by name: a function of `async_op`, and a check of its
    result."""
    rank, ranks, exact = communicator.rank, communicator.world_size, communicator.exact
    mean, total = (ranks - 1) / 2, ranks * (ranks - 1) // 2
    start, end = bucket.shard_range
    everyone = [bytes([one]) for one in range(ranks)]
    calls = {}

    def add(name, call, is_right):
        calls[name] = call, is_right

    def add_in_place(name, call, dtype, expected, *arguments):
        values = numpy.full(ELEMENTS, rank, dtype)
        add(name, lambda **how: call(values, *arguments, **how), lambda result: (values == expected).all() and result is None)

    def add_report(name, call, expected, *arguments):
        values = numpy.full(ELEMENTS, rank, "float32")
        add(name, lambda **how: call(values, *arguments, **how), lambda report: report.is_applied and (values == expected).all())

    add("barrier", communicator.barrier, lambda result: result is None)
    # Each rank sends to the next one.
    add("send", lambda **how: communicator.send(b"x", (rank + 1) % ranks, 7, **how), lambda result: result is None)
    add("recv", lambda **how: communicator.recv((rank - 1) % ranks, 7, **how), lambda result: result == ((rank - 1) % ranks, b"x"))
    add_report("all_reduce", bucket.all_reduce, mean)
    given = numpy.full(ELEMENTS, rank, "float32")
    add(
        "reduce_scatter",
        lambda **how: bucket.reduce_scatter(given, **how),
        lambda result: (result[0] == [mean] * (end - start)).all() and (given == rank).all() and result[1].kind == "reduce-scatter",
    )
    shard = numpy.full(end - start, 5, "float32")
    add("all_gather", lambda **how: bucket.all_gather(shard, **how), lambda result: (result[0] == [5] * ELEMENTS).all())
    add("settle", lambda **how: bucket.settle(5, **how), lambda result: result.is_settled and result.correction is None)
    if partial is not None:
        add_report("average", partial.average, mean, 1)
    add_in_place("exact all_reduce", exact.all_reduce, "int64", total)
    add_in_place("exact all_reduce, max", exact.all_reduce, "float16", ranks - 1, "max")
    sums = numpy.where((numpy.arange(ELEMENTS) >= start) & (numpy.arange(ELEMENTS) < end), total, rank)
    add_in_place("exact reduce_scatter", exact.reduce_scatter, "uint8", sums)
    add_in_place("broadcast", exact.broadcast, "float64", ranks - 1, ranks - 1)
    add("exact all_gather", lambda **how: exact.all_gather(everyone[rank], **how), lambda result: result == everyone)
    add("gather", lambda **how: exact.gather(everyone[rank], 0, **how), lambda result: result == (everyone if rank == 0 else []))
    add("scatter", lambda **how: exact.scatter(everyone if rank == 0 else [], 0, **how), lambda result: result == everyone[rank])
    add("all_to_all", lambda **how: exact.all_to_all(everyone, **how), lambda result: result == [everyone[rank]] * ranks)
    return calls


def declared(communicator):
    ranks = communicator.world_size
    bucket = communicator.bucket(ELEMENTS)
    # Of three ranks, two may be ready first.
    partial = communicator.partial_reduce(ELEMENTS, group_size=2, patience_s=20) if ranks == 2 else None
    return each_call(communicator, bucket, partial)


async def awaited(request):
    return await request


def looked_for(request):
    while not request.is_finished():
        time.sleep(0.001)
    return request.wait(0)


ENDS = {
    "wait": lambda request: request.wait(),
    "is_finished": looked_for,
    "await": lambda request: asyncio.run(awaited(request)),
}


def ways(rank, ranks, root):
    made = []
    for way in ("", *ENDS):
        # An average has a new iteration in each partial reduce.
        with connect(rank, ranks, root) if ranks > 1 else optireduce.Communicator(world_size=1) as communicator:
            for name, (call, is_right) in declared(communicator).items():
                if way == "":
                    result = call()
                else:
                    request = call(async_op=True)
                    assert isinstance(request, optireduce.Request), name
                    result = ENDS[way](request)
                    assert request.is_finished() and request.wait() is result, name
                assert is_right(result), (name, way, result)
                made.append(name)
    return len(made)


def test_each_call_returns_its_result_or_a_request_of_it(job):
    assert min(job.run(2, ways)) == 64
    assert min(job.run(3, ways)) == 60


def test_one_rank_makes_each_call(job):
    assert job.run(1, ways) == [60]


def opposite(rank, ranks, root, awaits):
    """Begins all calls in one order, and finishes them in another one on each rank."""
    with connect(rank, ranks, root) as communicator:
        calls = declared(communicator)
        requests = {name: call(async_op=True) for name, (call, _) in calls.items()}
        names = list(calls)[:: 1 if rank == 0 else -1]
        if awaits:

            async def each():
                return [await requests[name] for name in names]

            results = asyncio.run(each())
        else:
            results = [requests[name].wait() for name in names]
        return [name for name, result in zip(names, results, strict=True) if not calls[name][1](result)]


@pytest.mark.parametrize("awaits", [False, True])
def test_ranks_may_wait_in_opposite_order(job, awaits):
    assert job.run(2, opposite, awaits) == [[], []]


def drops(rank, ranks, root):
    """Rank 0 drops the request of an update that all ranks apply."""
    with connect(rank, ranks, root) as communicator:
        bucket, drift = communicator.bucket(1000), []
        for step in range(4):
            request = bucket.all_reduce(numpy.ones(1000, "float32"), async_op=True)
            if step == 1 and rank == 0:
                del request
                continue
            report = request.wait()
            assert report.is_applied
            drift.append(report.drift_bytes)
        assert bucket.settle().correction is None
        return drift


def test_the_update_of_a_dropped_request_is_drift_and_counted_once(job):
    assert job.run(2, drops) == [[0, 4000, 4000], [0, 0, 0, 0]]


def drops_each(rank, ranks, root):
    """Rank 0 drops half of the requests before they have finished, and the rest later. Rank 1 waits for all."""
    with connect(rank, ranks, root) as communicator:
        calls, kept = declared(communicator), []
        for turn, (name, (call, is_right)) in enumerate(calls.items()):
            request = call(async_op=True)
            if rank == 1 or name in ("send", "recv"):
                assert is_right(request.wait()), name
            elif turn % 2:
                kept.append(request)
            del request
        communicator.barrier()
        kept.clear()
        # Withdraws a receive that no message answers.
        communicator.recv(tag=9, async_op=True)
        whole = numpy.full(ELEMENTS, rank, "float32")
        communicator.exact.all_reduce(whole)
        return whole.tolist()


def test_dropped_requests_of_one_rank_leave_the_ranks_in_step(job):
    assert job.run(2, drops_each) == [[1.0] * ELEMENTS] * 2


def frees(rank, ranks, root):
    """Returns the calls that still refer to the program's array after the end of a request."""
    with connect(rank, ranks, root) as communicator:
        bucket, exact = communicator.bucket(ELEMENTS), communicator.exact
        partial = communicator.partial_reduce(ELEMENTS, group_size=ranks, patience_s=20)
        calls = {
            "all_reduce": bucket.all_reduce,
            "reduce_scatter": bucket.reduce_scatter,
            "exact all_reduce": exact.all_reduce,
            "exact reduce_scatter": exact.reduce_scatter,
            "broadcast": lambda values, **how: exact.broadcast(values, 1, **how),
            "average": lambda values, **how: partial.average(values, partial_step, **how),
        }
        found, partial_step = [], 1
        for name, call in calls.items():
            for end in ("result", "wait", "drop", "drop later"):
                for values in (numpy.zeros(ELEMENTS, "float32"), torch.zeros(ELEMENTS), array.array("f", [0.0] * ELEMENTS)):
                    before = sys.getrefcount(values)
                    request = call(values) if end == "result" else call(values, async_op=True)
                    if end == "wait":
                        request.wait()
                    elif end == "drop later":
                        while not request.is_finished():
                            time.sleep(0.001)
                    if end == "drop" and name == "average":
                        # One at a time.
                        request.wait()
                    if end != "wait":
                        del request
                    if sys.getrefcount(values) != before:
                        found.append((name, end, type(values)))
                    if isinstance(values, array.array):
                        # Not exported any more.
                        values.append(0.0)
                    partial_step += 1
        return found


def test_a_finished_or_dropped_request_frees_the_array(job):
    assert job.run(2, frees) == [[], []]


def moves(rank, ranks, root):
    """Resizes and frees arrays during calls; returns the errors."""
    with connect(rank, ranks, root) as communicator:
        bucket, exact = communicator.bucket(ELEMENTS), communicator.exact
        calls = {
            "all_reduce": bucket.all_reduce,
            "exact all_reduce": exact.all_reduce,
            "exact reduce_scatter": exact.reduce_scatter,
            "broadcast": lambda values, **how: exact.broadcast(values, 0, **how),
        }
        texts = set()
        for name, call in calls.items():
            numbers, tensor, plain = numpy.full(ELEMENTS, rank, "float32"), torch.full((ELEMENTS,), float(rank)), array.array("f", [rank] * ELEMENTS)
            requests = []
            for values in (numbers, tensor, plain, numpy.full(ELEMENTS, rank, "float32")):
                requests.append(call(values, async_op=True))
            # The last array has no other owner.
            del values
            with pytest.raises(ValueError, match="reference"):
                numbers.resize(1_000_000)
            numbers.resize(1_000_000, refcheck=False)
            # To other memory of the same length.
            tensor.resize_(1_000_000)
            tensor.resize_(ELEMENTS)
            with pytest.raises(BufferError):
                plain.append(1.0)
            is_root = name == "broadcast" and rank == 0
            if is_root:
                assert requests[0].wait() is None
            else:
                with pytest.raises(optireduce.ArgumentError) as error:
                    requests[0].wait()
                texts.add(str(error.value))
            for request in requests[1:]:
                request.wait()
            expected = {"all_reduce": 0.5, "broadcast": 0.0}.get(name, 1.0)
            part = slice(*communicator.shard_range(ELEMENTS)) if "scatter" in name else slice(None)
            assert tensor[part].tolist() == list(plain[part]) == [expected] * len(plain[part]), (name, tensor, plain)
            plain.append(1.0)
        return texts


def test_an_array_that_is_resized_during_a_call_is_an_error_and_not_a_crash(job):
    text = f"the array has 1000000 elements, expected {ELEMENTS} as before the call; keep its size until the call has finished"
    # The root of a broadcast keeps its array.
    assert job.run(2, moves) == [{text}] * 2


def interrupted(rank, ranks, root, begun):
    with connect(rank, ranks, root) as communicator:
        if rank == 1:
            wait_for(begun)
        values = numpy.full(ELEMENTS, rank, "float32")
        request = communicator.exact.all_reduce(values, async_op=True)
        if rank == 0:
            threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
            with pytest.raises(KeyboardInterrupt):
                request.wait()
            assert not request.is_finished()
            begun.touch()
        assert request.wait() is None
        return values.tolist()


def test_a_wait_that_control_c_ended_can_go_on(job, tmp_path):
    assert job.run(2, interrupted, tmp_path / "begun") == [[1.0] * ELEMENTS] * 2


def threads(rank, ranks, root):
    """Several threads wait for each request, while others make calls with messages."""
    interval = sys.getswitchinterval()
    # Often, also while a result is converted.
    sys.setswitchinterval(1e-6)
    try:
        with connect(rank, ranks, root) as communicator:
            bucket, results = communicator.bucket(50_000), []

            def messages():
                for _ in range(100):
                    communicator.send(b"x", (rank + 1) % ranks)
                    assert communicator.recv((rank - 1) % ranks)[1] == b"x"

            talking = threading.Thread(target=messages)
            talking.start()
            for _ in range(40):
                for call in (bucket.all_reduce, communicator.exact.all_reduce):
                    request = call(numpy.ones(50_000, "float32"), async_op=True)
                    waiting = [threading.Thread(target=lambda request=request: results.append(request.wait())) for _ in range(4)]
                    for thread in waiting:
                        thread.start()
                    for thread in waiting:
                        thread.join()
            talking.join()
            return len(results)
    finally:
        sys.setswitchinterval(interval)


def test_several_threads_may_wait_for_one_request(job):
    assert job.run(2, threads) == [320, 320]


def forked(rank, ranks, root, begun):
    with connect(rank, ranks, root) as communicator:
        calls = declared(communicator)
        if rank == 1:
            wait_for(begun)
        values = numpy.full(ELEMENTS, rank, "float32")
        request = communicator.exact.all_reduce(values, async_op=True)
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            said = []
            for call in (request.wait, request.is_finished, *[call for call, _ in calls.values()]):
                try:
                    call()
                    said.append("nothing")
                except optireduce.ForkedError:
                    pass
            del communicator, calls, request, call
            gc.collect()
            os.write(writing, repr(said).encode())
            os._exit(0)
        os.close(writing)
        said = os.read(reading, 1000).decode()
        os.close(reading)
        assert os.waitpid(child, 0)[1] == 0
        begun.touch()
        request.wait()
        return said, values.tolist()


def test_a_fork_can_neither_wait_nor_call_and_breaks_nothing(job, tmp_path):
    assert job.run(2, forked, tmp_path / "begun") == [("[]", [1.0] * ELEMENTS)] * 2


TYPES = ("float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def arrangements(dtype, value):
    """Returns arrays of six elements in several arrangements in memory."""
    torch_type = getattr(torch, dtype)
    found = {"bf16" if dtype == "bfloat16" else "torch": torch.full((2, 3), value, dtype=torch_type)}
    found["transposed"] = torch.full((3, 2), value, dtype=torch_type).T
    found["part"] = torch.full((2, 6), value, dtype=torch_type)[:, ::2]
    if dtype != "bfloat16":
        found["numpy"] = numpy.full((1, 6, 1), value, dtype)
        found["reversed"] = numpy.full(6, value, dtype)[::-1]
        found["columns"] = numpy.full((3, 2), value, dtype).T
        found["field"] = numpy.zeros(6, [("flag", "u8"), ("value", dtype), ("rest", dtype, 64 // numpy.dtype(dtype).itemsize - 1)])["value"]
        found["field"][:] = value
    return found


def exact_types(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        exact, wrong = communicator.exact, []
        part = slice(*communicator.shard_range(6))

        def check(what, values, expected):
            found = values.reshape(-1).tolist()
            if found != expected:
                wrong.append((what, found, expected))

        for dtype in (*TYPES, "bfloat16", "bool"):
            sums, value = "or" if dtype == "bool" else "sum", bool(rank) if dtype == "bool" else rank
            for name, values in arrangements(dtype, value).items():
                copy = torch.clone(values) if isinstance(values, torch.Tensor) else values.copy()
                exact.reduce_scatter(values, sums)
                shard = [rank] * 6
                shard[part] = [1] * len(shard[part])
                check((dtype, name, "reduce_scatter"), values, shard)
                exact.broadcast(copy, 1)
                check((dtype, name, "broadcast"), copy, [1] * 6)
                exact.all_reduce(copy, "min" if dtype == "bool" else "sum")
                check((dtype, name, "all_reduce"), copy, [1 if dtype == "bool" else 2] * 6)
        # The third rank of a shorter array has no shard.
        for length in (0, 1):
            values = numpy.full(length, rank, "int32")
            exact.reduce_scatter(values)
            exact.broadcast(values, 1)
            exact.all_reduce(values)
            check((length, "elements"), values, [2] * length)
            tensor = torch.full((length,), rank, dtype=torch.bfloat16)
            exact.all_reduce(tensor)
            check((length, "elements of torch"), tensor, [1] * length)
        scalar, plain, frozen = numpy.array(rank, "int16"), array.array("d", [rank]), numpy.array([7.0])
        for one in (scalar, plain):
            exact.all_reduce(one, "max")
        assert (scalar.item(), plain[0]) == (1, 1.0)
        frozen.flags.writeable = rank != 1
        exact.broadcast(frozen, 1)
        for op in ("sum", "avg"):
            with pytest.raises(optireduce.ArgumentError, match=f"op is {op}, expected one of .* for elements of type bool"):
                exact.all_reduce(numpy.zeros(3, "bool"), op)
        for op, dtype, kind in (("avg", "int8", "i8"), ("and", "float32", "f32")):
            with pytest.raises(optireduce.ArgumentError, match=f"of int8, avg: .*no avg of i8|of float32, and: .*no and of f32") as error:
                exact.all_reduce(numpy.zeros(3, dtype), op)
            assert kind in str(error.value)
        tiny = communicator.bucket(1)
        start, end = tiny.shard_range
        whole, _ = tiny.all_gather(numpy.full(end - start, 4, "float32"))
        assert whole.tolist() == [4.0]
        with pytest.raises(optireduce.ArgumentError):
            communicator.bucket(0)
        return wrong


def test_exact_calls_take_arrays_of_every_type_and_arrangement(job):
    assert job.run(2, exact_types) == [[], []]


def of_ml_dtypes(rank, ranks, root):
    import ml_dtypes

    with connect(rank, ranks, root) as communicator:
        values = numpy.full((2, 3), rank + 0.5, ml_dtypes.bfloat16).T
        communicator.exact.all_reduce(values)
        return values.astype("float32").tolist()


def test_bf16_of_ml_dtypes_is_reduced(job):
    pytest.importorskip("ml_dtypes")
    assert job.run(2, of_ml_dtypes) == [[[2.0] * 2] * 3] * 2


def test_positional_arguments_are_a_type_error_that_names_the_keywords():
    with pytest.raises(TypeError, match=r"takes keywords only, found 3 without a name; name them, as in Communicator\(rank=0, world_size=2, root="):
        optireduce.Communicator(0, 2, "127.0.0.1:1")


def colors(rank, ranks, root):
    with connect(rank, ranks, root) as communicator:
        group = communicator.split(None if rank == 0 else 7)
        if group is None:
            return None
        with group:
            return group.rank, group.world_size, group.exact.all_gather(bytes([rank]))


def test_a_rank_without_a_color_has_no_group(job):
    assert job.run(3, colors) == [None, (0, 2, [b"\x01", b"\x02"]), (1, 2, [b"\x01", b"\x02"])]
    with optireduce.Communicator(world_size=1) as communicator:
        assert communicator.split(None) is None
        with communicator.split(3) as group:
            assert (group.rank, group.world_size) == (0, 1)


def in_force(rank, ranks, root):
    with connect(rank, ranks, root, bound_ms=2000, repair="next_update", secret="of all ranks of the job") as communicator:
        settings = communicator.settings
        assert settings.keys() == {setting.name for setting in optireduce.SETTINGS}
        assert (settings["rank"], settings["world_size"], settings["root"]) == (str(rank), str(ranks), root)
        assert (settings["bound_ms"], settings["repair"], settings["early"], settings["timeout_s"]) == ("2000", "next_update", "off", "30")
        assert "of all ranks" not in str(settings) and communicator.bound_ms == 2000
        assert communicator.bucket(1).options == {"op": "avg", "hadamard": "auto", "bf16": "off", "repair": "next_update", "groups": "none"}
        options = communicator.bucket(1, op="sum", hadamard="on", bf16=True, repair="off").options
        assert options == {"op": "sum", "hadamard": "on", "bf16": "on", "repair": "off", "groups": "none"}
        assert communicator.failure is None and communicator.shard_range(5) == ((0, 3), (3, 5))[rank]
        bucket = communicator.bucket(8)
        with pytest.raises(optireduce.MismatchError) as error:
            bucket.all_reduce(numpy.zeros(8 - rank, "float32"))
        communicator.abort()
        return str(error.value)


def test_settings_options_and_failures_can_be_read(job):
    job.run(2, in_force)


def fails(rank, ranks, root):
    communicator = connect(rank, ranks, root)
    bucket = communicator.bucket(8)
    with pytest.raises(optireduce.MismatchError) as error:
        bucket.all_reduce(numpy.zeros(8 - rank, "float32"))
    failure = communicator.failure
    communicator.abort()
    return type(failure).__name__, str(failure).partition(": ")[2] == str(error.value).partition(": ")[2], str(failure)


def test_a_communicator_that_stopped_has_the_error(job):
    for rank, (kind, _, text) in enumerate(job.run(2, fails)):
        assert kind == "MismatchError" and text.startswith(f"rank {rank}: failure: ") and "on rank 1" in text, text


PROGRAM = """
from typing import assert_type
import numpy, optireduce
with optireduce.Communicator(world_size=1, bound_ms="measured", drop_silent_after=None) as communicator:
    bucket, gradient = communicator.bucket(4, hadamard="off"), numpy.zeros(4, "float32")
    assert_type(bucket.all_reduce(gradient), optireduce.Report)
    request = bucket.all_reduce(gradient, async_op=True)
    assert_type(request, optireduce.Request[optireduce.Report])
    assert_type(request.wait(1.0), optireduce.Report)
    assert_type(communicator.exact.all_reduce(gradient, "max"), None)
    assert_type(communicator.recv(async_op=True), optireduce.Request[tuple[int, bytes]])
    assert_type(communicator.split(0), optireduce.Communicator)
    assert_type(bucket.settle(async_op=True).wait(), optireduce.Settled)
    async def main() -> bytes:
        return await communicator.exact.scatter([b"x"], 0, async_op=True)
"""
WRONG = {
    "optireduce.Communicator(bound=3)": "Unexpected keyword",
    "optireduce.Communicator(0, 2)": "Too many positional",
    'optireduce.Communicator(early="on")': "incompatible type",
    'communicator.exact.all_reduce(gradient, "mean")': "No overload",
    "communicator.bucket(4, repairs=True)": "Unexpected keyword",
}


def test_programs_are_checked_for_types(tmp_path):
    (program := tmp_path / "program.py").write_text(PROGRAM + "".join(f"    {line}\n" for line in WRONG))
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", str(program)]
    errors = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout.splitlines()
    errors = [line for line in errors if ": error: " in line]
    assert len(errors) == len(WRONG), errors
    for number, (line, text) in enumerate(WRONG.items(), PROGRAM.count("\n") + 1):
        assert any(f"program.py:{number}: " in error and text in error for error in errors), (line, errors)


def test_the_help_shows_how_to_connect_and_every_setting():
    done = subprocess.run([sys.executable, "-c", "import optireduce; help(optireduce.Communicator)"], capture_output=True, text=True)
    assert "Communicator(**settings)" in done.stdout and "Communicator(world_size=1)" in done.stdout
    assert "all_reduce" in subprocess.run(
        [sys.executable, "-c", "import optireduce; help(optireduce.Communicator.exact); help(optireduce.Exact)"], capture_output=True, text=True
    ).stdout
