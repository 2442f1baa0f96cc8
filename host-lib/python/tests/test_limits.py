"""Limits of hosts and containers: file sizes, denied system calls, switches with a smaller MTU."""

import os
import platform
import subprocess
import sys

import pytest
from hosts import Hosts, ip, need_root
from ranks import free_root

RANK = """
import sys, numpy, optireduce
with optireduce.Communicator(rank=int(sys.argv[1]), world_size=2, root=sys.argv[2], shared_memory=sys.argv[3], bound_ms=4000, timeout_s=30) as communicator:
    bucket, gradient = communicator.bucket(100_000), numpy.full(100_000, communicator.rank, "float32")
    for _ in range(3):
        assert bucket.all_reduce(gradient).is_applied
    assert (gradient == 0.5).all()
"""
LIMIT_FILES = """
import resource, signal
# As programs that are not Python have it.
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))
"""
DENY_MEMORY_FILES = """
import ctypes, struct
program = [(0x20, 0, 0, 0), (0x15, 0, 1, 319), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, header) == 0
"""


@pytest.mark.parametrize("local", ["auto", "off"])
@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(LIMIT_FILES, id="ulimit -f"),
        pytest.param(
            DENY_MEMORY_FILES, id="no memfd_create", marks=pytest.mark.skipif(platform.machine() != "x86_64", reason="a number of x86-64")
        ),
    ],
)
def test_ranks_without_memory_files_run_without_them(limit, local):
    root = free_root()
    command = lambda rank: [sys.executable, "-c", limit + RANK, str(rank), root, local]  # noqa: E731
    ranks = [subprocess.Popen(command(rank), stderr=subprocess.PIPE, text=True) for rank in range(2)]
    errors = [rank.communicate(timeout=90)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], errors


LARGE = """
import sys, numpy, optireduce
with optireduce.Communicator(rank=int(sys.argv[1]), world_size=2, root="10.91.0.1:29400", timeout_s=20) as communicator:
    bucket, gradient = communicator.bucket(100_000), numpy.ones(100_000, "float32")
    assert bucket.all_reduce(gradient).is_applied
    # One packet of 9000 bytes, unless segments are limited.
    assert communicator.exact.all_gather(bytes(600_000)) == [bytes(600_000)] * 2
"""


@need_root
def test_exact_calls_pass_a_switch_with_a_smaller_mtu_than_the_hosts():
    switch = f"optr{os.getpid()}-switch"
    with Hosts() as hosts:
        ip("netns", "add", switch)
        try:
            ip("-n", switch, "link", "add", "br0", "type", "bridge")
            ip("-n", switch, "link", "set", "br0", "up")
            for host, name in enumerate(hosts.names):
                ip("-n", name, "link", "set", "eth0", "down")
                ip("-n", name, "addr", "flush", "dev", "eth0")
                ip("link", "add", "eth1", "netns", name, "type", "veth", "peer", "name", f"port{host}", "netns", switch)
                ip("-n", switch, "link", "set", f"port{host}", "master", "br0", "mtu", str((9000, 1500)[host]), "up")
                ip("-n", name, "link", "set", "eth1", "mtu", "9000", "up")
                ip("-n", name, "addr", "add", f"{hosts.address(host)}/24", "dev", "eth1")
            for code, errors, _ in hosts.run(lambda host: [sys.executable, "-c", LARGE, str(host)]):
                assert code == 0, errors
        finally:
            subprocess.run(["ip", "netns", "del", switch], check=False, capture_output=True)
