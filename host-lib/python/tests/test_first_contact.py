"""First contact of ranks on two hosts: launchers, kinds of address, and ways to meet."""

import itertools
import os
import pathlib
import sys

import pytest
from hosts import Hosts, need_root

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", pathlib.Path(__file__).resolve().parents[3] / "target"))
COMMAND = next((path for path in (TARGET / "debug" / "optireduce", TARGET / "release" / "optireduce") if path.exists()), None)
ADDRESSES = {"IPv4": "10.91.0.1", "IPv6": "fd91::1", "name": "node0"}
LAUNCHERS, MEETINGS = ("torchrun", "mpirun", "spawn"), ("env", "tcp", "file")
# All cases in one process: importing torch takes seconds.
RANK = """
import datetime, os, sys, torch, torch.distributed as dist, optireduce.torch
rank, folder, cases = int(sys.argv[1]), sys.argv[2], [case.split(",") for case in sys.argv[3:]]
clean = dict(os.environ)
for number, (launcher, meeting, address) in enumerate(cases):
    os.environ.clear()
    os.environ.update(clean)
    place = {"torchrun": {"RANK": rank, "WORLD_SIZE": 2, "TORCHELASTIC_RUN_ID": number}, "spawn": {}}.get(launcher)
    place = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": 2} if place is None else place
    port = 29000 + number
    if meeting == "env" or launcher == "torchrun":
        place = {**place, "MASTER_ADDR": address, "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()})
    host = f"[{address}]" if ":" in address else address
    method = {"env": "env://", "tcp": f"tcp://{host}:{port}", "file": f"file://{folder}/{number}"}[meeting]
    given = {} if launcher == "torchrun" and meeting == "env" else {"rank": rank, "world_size": 2}
    try:
        dist.init_process_group("optireduce", init_method=method, timeout=datetime.timedelta(seconds=20), **given)
        values = torch.full((3,), rank + 1.0)
        dist.all_reduce(values)
        group = dist.new_group([0, 1])
        dist.all_reduce(values, group=group)
        assert values.tolist() == [6.0] * 3
        dist.destroy_process_group()
        print(launcher, meeting, address, "well", flush=True)
    except Exception as error:
        print(launcher, meeting, address, type(error).__name__, error, flush=True)
        # The other rank may still wait for this one.
        sys.exit(1)
"""


@pytest.fixture(scope="module")
def hosts():
    with Hosts() as hosts:
        yield hosts


@need_root
def test_torch_meets_by_every_launcher_address_and_method(hosts, tmp_path):
    cases = [",".join(case) for case in itertools.product(LAUNCHERS, MEETINGS, ADDRESSES.values())]
    found = hosts.run(lambda host: [sys.executable, "-c", RANK, str(host), str(tmp_path), *cases], 300)
    expected = "".join(case.replace(",", " ") + " well\n" for case in cases)
    for _, errors, output in found:
        assert output == expected, output + errors


@need_root
@pytest.mark.skipif(COMMAND is None, reason="the command is not built: cargo build -p optireduce-cli")
def test_the_command_meets_by_every_launcher_and_address(hosts):
    for port, (launcher, address) in enumerate(itertools.product(("torchrun", "mpirun", "spawn"), ADDRESSES.values()), 29200):
        host = f"[{address}]" if ":" in address else address

        def rank(number, launcher=launcher, address=address, root=f"{host}:{port}", port=port):
            place = {
                "torchrun": [f"RANK={number}", "WORLD_SIZE=2", f"MASTER_ADDR={address}", f"MASTER_PORT={port}"],
                "mpirun": [f"OMPI_COMM_WORLD_RANK={number}", "OMPI_COMM_WORLD_SIZE=2", f"OPTIREDUCE_ROOT={root}"],
                "spawn": [],
            }[launcher]
            flags = [] if place else ["--rank", str(number), "--world-size", "2", "--root", root]
            return ["env", *place, str(COMMAND), "run", *flags, "--bench", "4K", "--secs", "0.1", "--timeout-s", "20"]

        for code, errors, _ in hosts.run(rank):
            assert code == 0, f"{launcher}, {address}: {errors}"


@need_root
@pytest.mark.skipif(COMMAND is None, reason="the command is not built: cargo build -p optireduce-cli")
@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("127.0.0.1:29300", ["rank 0 was not reached at 127.0.0.1:29300", "A loopback address reaches only the host of rank 0"]),
        ("[fe80::1%eth0]:29300", ["link-local", "global or unique-local IPv6 address"]),
        ("fd91::1", ["root is", "brackets around an IPv6 address"]),
    ],
)
def test_an_address_that_another_host_cannot_use_is_an_error_that_says_what_to_set(hosts, root, said):
    flags = ["run", "--rank", "1", "--world-size", "2", "--root", root, "--bench", "4K", "--timeout-s", "2"]
    rank = hosts.start(1, str(COMMAND), *flags)
    _, errors = rank.communicate(timeout=60)
    assert rank.returncode == 2 and all(part in errors for part in said), errors


LOST = """
import datetime, sys, torch.distributed as dist, optireduce.torch
dist.init_process_group("optireduce", init_method=sys.argv[2], rank=int(sys.argv[1]), world_size=2, timeout=datetime.timedelta(seconds=5))
"""


@need_root
def test_a_loopback_address_for_another_host_is_refused_at_once(hosts, tmp_path):
    command = lambda host: [sys.executable, "-c", LOST, str(host), f"file://{tmp_path}/store"]  # noqa: E731
    (_, _, _), (code, errors, _) = hosts.run(command, MASTER_ADDR="127.0.0.1")
    assert code == 1 and "rank 0 is on another host, and listens at the loopback address 127.0.0.1:" in errors, errors
    assert "set MASTER_ADDR or init_method" in errors, errors
