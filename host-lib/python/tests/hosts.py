"""Two hosts on one machine: network namespaces with one link."""

import os
import pathlib
import shutil
import subprocess
from typing import Any

import pytest

need_root = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="hosts need root and iproute2")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Hosts:
    """Hosts `node0` and `node1`, which know their own names as 127.0.1.1, as Debian's do."""

    def __init__(self) -> None:
        self.names = [f"optr{os.getpid()}-{host}" for host in range(2)]

    def address(self, host: int, family: int = 4) -> str:
        return f"10.91.0.{host + 1}" if family == 4 else f"fd91::{host + 1}"

    def __enter__(self) -> "Hosts":
        try:
            for name in self.names:
                ip("netns", "add", name)
            ip("link", "add", "eth0", "netns", self.names[0], "type", "veth", "peer", "name", "eth0", "netns", self.names[1])
            for host, name in enumerate(self.names):
                ip("-n", name, "link", "set", "lo", "up")
                ip("-n", name, "link", "set", "eth0", "up")
                ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
                ip("-n", name, "addr", "add", f"{self.address(host, 6)}/64", "dev", "eth0", "nodad")
                # `ip netns exec` mounts it over /etc/hosts.
                folder = pathlib.Path("/etc/netns", name)
                folder.mkdir(parents=True)
                lines = [f"{'127.0.1.1' if one == host else self.address(one)} node{one}\n" for one in range(2)]
                (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(lines))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
            shutil.rmtree(f"/etc/netns/{name}", ignore_errors=True)

    def start(self, host: int, *command: str, **environment: str) -> "subprocess.Popen[str]":
        """Starts a command on a host, without the variables of a launcher."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MASTER_", "OPTIREDUCE_", "RANK", "WORLD_SIZE"))}
        given = {"env": {**kept, **environment}, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(["ip", "netns", "exec", self.names[host], *command], **given)

    def run(self, command: Any, timeout_s: float = 120, **environment: str) -> list[tuple[int, str, str]]:
        """Runs `command(host)` on both hosts; returns exit codes and outputs."""
        ranks = [self.start(host, *command(host), **environment) for host in range(2)]
        try:
            said = [rank.communicate(timeout=timeout_s) for rank in ranks]
            return [(rank.returncode, errors, output) for rank, (output, errors) in zip(ranks, said)]
        finally:
            for rank in ranks:
                rank.kill()
