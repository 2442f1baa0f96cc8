"""Errors of users and networks: exceptions that name the rank and both values. Nothing hangs."""

import contextlib
import datetime
import socket
import threading

import optireduce
import optireduce.torch
import pytest
import torch.distributed as dist
from groups import CALM
from ranks import free_root, wait_for


def raised(act, expected=optireduce.OptiReduceError):
    with pytest.raises(expected) as error:
        act()
    return f"{type(error.value).__name__}: {error.value}"


def forget_groups():
    """Resets the group count after a group could not be made, since processes are reused."""
    with contextlib.suppress(Exception):
        dist.destroy_process_group()
    dist.distributed_c10d._world.group_count = 0


def two_groups(rank, ranks, root, is_torch, failed):
    """Makes a job of ranks 0 and 1, and another one of ranks 2 and 3, at the same port."""
    number, job = rank % 2, rank // 2
    # Rank 0 listens only until its job is complete: the ranks 1 start after both ranks 0.
    if number == 1:
        wait_for(failed)
    if not is_torch:
        connect = lambda: optireduce.Communicator(rank=number, world_size=2, root=root, job_id=f"job {job}", timeout_s=10)  # noqa: E731
    else:
        host, port = root.split(":")
        timeout = datetime.timedelta(seconds=10)
        connect = lambda: dist.init_process_group(  # noqa: E731
            "optireduce", init_method=f"tcp://{host}:{port}", rank=number, world_size=2, timeout=timeout
        )
    try:
        made = connect()
    except Exception as error:
        failed.touch()
        return f"{type(error).__name__}: {error}"
    finally:
        forget_groups()
    if made is not None:
        made.abort()
    return "connected"


def is_there(rank, ranks, root):
    pass


@pytest.mark.parametrize("is_torch", [False, True])
def test_two_jobs_at_one_port(job, is_torch, tmp_path):
    # Starts all processes.
    job.run(4, is_there)
    found = job.run(4, two_groups, is_torch, tmp_path / "failed")
    # One rank 0 has the port, and the other reports that.
    (lost,) = [rank for rank in (0, 2) if "in use" in found[rank]]
    port = "port" if is_torch else "listen"
    assert port in found[lost], found
    if not is_torch:
        assert [found[lost ^ 2], found[lost ^ 3]] == ["connected"] * 2, found
        # Its rank 1 reaches the other job's rank 0, or no process once that job is complete.
        assert "rank 1 of 2" in found[lost + 1], found
        assert "job" in found[lost + 1] or "was not reached" in found[lost + 1], found


def world_size(rank, ranks, root):
    optireduce.torch.configure(**CALM)
    host, port = root.split(":")
    timeout = datetime.timedelta(seconds=10)
    store = dist.TCPStore(host, int(port), 2, rank == 0, timeout=timeout)
    init = lambda: dist.init_process_group("optireduce", store=store, rank=rank, world_size=2 + rank, timeout=timeout)  # noqa: E731
    said = raised(init)
    store.set(f"done{rank}", "")
    store.wait(["done0", "done1"])
    forget_groups()
    return said


def test_a_wrong_world_size_is_an_error_of_torch_on_every_rank(job):
    for rank, message in enumerate(job.run(2, world_size)):
        assert message.startswith(f"MismatchError: rank {rank} of {2 + rank}: connect: "), message
        assert "world_size" in message and "3 on rank 1" in message and "2 on rank 0" in message, message


class OtherVersion:
    """Proxy between a rank and rank 0 that changes the version in the rank's greeting."""

    def __init__(self, to: str) -> None:
        self._to, self.found = to.split(":"), False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.root = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                theirs, _ = self._listener.accept()
                try:
                    ours = socket.create_connection((self._to[0], int(self._to[1])))
                except OSError:
                    theirs.close()
                    continue
                for source, sink, changes in ((theirs, ours, True), (ours, theirs, False)):
                    threading.Thread(target=self._pump, args=(source, sink, changes), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, changes: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if changes and (at := data.find(b'"version":')) >= 0:
                    at += len(b'"version":')
                    digit = b"2" if data[at : at + 1] == b"1" else b"1"
                    data, self.found = data[:at] + digit + data[at + 1 :], True
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._listener.close()


def another_version(rank, ranks, root):
    if rank == 0:
        return raised(lambda: optireduce.Communicator(rank=0, world_size=2, root=root, timeout_s=10))
    proxy = OtherVersion(root)
    try:
        said = raised(lambda: optireduce.Communicator(rank=1, world_size=2, root=proxy.root, timeout_s=10))
        assert proxy.found
        return said
    finally:
        proxy.close()


def test_another_version_of_the_library_on_one_rank_is_an_error_on_every_rank(job):
    for rank, message in enumerate(job.run(2, another_version)):
        assert message.startswith(f"MismatchError: rank {rank} of 2: connect: "), message
        assert "version" in message and "rank 1" in message, message


def test_a_root_that_nobody_listens_at_is_an_error_that_names_it():
    root = free_root()
    said = raised(lambda: optireduce.Communicator(rank=1, world_size=2, root=root, timeout_s=0.5))
    assert said.startswith("PeerError: rank 1 of 2: connect: ") and root in said, said
