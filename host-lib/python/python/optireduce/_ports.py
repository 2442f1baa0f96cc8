"""Free ports for rank 0."""

import random
import socket
from pathlib import Path

_PORT_MIN, _TRIES = 10_000, 100


def join(host: str, port: int) -> str:
    """Returns host:port, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def free_port(host: str) -> int:
    """Returns an unused port of this host outside the kernel's ephemeral range, so that no other
    connection takes it before rank 0 listens."""
    first, last = (int(text) for text in Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = range(_PORT_MIN, first) if first > _PORT_MIN + _TRIES else range(last + 1, 1 << 16)
        # Not the program's generator, which ranks may have seeded alike.
    for port in random.SystemRandom().sample(ports, min(_TRIES, len(ports))):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
            try:
                listener.bind((host, port))
            except OSError:
                continue
            return port
    raise OSError(f"{host}: none of {_TRIES} ports from {ports.start} to {ports.stop - 1} is free")
