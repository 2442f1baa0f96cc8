"""Timeouts and completion of calls, with torch's meaning."""

import asyncio
import datetime
import signal
import threading
import time

import numpy
import optireduce
import pytest
import torch
import torch.distributed as dist
from groups import group, session
from ranks import free_root, wait_for


def seconds(value):
    return datetime.timedelta(seconds=value)


def own_timeout(rank, ranks, root):
    """Rank 1 is late to an all-reduce with a timeout of 0.3 s, in a group with 30 s."""
    with group(rank, ranks, root):
        options = dist.AllreduceOptions()
        options.timeout = seconds(0.3)
        value, said, completed = torch.tensor([rank + 1.0]), [], []
        if rank == 1:
            dist.recv(torch.empty(1), 0)
            dist.all_reduce(value)
        else:
            work = dist.group.WORLD.allreduce([value], options)
            future = work.get_future()
            with pytest.raises(TimeoutError) as error:
                work.wait()
            said.append(str(error.value))
            # torch turns the error of a future into a RuntimeError with the same text.
            with pytest.raises(RuntimeError) as error:
                future.wait()
            said.append(str(error.value))
            completed = [work.is_completed(), value.item()]
            dist.send(torch.ones(1), 1)
        # Later calls are not affected.
        after = torch.ones(1)
        dist.all_reduce(after)
        return said, completed, after.item()


def test_a_call_with_a_timeout_of_its_own_ends_by_it_and_the_next_ones_go_on(job):
    (said, completed, after), late = job.run(2, own_timeout)
    expected = "rank 0 of group 0: all_reduce of 1 elements of torch.float32: not finished within 0.3 s, the timeout of this call"
    assert [expected in one for one in said] == [True, True], said
    assert completed == [True, 1.0] and after == late[2] == 2.0


class Interrupted(Exception):
    pass


def interrupted(rank, ranks, root, told):
    """Interrupts waits on rank 0, which then waits again."""
    with group(rank, ranks, root):
        value = torch.zeros(1)
        if rank == 1:
            wait_for(told)
            dist.send(torch.ones(1), 0)
            dist.barrier()
            return None

        def interrupt(*_):
            raise Interrupted

        before = signal.signal(signal.SIGALRM, interrupt)
        works = [dist.irecv(value, 1), dist.barrier(async_op=True)]
        try:
            for work in works:
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                with pytest.raises(Interrupted):
                    work.wait()
        finally:
            signal.signal(signal.SIGALRM, before)
        told.touch()
        for work in works:
            work.wait()
        return value.item()


def test_a_call_whose_wait_was_interrupted_goes_on(job, tmp_path):
    assert job.run(2, interrupted, tmp_path / "told")[0] == 1.0


def group_timeout(rank, ranks, root, ended):
    with group(rank, ranks, root, timeout_s=3):
        if rank == 1:
            wait_for(ended)
            session().abort()
            return None
        work = dist.all_reduce(torch.ones(3), async_op=True)
        with pytest.raises(TimeoutError) as error:
            work.wait()
        ended.touch()
        session().abort()
        return str(error.value)


def test_a_group_has_a_timeout_and_the_error_names_the_rank_that_does_not_come(job, tmp_path):
    message = job.run(2, group_timeout, tmp_path / "ended")[0]
    assert message.startswith("rank 0: ") and "rank 1 did not" in message and "within 3 s" in message, message


def new_group_timeout(rank, ranks, root):
    with group(rank, ranks, root):
        short = dist.new_group([0, 1], timeout=seconds(3))
        if rank == 1:
            dist.recv(torch.empty(1), 0)
            return None
        with pytest.raises(TimeoutError) as error:
            dist.barrier(group=short)
        dist.send(torch.ones(1), 1)
        return str(error.value)


def test_a_new_group_has_its_own(job):
    assert "within 3 s" in job.run(2, new_group_timeout)[0]


def completion(rank, ranks, root):
    with group(rank, ranks, root):
        found = []
        if rank == 1:
            dist.recv(torch.empty(1), 0)
        work = dist.all_reduce(torch.ones(5000), async_op=True)
        receive = dist.irecv(torch.empty(1), 1, tag=7) if rank == 0 else None
        if rank == 0:
            found += [work.is_completed(), receive.is_completed()]
            dist.send(torch.ones(1), 1)
        work.wait()
        if rank == 1:
            dist.send(torch.ones(1), 0, tag=7)
        else:
            # Polls without waiting.
            until = time.monotonic() + 30
            while not receive.is_completed() and time.monotonic() < until:
                time.sleep(0.01)
            found += [work.is_completed(), receive.is_completed(), receive.wait()]
        gloo = dist.new_group(backend="gloo")
        theirs = dist.all_reduce(torch.ones(10), group=gloo, async_op=True)
        theirs.wait()
        return found, theirs.is_completed()


def test_a_work_says_whether_it_is_completed(job):
    assert job.run(2, completion) == [([False, False, True, True, True], True), ([], True)]


#: Timeout of each group or communicator, and the longest time until a wait ends on a busy machine.
SHORT_S, LATEST_S = 5, 30
#: More than a rank buffers.
LARGE = 3_000_000
MANY, FEW = 5000, 3


def floats(elements=FEW):
    return torch.ones(elements)


#: Calls of rank 0 in a group whose other rank makes no call.
WAITS = {
    "recv": lambda of: dist.recv(floats(), 1, of),
    "recv, tagged": lambda of: dist.recv(floats(), 1, of, tag=3),
    "irecv": lambda of: dist.irecv(floats(), 1, of).wait(),
    "future of irecv": lambda of: dist.irecv(floats(), 1, of).get_future().wait(),
    "send": lambda of: dist.send(floats(LARGE), 1, of),
    "isend": lambda of: dist.isend(floats(LARGE), 1, of).wait(),
    "future of isend": lambda of: dist.isend(floats(LARGE), 1, of).get_future().wait(),
    "recv_object_list": lambda of: dist.recv_object_list([None], 1, of),
    "send_object_list": lambda of: dist.send_object_list([bytes(4 * LARGE)], 1, of),
    "batch": lambda of: [one.wait() for one in dist.batch_isend_irecv([dist.P2POp(dist.irecv, floats(), 1, of)])],
    "all_reduce, exact": lambda of: dist.all_reduce(floats(), group=of),
    "all_reduce, bounded": lambda of: dist.all_reduce(floats(MANY), group=of),
    "future of all_reduce": lambda of: dist.all_reduce(floats(), group=of, async_op=True).get_future().wait(),
    "all_reduce_coalesced": lambda of: dist.all_reduce_coalesced([floats(), floats()], group=of),
    "broadcast": lambda of: dist.broadcast(floats(), 1, of),
    "broadcast from this rank": lambda of: dist.broadcast(floats(LARGE), 0, of),
    "broadcast_object_list": lambda of: dist.broadcast_object_list([None], 1, of),
    "reduce": lambda of: dist.reduce(floats(), 0, group=of),
    "all_gather": lambda of: dist.all_gather([floats(), floats()], floats(), of),
    "all_gather_object": lambda of: dist.all_gather_object([None, None], 1, of),
    "all_gather_into_tensor": lambda of: dist.all_gather_into_tensor(floats(2 * FEW), floats(), of),
    "gather": lambda of: dist.gather(floats(), [floats(), floats()], 0, of),
    "scatter": lambda of: dist.scatter(floats(), None, 1, of),
    "reduce_scatter": lambda of: dist.reduce_scatter(floats(), [floats(), floats()], group=of),
    "reduce_scatter, bounded": lambda of: dist.reduce_scatter_tensor(floats(MANY), floats(2 * MANY), group=of),
    "all_to_all": lambda of: dist.all_to_all([floats(), floats()], [floats(), floats()], of),
    "all_to_all_single": lambda of: dist.all_to_all_single(floats(2), floats(2), group=of),
    "barrier": lambda of: dist.barrier(of),
}


def array(elements=FEW):
    return numpy.ones(elements, "float32")


async def awaited(request):
    return await request


def in_pieces(request):
    while not request.is_finished():
        try:
            return request.wait(0.05)
        except optireduce.TimeoutError as error:
            if "wait for it again" not in str(error):
                raise


#: The same for communicators.
COMMUNICATOR_WAITS = {
    "recv": lambda c: c.recv(1),
    "recv in pieces": lambda c: in_pieces(c.recv(1, async_op=True)),
    "recv, awaited": lambda c: asyncio.run(awaited(c.recv(1, async_op=True))),
    "recv of any rank": lambda c: c.recv(),
    "send": lambda c: c.send(bytes(4 * LARGE), 1),
    "send in pieces": lambda c: in_pieces(c.send(bytes(4 * LARGE), 1, async_op=True)),
    "send, awaited": lambda c: asyncio.run(awaited(c.send(bytes(4 * LARGE), 1, async_op=True))),
    "barrier": lambda c: c.barrier(),
    "barrier in pieces": lambda c: in_pieces(c.barrier(async_op=True)),
    "broadcast": lambda c: c.exact.broadcast(array(), 1),
    "bucket": lambda c: c.bucket(MANY),
    "all_gather": lambda c: c.exact.all_gather(b"1"),
    "exact all_reduce": lambda c: c.exact.all_reduce(array()),
    "exact reduce_scatter": lambda c: c.exact.reduce_scatter(array()),
    "gather": lambda c: c.exact.gather(b"1", 0),
    "scatter": lambda c: c.exact.scatter([], 1),
    "all_to_all": lambda c: c.exact.all_to_all([b"1", b"2"]),
    "split": lambda c: c.split(0),
    "partial_reduce": lambda c: c.partial_reduce(MANY, group_size=2),
    "barrier, gone ranks skipped": lambda c: c.barrier(),
    "close": lambda c: c.close(),
}


def waits(calls, of):
    """Makes the calls on a thread each; returns their errors and durations."""
    found = {}

    def make(name, call):
        begin = time.monotonic()
        try:
            call(of[name])
        except Exception as error:
            found[name] = (type(error).__name__, str(error), time.monotonic() - begin)
        else:
            found[name] = ("", "no error", time.monotonic() - begin)

    threads = [threading.Thread(target=make, args=one, daemon=True) for one in calls.items()]
    for thread in threads:
        thread.start()
    until = time.monotonic() + LATEST_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return {name: found.get(name, ("", "still waits", LATEST_S)) for name in calls}


def group_waits(rank, ranks, root, ended):
    with group(rank, ranks, root):
        groups = {name: dist.new_group([0, 1], timeout=seconds(SHORT_S)) for name in WAITS}
        found = waits(WAITS, groups) if rank == 0 else wait_for(ended)
        ended.touch()
        for one in groups.values():
            session(one).abort()
        return found


def communicator_waits(rank, ranks, root, ended, roots):
    made = {name: optireduce.Communicator(rank=rank, world_size=2, root=roots[name], timeout_s=SHORT_S, skip_gone="skipped" in name) for name in roots}
    found = waits(COMMUNICATOR_WAITS, made) if rank == 0 else wait_for(ended)
    ended.touch()
    for one in made.values():
        one.abort()
    return found


def check(found):
    # A future of torch turns errors into a RuntimeError with the same text.
    assert {name: one for name, one in found.items() if one[0] not in ("TimeoutError", "RuntimeError", "DistBackendError")} == {}
    assert [name for name, one in found.items() if "rank 1 did not" not in one[1] and "no message with tag" not in one[1]] == []


def test_every_wait_of_a_group_for_a_rank_that_makes_no_call_ends_by_its_timeout(job, tmp_path):
    check(job.run(2, group_waits, tmp_path / "ended")[0])


def test_every_wait_of_a_communicator_for_a_rank_that_makes_no_call_ends_by_its_timeout(job, tmp_path):
    roots = {name: free_root() for name in COMMUNICATOR_WAITS}
    check(job.run(2, communicator_waits, tmp_path / "ended", roots)[0])
