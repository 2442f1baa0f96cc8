"""Timeouts and completion of calls, with torch's meaning."""

import datetime
import time

import optireduce
import pytest
import torch
import torch.distributed as dist
from groups import group, session
from ranks import wait_for


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
