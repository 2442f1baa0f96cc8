"""Checks of a machine and its network before a job, and the settings that the job would choose."""

import importlib.metadata
import ipaddress
import os
import platform
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy

from . import Communicator, HaltError, OptiReduceError, __version__
from ._optireduce import own_address
from ._ports import free_port, join

# Socket buffer that a communicator requests for datagrams.
BUFFER_BYTES = 8 << 20
# From <linux/udp.h>.
UDP_SEGMENT, UDP_GRO = 103, 104
#: Timeout of measurements.
TIMEOUT_S = 10
MEASURED_BYTES, MEASURED_CALLS = 1 << 20, 60


@dataclass(frozen=True)
class Finding:
    """Result of one check."""

    name: str
    found: str
    #: "fails" if a job cannot run, "slow" if it runs slower than it could.
    verdict: Literal["ok", "slow", "fails"] = "ok"
    cure: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    def __str__(self) -> str:
        line = f"{self.verdict:5}  {self.name:22} {self.found}"
        return f"{line}\n{'':29}-> {self.cure}" if self.cure else line


def can_run(findings: list[Finding]) -> bool:
    return all(finding.verdict != "fails" for finding in findings)


def examine(root: str | None, job: bool) -> list[Finding]:
    """Runs all checks."""
    findings = [*versions(), cores(), *buffers(), offloads(), *network(root)]
    if can_run(findings):
        findings += [*between_ranks()] if job else [*on_this_machine()]
    return findings


def versions() -> Iterator[Finding]:
    yield Finding("versions", f"optireduce {__version__}, Python {platform.python_version()}, Linux {platform.release()}")
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        yield Finding("torch", "not installed")
        return
    if tuple(int(part) for part in torch.split("+")[0].split(".")[:2]) >= (2, 15):
        yield Finding("torch", torch)
    else:
        cure = "update torch, or use optireduce.torch.comm_hook with gloo"
        yield Finding("torch", f"{torch}: no backend in Python, expected 2.15 or later", "slow", cure)


def cores() -> Finding:
    own, ranks = len(os.sched_getaffinity(0)), int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    found = f"{own} for {ranks} rank{'s' * (ranks > 1)} of this host"
    if own > ranks:
        return Finding("cores", found)
    return Finding("cores", found, "slow", "start fewer ranks, or pin threads: a rank that waits for a core is late for its peers")


def buffers() -> Iterator[Finding]:
    for name, option in (("rmem_max", socket.SO_RCVBUF), ("wmem_max", socket.SO_SNDBUF)):
        allowed = int(Path(f"/proc/sys/net/core/{name}").read_text())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
            # The kernel reports twice the requested size.
            granted = probe.getsockopt(socket.SOL_SOCKET, option) // 2
        found = f"{granted >> 10} KiB of {BUFFER_BYTES >> 10} KiB (net.core.{name} = {allowed})"
        # Root may exceed rmem_max.
        if granted >= BUFFER_BYTES or (name == "rmem_max" and os.geteuid() == 0):
            yield Finding(f"socket buffer {name[0]}x", found)
        else:
            yield Finding(f"socket buffer {name[0]}x", found, "slow", f"sysctl -w net.core.{name}={BUFFER_BYTES}")


def offloads() -> Finding:
    missing = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for name, option, value in (("GSO", UDP_SEGMENT, 1400), ("GRO", UDP_GRO, 1)):
            try:
                probe.setsockopt(socket.IPPROTO_UDP, option, value)
            except OSError:
                missing.append(name)
    if not missing:
        return Finding("UDP GSO, GRO", "both")
    return Finding("UDP GSO, GRO", f"without {' and '.join(missing)}", "slow", "use Linux 5.0 or later: every packet costs a system call")


def network(root: str | None) -> Iterator[Finding]:
    master, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    root = root or os.environ.get("OPTIREDUCE_ROOT") or (join(master, int(port)) if master and port else None)
    host, _, given = (root or "127.0.0.1:0").rpartition(":")
    host = host.strip("[]")
    try:
        own = own_address(host)
        address = str(socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)[0][4][0])
    except (OSError, OptiReduceError) as error:
        cure = "give --root host:port with a name or address that this host can resolve"
        yield Finding("root", f"{root}: {error}", "fails", cure)
        return
    interface = interface_of(own)
    mtu = int(Path(f"/sys/class/net/{interface}/mtu").read_text()) if interface else 1500
    better = "" if mtu >= 4000 else "an MTU of 9000 needs a sixth of the packets, if all hosts and switches support it"
    yield Finding("interface", f"{interface or '?'}, {own}, MTU {mtu}", "ok" if mtu >= 1500 else "slow", better)
    if root and own != address and not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        yield reached(root, address, int(given))


def interface_of(address: str) -> str | None:
    """Returns the name of the interface with this address."""
    import fcntl
    import struct

    if ipaddress.ip_address(address).is_loopback:
        return "lo"
    if ":" in address:
        lines = (line.split() for line in Path("/proc/net/if_inet6").read_text().splitlines())
        packed = ipaddress.ip_address(address).packed.hex()
        return next((name for found, *_, name in lines if found == packed), None)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                # SIOCGIFADDR
                answer = fcntl.ioctl(probe.fileno(), 0x8915, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return None


def reached(root: str, address: str, port: int) -> Finding:
    try:
        socket.create_connection((address, port), timeout=3).close()
    except ConnectionRefusedError:
        return Finding("root", f"{root}: the host answers, but nothing listens on the port yet")
    except OSError as error:
        cure = "allow TCP and UDP between the hosts, and check the address"
        return Finding("root", f"{root}: {error}", "fails", cure)
    return Finding("root", f"{root}: a process listens")


def measure(communicator: Communicator) -> dict[str, Any]:
    """Measures loss and times of all-reduces of 1 MiB."""
    bucket = communicator.bucket(MEASURED_BYTES // 4)
    gradient, times_ms, reports = numpy.zeros(bucket.elements, "float32"), [], []
    for _ in range(MEASURED_CALLS):
        communicator.barrier()
        begin = time.perf_counter()
        try:
            reports.append(bucket.all_reduce(gradient))
        except HaltError as error:
            reports += [error.report] if error.report is not None else []
        times_ms.append((time.perf_counter() - begin) * 1e3)
    bucket.settle()
    expected, lost = sum(one.expected_bytes for one in reports), sum(one.lost_bytes for one in reports)
    late = sorted({rank for one in reports for rank in one.late_ranks})
    # The first calls measure the bound.
    p50_ms, p99_ms = numpy.percentile(times_ms[20:], [50, 99])
    return {
        "loss": lost / max(expected, 1),
        "p50_ms": float(p50_ms),
        "p99_ms": float(p99_ms),
        "late": late,
        "bound_ms": reports[-1].bound_ms,
        "is_hadamard": reports[-1].is_hadamard,
    }


def on_this_machine() -> Iterator[Finding]:
    """Measures two ranks on this machine, without a network."""
    root = f"127.0.0.1:{free_port('127.0.0.1')}"
    found: dict[int, Any] = {}

    def rank(number: int) -> None:
        try:
            with Communicator(rank=number, world_size=2, root=root, timeout_s=TIMEOUT_S) as communicator:
                found[number] = measure(communicator)
        except OptiReduceError as error:
            found[number] = error

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield from told("2 ranks, loopback", found[0])


def between_ranks() -> Iterator[Finding]:
    """Measures the ranks of the launcher's job."""
    name = "the job's ranks"
    found: Any
    try:
        with Communicator(timeout_s=TIMEOUT_S) as communicator:
            name = f"{communicator.world_size} ranks"
            found = measure(communicator)
    except OptiReduceError as error:
        found = error
    yield from told(name, found)


def told(name: str, found: Any) -> Iterator[Finding]:
    if isinstance(found, Exception):
        yield Finding(name, str(found), "fails", "see the error; start all ranks with the same launcher and settings")
        return
    tail = found["p99_ms"] / found["p50_ms"]
    text = f"1 MiB in {found['p50_ms']:.2f} ms (p50), {found['p99_ms']:.2f} ms (p99, x{tail:.1f}), {100 * found['loss']:.3f} % lost"
    late = f"; late ranks: {found['late']}" if found["late"] else ""
    is_slow = found["loss"] > 0.02
    cure = "check the socket buffers, and other load on these cores" if is_slow else ""
    yield Finding(name, text + late, "slow" if is_slow else "ok", cure)
    encoded = "encoded" if found["is_hadamard"] else "not encoded"
    yield Finding("a job would choose", f"a stage bound of {found['bound_ms']:.1f} ms, {encoded}")


