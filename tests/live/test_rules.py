"""The firewall rules of a real daemon: each way this kernel has, through kill -9, restarts and `meshpaced undo`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from daemon import Daemon
from net import MESHPACED, Net, run, wait_for
from traffic import Open

WAYS = {
    "iptables-nft": ["ip", "iw", "iptables-nft", "iptables-nft-save", "iptables-nft-restore"],
    "iptables-legacy": ["ip", "iw", "iptables-legacy", "iptables-legacy-save", "iptables-legacy-restore"],
}
FOREIGN = ["FORWARD", "-p", "tcp", "--tcp-flags", "SYN,RST", "SYN", "-j", "CONNMARK", "--set-mark", "1"]


def tools(folder: Path, names: list[str]) -> str:
    """A search path on which there are only these programs, and their IPv6 brothers."""
    path = folder / "bin"
    path.mkdir()
    for name in [*names, *(name.replace("iptables", "ip6tables") for name in names if name.startswith("iptables"))]:
        if (found := shutil.which(name)) is not None:
            (path / name).symlink_to(found)
    return str(path)


class Gateway:
    """`meshpaced gateway` with a search path of its own; waits until its rules are there."""

    def __init__(self, net: Net, path: str | None = None, more: str = "") -> None:
        self.net = net
        self.environment = {**os.environ, **({"PATH": path} if path else {})}
        # Writes the file only.
        self.daemon = Daemon(net, "observe", more=more)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Gateway:
        self.daemon.errors.write_bytes(b"")
        words = self.words("gateway")
        with self.daemon.errors.open("ab") as errors:
            self.process = subprocess.Popen(words, stderr=errors, env=self.environment)
        wait_for(self.serves)
        return self

    def serves(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.daemon.said()
        return "on queue" in self.daemon.said()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=20)

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(timeout=20) == 0, self.daemon.said()

    def undo(self) -> str:
        done = subprocess.run(self.words("undo"), env=self.environment, capture_output=True, text=True, check=True)
        return str(done.stdout)

    def words(self, command: str) -> list[str]:
        """A command of ours in the gateway's namespace; `ip` is found whatever the search path."""
        enter = [shutil.which("ip") or "ip", "netns", "exec", self.net.gw]
        return [*enter, str(MESHPACED), command, "--config", str(self.daemon.file)]


def saved(net: Net, way: str) -> str:
    """The rules of both IP versions, without comments, counters and the ports that each daemon draws."""
    lines = [
        line
        for six in ("", "6")
        for line in run("ip", "netns", "exec", net.gw, f"ip{six}{way[2:]}-save", "-t", "security").splitlines()
        if line.startswith("-A")
    ]
    return re.sub(r"port \d+", "port N", "\n".join(lines))


@pytest.mark.parametrize("way", WAYS)
def test_each_way_through_kill_restart_and_undo(tmp_path: Path, way: str) -> None:
    with Net(tmp_path, None, room="c") as net:
        for six in ("", "6"):
            run("ip", "netns", "exec", net.gw, f"ip{six}{way[2:]}", "-t", "security", "-A", *FOREIGN)
        before = saved(net, way)
        gateway = Gateway(net, tools(tmp_path, WAYS[way])).start()
        assert f"rules by {way}" in gateway.daemon.said()
        assert saved(net, way).count("--queue-num 19792 --queue-bypass") == 4
        connection = Open(net)
        exchange(connection, b"through the queue")
        gateway.kill()
        exchange(connection, b"past a dead daemon")
        left = saved(net, way)
        gateway.start()
        assert "replaced" in gateway.daemon.said()
        assert saved(net, way) == left
        exchange(connection, b"through the next daemon")
        gateway.kill()
        *rules, socket = gateway.undo().splitlines()
        assert rules == [
            f"removed {program}: {rules} of table {table}"
            for program in (way, way.replace("iptables", "ip6tables"))
            for table, rules in (("security", "8 rules"), ("raw", "1 rule"))
        ]
        assert socket.startswith("removed the control socket ")
        assert saved(net, way) == before
        exchange(connection, b"and without rules")
        assert gateway.undo() == "nothing to remove\n"


def exchange(connection: Open, text: bytes) -> None:
    """A text each way."""
    for sender, receiver in ((connection.srv, connection.cli), (connection.cli, connection.srv)):
        sender.sendall(text)
        got = b""
        while len(got) < len(text):
            got += receiver.recv(len(text) - len(got))
        assert got == text


def test_an_orderly_end_leaves_nothing(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="c") as net:
        gateway = Gateway(net).start()
        gateway.stop()
        assert "meshpaced" not in saved(net, "iptables-nft")
        assert "meshpaced" not in run("ip", "netns", "exec", net.gw, "nft", "list", "ruleset")
        assert gateway.undo() == "nothing to remove\n"


def test_stale_rules_are_replaced_without_a_moment_without_any(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="c") as net:
        gateway = Gateway(net, tools(tmp_path, WAYS["iptables-nft"])).start()
        gateway.kill()
        looks: list[int] = []
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                looks.append(saved(net, "iptables-nft").count("--queue-bypass"))

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            restarts = 0
            while restarts < 5 or len(looks) < 20:
                gateway.start().kill()
                restarts += 1
        finally:
            done.set()
            watcher.join()
        # The two IP versions are replaced one after the other, each at once.
        assert set(looks) == {4}, looks


def test_an_unusable_machine_says_every_reason(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="c") as net:
        gateway = Gateway(net, tools(tmp_path, ["ip"]))
        words = gateway.words("gateway")
        ended = subprocess.run(words, env=gateway.environment, capture_output=True, text=True, timeout=30, check=False)
        assert ended.returncode == 1
        assert "no way to queue packets for the daemon: neither nft nor iptables is installed" in ended.stderr
