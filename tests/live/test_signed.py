"""Connections signed by TCP's MD5 option (RFC 2385), as BGP sessions are: the gateway changes nothing in them."""

from __future__ import annotations

import socket
import struct
import threading
from pathlib import Path

from daemon import Daemon
from net import CLIENT, SERVER, Net, run
from traffic import receive_all, text

TCP_MD5SIG = 14  # linux/tcp.h
SIZE = 200_000


def sign(end: socket.socket, peer: str) -> None:
    """Signs what goes to the peer and believes nothing unsigned from it (struct tcp_md5sig)."""
    address = struct.pack("=H2x4s120x", socket.AF_INET, socket.inet_aton(peer))
    key = b"between routers"
    end.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, address + struct.pack("=BBHi80s", 0, 0, len(key), 0, key))


def refused(namespace: str) -> int:
    """How many segments the namespace's kernel threw away because of their signatures (proc_pid_net(5))."""
    lines = run("ip", "netns", "exec", namespace, "cat", "/proc/net/netstat").splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith("TcpExt:"))
    counted = dict(zip(names, map(int, values), strict=True))
    return sum(counted[name] for name in ("TCPMD5NotFound", "TCPMD5Unexpected", "TCPMD5Failure"))


def test_no_signature_is_broken(tmp_path: Path) -> None:
    with Net(tmp_path, room="s") as net, Daemon(net, "pace") as daemon:
        down, up = text(1, SIZE), text(2, SIZE)
        with net.listen(net.srv) as door:
            sign(door, CLIENT[4])
            calling = net.socket(net.cli)
            sign(calling, SERVER[4])
            calling.connect((SERVER[4], door.getsockname()[1]))
            called, _ = door.accept()
        called.settimeout(60)
        with calling, called:
            for end, data in ((called, down), (calling, up)):
                threading.Thread(target=send, args=(end, data), daemon=True).start()
            results: dict[str, bytes] = {}
            reader = threading.Thread(target=lambda: results.update(up=receive_all(called)), daemon=True)
            reader.start()
            assert receive_all(calling) == down
            reader.join(60)
            assert results.get("up") == up
        assert [refused(name) for name in (net.srv, net.cli)] == [0, 0]
        assert daemon.status()["traffic"]["unread"]["signed"] > 2 * SIZE / 1500
        assert daemon.status()["flows"]["known"] == 0


def send(end: socket.socket, data: bytes) -> None:
    """All of it, and that it was all."""
    end.sendall(data)
    end.shutdown(socket.SHUT_WR)
