"""The routes of kernels that forward: as they are, and as they change."""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from meshpace.emulation.namespaces import ip
from meshpace.emulation.record import EmulationError, Host

_CLONE_NEWNET = 0x4000_0000
_NETLINK_ROUTE = 0
_IPV4_ROUTES = 0x40
"""RTMGRP_IPV4_ROUTE."""
_NEW, _DELETED = 24, 25
"""RTM_NEWROUTE, RTM_DELROUTE."""
_MAIN = 254
"""RT_TABLE_MAIN."""
_KERNEL = 2
"""RTPROT_KERNEL: the networks of addresses, which no daemon has made."""
_UNICAST = 1
"""RTN_UNICAST; others refuse packets."""
_DESTINATION, _GATEWAY = 1, 5
"""RTA_DST, RTA_GATEWAY (rtnetlink(7))."""
_RECEIVED = 1 << 20
_POLL_S = 0.2
_ANSWER = 1 << 16


@dataclass(frozen=True, slots=True)
class Route:
    """A route of IPv4 that a kernel has not made of its own addresses."""

    node: str
    to: str
    """A node, or a prefix."""
    via: str | None
    """The neighbour, by name if it has one; None: the destination itself is one."""
    device: str
    protocol: str
    """The protocol that made the route, as ``ip route`` names it."""


def read(host: Host, names: Mapping[str, str]) -> list[Route]:
    """The routes of a host; ``names`` are nodes by address.

    Those that refuse packets, which babeld has for a while where it has lost its way, are none.
    """
    rows: list[dict[str, Any]] = json.loads(ip("-n", host.namespace, "-j", "-4", "route", "show") or "[]")
    return [
        Route(
            host.node,
            names.get(row["dst"], row["dst"]),
            names.get(row["gateway"], row["gateway"]) if "gateway" in row else None,
            row.get("dev", ""),
            row.get("protocol", ""),
        )
        for row in rows
        if row.get("protocol") != "kernel" and "type" not in row
    ]


def ways(routes: Iterable[Route]) -> dict[tuple[str, str], list[str] | None]:
    """The nodes that packets pass, by where they set out and where they go; None: they never arrive."""
    next_hop = {(route.node, route.to): route.via or route.to for route in routes}
    return {ends: way(next_hop, *ends) for ends in next_hop}


def way(next_hop: Mapping[tuple[str, str], str], start: str, goal: str) -> list[str] | None:
    """The nodes from one to another by next hops, of a node for a goal; None: packets never arrive."""
    passed = [start]
    while passed[-1] != goal:
        onward = next_hop.get((passed[-1], goal))
        if onward is None or onward in passed:
            return None
        passed.append(onward)
    return passed


@dataclass(frozen=True, slots=True)
class Change:
    """A kernel's route has become another."""

    at: float
    """By the clock (``time.monotonic``)."""
    node: str
    to: str
    via: str | None
    gone: bool
    """It has none any longer; before another takes its place, too."""


class NextHops(dict[tuple[str, str], str]):
    """Where packets go next, of a node for a goal, as routes change."""

    def apply(self, change: Change) -> None:
        """A route has come, or gone."""
        key = (change.node, change.to)
        if not change.gone:
            self[key] = change.via or change.to
        elif change.via is None or self.get(key) == change.via:
            self.pop(key, None)

    def by_goal(self) -> dict[str, list[tuple[str, str]]]:
        """Pairs of a node and the next one, by where they lead."""
        found: dict[str, list[tuple[str, str]]] = {}
        for (node, goal), onward in sorted(self.items()):
            found.setdefault(goal, []).append((node, onward))
        return found


class Watch:
    """Notes what becomes of the routes of hosts, by a thread that sleeps while nothing does.

    ``tell`` is called with the next hops by goal whenever they have changed.
    """

    def __init__(
        self,
        hosts: Iterable[Host],
        names: Mapping[str, str],
        tell: Callable[[Mapping[str, object]], None] | None = None,
    ) -> None:
        self._names = dict(names)
        self._tell = tell
        self._next_hops = NextHops()
        self._sockets = {_listening(host.namespace): host.node for host in hosts}
        self.changes: list[Change] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="routes", daemon=True)

    def begin(self) -> None:
        """From now on."""
        self._thread.start()

    def end(self) -> None:
        """No longer."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        for each in self._sockets:
            each.close()

    def _look(self) -> None:
        while not self._over.is_set():
            before = len(self.changes)
            for readable in select.select(list(self._sockets), [], [], _POLL_S)[0]:
                # ENOBUFS: more came than there was room for. That something has changed is noted with what comes next.
                try:
                    told = readable.recv(_ANSWER)
                except OSError:
                    continue
                self.changes += parse(told, time.monotonic(), self._sockets[readable], self._names)
            if self._tell is not None and len(self.changes) > before:
                for change in self.changes[before:]:
                    self._next_hops.apply(change)
                self._tell(self._next_hops.by_goal())


def parse(told: bytes, at: float, node: str, names: Mapping[str, str]) -> Iterator[Change]:
    """What netlink says of routes that no kernel has made by itself (rtnetlink(7): nlmsghdr, rtmsg, attributes)."""
    while len(told) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(told)
        message, told = told[:length], told[max(_aligned(length), _HEADER.size) :]
        if kind not in (_NEW, _DELETED) or len(message) < _HEADER.size + _ROUTE.size:
            continue
        _, bits, _, _, table, protocol, _, type_, _ = _ROUTE.unpack_from(message, _HEADER.size)
        if table != _MAIN or protocol == _KERNEL or (kind == _DELETED and type_ != _UNICAST):
            continue
        fields = dict(_attributes(message[_HEADER.size + _ROUTE.size :]))
        prefix = str(IPv4Address(fields.get(_DESTINATION, bytes(4))))
        to = names.get(prefix, prefix) if bits == _HOST_BITS else f"{prefix}/{bits}"
        via = str(IPv4Address(fields[_GATEWAY])) if _GATEWAY in fields else None
        gone = kind == _DELETED or type_ != _UNICAST
        yield Change(at, node, to, None if via is None else names.get(via, via), gone)


_HEADER = struct.Struct("=IHHII")
_ROUTE = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE = struct.Struct("=HH")
_HOST_BITS = 32


def _attributes(rest: bytes) -> Iterator[tuple[int, bytes]]:
    while len(rest) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(rest)
        yield kind, rest[_ATTRIBUTE.size : length]
        rest = rest[max(_aligned(length), _ATTRIBUTE.size) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _listening(namespace: str) -> socket.socket:
    """A socket that receives changes of a namespace's routes."""
    with _inside(namespace):
        listens = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_ROUTE)
    listens.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED)
    listens.bind((0, _IPV4_ROUTES))
    listens.setblocking(False)
    return listens


@contextmanager
def _inside(namespace: str) -> Iterator[None]:
    """This thread in a network namespace; a socket that is made there stays (setns(2); os.setns is Python 3.12's)."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(path: Path) -> None:
        with path.open("rb") as there:
            if libc.setns(there.fileno(), _CLONE_NEWNET) != 0:
                raise EmulationError(f"{path}: {os.strerror(ctypes.get_errno())}")

    with Path("/proc/thread-self/ns/net").open("rb") as here:
        enter(Path("/run/netns", namespace))
        try:
            yield
        finally:
            if libc.setns(here.fileno(), _CLONE_NEWNET) != 0:
                raise EmulationError(f"back from {namespace}: {os.strerror(ctypes.get_errno())}")
