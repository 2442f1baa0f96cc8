"""Free ports for rank 0."""

import random
import socket
from pathlib import Path

_PORT_MIN, _TRIES = 10_000, 100


def free_port(host: str) -> int:
    """A port of this host that nothing listens on, below those that the kernel hands out: another connection does not get it before
    rank 0 listens there."""
    first, last = (int(text) for text in Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = range(_PORT_MIN, first) if first > _PORT_MIN + _TRIES else range(last + 1, 1 << 16)
    # Not the program's generator: ranks may have seeded it alike.
    for port in random.SystemRandom().sample(ports, min(_TRIES, len(ports))):
        with socket.socket() as listener:
            try:
                listener.bind((host, port))
            except OSError:
                continue
            return port
    raise OSError(f"{host}: none of {_TRIES} ports from {ports.start} to {ports.stop - 1} is free")
