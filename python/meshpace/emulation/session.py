"""An emulation from its scenario to its result, and everything removed at the end whatever that is."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshpace import engine
from meshpace.emulation import machine, namespaces, record, verdict
from meshpace.emulation.collect import add_flows, iperf3_flows
from meshpace.emulation.ending import ended_by_signals
from meshpace.emulation.engine import Engine, Order
from meshpace.emulation.record import EmulationError, Host, Record, safe
from meshpace.emulation.runs import Run, run_all
from meshpace.engine import Job
from meshpace.files import replacing

if TYPE_CHECKING:
    from meshpace.emulation.view.server import View

_PREFIX = IPv6Address("fd77::")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be emulated."""

    job: Job
    name: str | None = None
    """By default the scenario's."""
    extra_hosts: tuple[str, ...] = ()
    """Nodes that are real hosts beside those that the scenario names."""
    dilation: float = 1.0
    pcap: Path | None = None
    view: bool = False
    """Shown in a browser while it runs (:mod:`meshpace.emulation.view`)."""
    view_port: int | None = None
    """Where; None: on a port that is free."""


@dataclass(frozen=True, slots=True)
class Emulated:
    """What came of it."""

    result: dict[str, Any]
    """As ``meshpace run --json``, and what an emulation adds."""
    complaints: tuple[str, ...]
    """Commands that failed, or whose output was none that could be collected."""


def emulate(plan: Plan) -> Emulated:
    """Emulates.

    Raises:
        ScenarioError: the scenario cannot be run.
        EmulationError: it cannot be emulated here.
        OSError: the capture cannot be written.
    """
    if os.geteuid() != 0:
        raise EmulationError(
            "emulate needs root: network namespaces and TUN devices (CAP_NET_ADMIN, CAP_SYS_ADMIN); this is user "
            f"{os.geteuid()}"
        )
    resolved = engine.resolve(plan.job)
    name = safe(plan.name or resolved["name"])
    hosts = _hosts(plan, resolved, name)
    known = {host.node: host for host in hosts}
    runs = [
        Run(known[row["node"]], row["run"], row["start_s"], row["collect"])
        for row in resolved["emulated_hosts"]
        if row["run"] is not None
    ]
    mine = Record(name=name, owner=record.this_process(), hosts=hosts)
    with ExitStack() as stack:
        stack.enter_context(ended_by_signals())
        capture = stack.enter_context(replacing(plan.pcap)) if plan.pcap else None
        view = stack.enter_context(_viewed(plan, resolved, hosts, name)) if plan.view else None
        record.begin(mine)
        stack.callback(lambda: _removed_undisturbed(mine))
        namespaces.make(hosts)
        order = mine.folder / "order.json"
        sink = None if view is None else view.sink
        Order(plan.job, hosts, plan.dilation, capture, sink).write(order)
        process = Engine(order, mine.folder / "result.json", () if sink is None else (sink,))
        stack.callback(process.stop)
        mine = replace(mine, engine=record.Process.of(process.process.pid))
        mine.write()
        if view is not None:
            view.begin()
        process.wait_until_ready()
        namespaces.route(hosts, [node["address"] for node in resolved["wired"]])
        zero = time.monotonic()
        process.begin()
        run_all(runs, mine.folder, zero, plan.dilation, process)
        result = process.result()
        if view is not None:
            view.over(["The emulation has come to its end.", *verdict.in_words(result)])
        return _result(result, resolved, hosts, runs, plan.dilation)


def _viewed(plan: Plan, resolved: dict[str, Any], hosts: Sequence[Host], name: str) -> AbstractContextManager[View]:
    # Not by every emulation: what serves and draws takes longer to load than all else here.
    from meshpace.emulation.view.page import page
    from meshpace.emulation.view.server import serving

    return serving(page(resolved, hosts, name, plan.dilation), plan.view_port)


def _hosts(plan: Plan, resolved: dict[str, Any], name: str) -> tuple[Host, ...]:
    addresses = {node["id"]: node["address"] for node in (*resolved["mesh"], *resolved["wired"])}
    for node in plan.extra_hosts:
        if node not in addresses:
            raise EmulationError(f"--host: found {node!r}; allowed: {', '.join(list(addresses)[:12])}")
    nodes = list(dict.fromkeys([*(row["node"] for row in resolved["emulated_hosts"]), *plan.extra_hosts]))
    if not nodes:
        raise EmulationError(
            f"{plan.job.name}: emulate.host: found nothing; allowed: tables [[emulate.host]] whose node becomes a real "
            "host, or --host NODE"
        )
    gateways = {node["id"] for node in resolved["mesh"] if node["gateway"]}
    hosts: list[Host] = []
    for node in nodes:
        namespace = f"mp-{name}-{safe(node)}"
        if any(host.namespace == namespace for host in hosts):
            namespace += f"-{len(hosts)}"
        hosts.append(Host(node, namespace, addresses[node], _address6(addresses[node]), node in gateways))
    return tuple(hosts)


def _result(
    result: dict[str, Any], resolved: dict[str, Any], hosts: Sequence[Host], runs: Sequence[Run], dilation: float
) -> Emulated:
    complaints = []
    of_address = {node["address"]: node["id"] for node in (*resolved["mesh"], *resolved["wired"])}
    of_address |= {_address6(address): node for address, node in of_address.items()}
    flows = []
    for run in runs:
        if run.collect == "iperf3":
            try:
                flows += iperf3_flows(run, of_address, result["traffic"], dilation)
            except EmulationError as error:
                complaints.append(str(error))
                continue
        if run.status:
            complaints.append(f"{run.host.node}: {run.command}: ended with status {run.status}")
    add_flows(result, flows)
    result["hosts"] = [
        {
            "node": host.node,
            "namespace": host.namespace,
            "address": host.address,
            "address6": host.address6,
            "gateway": host.gateway,
        }
        for host in hosts
    ]
    result["runs"] = [run.row() for run in runs]
    result["machine"] = machine.facts()
    result["verdict"] = verdict.in_words(result)
    return Emulated(result, tuple(complaints))


def _address6(address: str) -> str:
    """A node's IPv6 address, which ends in its IPv4 one, in the form in which programs print it (RFC 5952)."""
    return str(IPv6Address(int(_PREFIX) + int(IPv4Address(address))))


def _removed_undisturbed(mine: Record) -> None:
    """Whoever presses Ctrl-C twice must not stop the removal half-way."""
    ours = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ours}
    try:
        namespaces.remove(record.read(mine.name) or mine)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def clean() -> tuple[list[str], list[str]]:
    """Removes what emulations that were killed have left: their names, and those that run and stay."""
    removed, left = [], []
    for name in list(record.names()):
        found = record.read(name)
        if found is not None and found.owner.runs():
            left.append(f"{name} runs (process {found.owner.pid})")
            continue
        # Killed before it was written down: nothing was made.
        namespaces.remove(found or Record(name=name, owner=record.this_process(), hosts=()))
        removed.append(name)
    return removed, left


def execute(node: str, command: Sequence[str], name: str | None) -> None:
    """Becomes a command on a host of a running emulation.

    Raises:
        EmulationError: there is no such host, or no ``ip``.
    """
    host = record.running(name).host(node)
    sys.stdout.flush()
    os.environ["MESHPACE_NODE"] = node
    words = namespaces.within(host, command)
    try:
        os.execvp(words[0], words)  # noqa: S606 - without a shell
    except FileNotFoundError:
        raise EmulationError("ip is missing (Debian: iproute2), which enters network namespaces") from None
