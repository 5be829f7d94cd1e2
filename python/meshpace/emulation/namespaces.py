"""Hosts as network namespaces: making them, and removing them with all that runs there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from meshpace.emulation.record import EmulationError, Host, Record

WIRED_DEVICE = "wired0"
"""What the engine calls a gateway's device toward the wired links (crates/emulator); others are in a host's record."""

STATIC = 4
"""RTPROT_STATIC (rtnetlink(7)), which the routes that are made here have."""

_EACH = ("all", "default")
_GATEWAY = {"ipv4/ip_forward": 1, "ipv6/conf/all/forwarding": 1}
_ROUTER = {
    **_GATEWAY,
    **{f"ipv4/conf/{which}/{key}": 0 for which in _EACH for key in ("send_redirects", "accept_redirects", "rp_filter")},
    **{f"ipv6/conf/{which}/{key}": 0 for which in _EACH for key in ("accept_redirects", "accept_dad")},
}
"""Settings of the kernel below /proc/sys/net (ip-sysctl.rst) for a router whose way on is often the device by which a
packet came: no redirects, and no packet refused for the way by which it came. Addresses of links are made of those of
the radios: nobody else has them, and nobody is asked (RFC 4862, 5.4)."""

_OWN_FILES = Path("/etc/netns")
"""Files here stand in for those of /etc in a namespace (ip-netns(8))."""

_PATIENCE_S = 10.0
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def ip(*words: str, lines: Sequence[str] = ()) -> str:
    """What ``ip`` answers; ``lines`` are commands for its batch mode.

    Raises:
        EmulationError: it is not there, or refuses.
    """
    try:
        done = subprocess.run(
            ["ip", *words],  # noqa: S607 - where it is differs from system to system
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise EmulationError("ip is missing (Debian: iproute2), which makes the network namespaces") from None
    if done.returncode != 0:
        raise EmulationError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def make(hosts: Iterable[Host]) -> None:
    """Makes the hosts, with nothing but loopback yet. Each knows all by name, and NODE.v6 by its IPv6 address."""
    hosts = list(hosts)
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for host in hosts:
        if _HOST_NAME.fullmatch(host.node):
            lines += [f"{host.address} {host.node}", f"{host.address6} {host.node}.v6"]
    for host in hosts:
        ip("netns", "add", host.namespace)
        ip("-n", host.namespace, "link", "set", "lo", "up")
        own = _OWN_FILES / host.namespace
        own.mkdir(parents=True, exist_ok=True)
        (own / "hosts").write_text("\n".join([*lines, ""]), encoding="utf-8")
        settings = _ROUTER if host.radios else _GATEWAY if host.gateway else {}
        if settings:
            writes = " && ".join(f"echo {value} > /proc/sys/net/{key}" for key, value in settings.items())
            ip("netns", "exec", host.namespace, "/bin/sh", "-c", writes)


def route(hosts: Iterable[Host], wired: Iterable[str]) -> None:
    """Sends everything through the device, once the engine has made it.

    From a gateway what is for the wired addresses, and for nobody that is known, goes through its second one. A node
    whose device carries frames reaches its neighbours; all else is its own affair, or its routing daemon's.
    """
    wired = list(wired)
    for host in hosts:
        everywhere = ["0.0.0.0/0", "::/0"]
        if host.gateway:
            goals = [*everywhere, *(goal for address in wired for goal in (f"{address}/32", f"fd77::{address}/128"))]
            device = WIRED_DEVICE
        elif host.radios:
            continue
        else:
            goals, device = everywhere, host.devices[0]
        ip(
            "-n",
            host.namespace,
            "-batch",
            "-",
            lines=[f"route add {goal} dev {device} proto {STATIC}" for goal in goals],
        )


def within(host: Host, command: Sequence[str]) -> list[str]:
    """The command that runs a command on a host."""
    return ["ip", "netns", "exec", host.namespace, *command]


def remove(record: Record) -> None:
    """Ends everything of an emulation that still runs and removes everything that it has made. What is gone is gone."""
    if record.engine is not None and record.engine.runs():
        with suppress(ProcessLookupError):
            os.kill(record.engine.pid, signal.SIGKILL)
    for host in record.hosts:
        if Path("/run/netns", host.namespace).exists():
            _end_processes(host.namespace)
            ip("netns", "del", host.namespace)
        shutil.rmtree(_OWN_FILES / host.namespace, ignore_errors=True)
    with suppress(OSError):
        _OWN_FILES.rmdir()  # if no other program has files there
    shutil.rmtree(record.folder, ignore_errors=True)


def _end_processes(namespace: str) -> None:
    """Kills what runs in a namespace, and what that starts meanwhile."""
    end = time.monotonic() + _PATIENCE_S
    while found := [int(pid) for pid in ip("netns", "pids", namespace).split()]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > end:
            raise EmulationError(f"processes {found} in the namespace {namespace} do not end")
        time.sleep(0.01)
