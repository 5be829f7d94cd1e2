"""An emulation from its scenario to its result, and everything removed at the end whatever that is."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshpace import engine
from meshpace.emulation import machine, namespaces, record, verdict
from meshpace.emulation.collect import add_flows, iperf3_flows
from meshpace.emulation.converging import Convergence, converge
from meshpace.emulation.daemons import DAEMONS, Running
from meshpace.emulation.ending import ended_by_signals
from meshpace.emulation.engine import Engine, Order
from meshpace.emulation.record import EmulationError, Host, Record, safe
from meshpace.emulation.routes import Route, Watch, read
from meshpace.emulation.runs import Run, run_all
from meshpace.emulation.saved import save
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
    daemon: str | None = None
    """The routing daemon of every mesh node; with it all of them that are no hosts have kernels that forward."""
    daemon_lines: tuple[str, ...] = ()
    """What its configuration begins with everywhere."""
    save_routes: Path | None = None
    """Where the scenario with its routes goes."""
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
        is_watched = plan.daemon or (view is not None and any(host.radios for host in hosts))
        tell = None if view is None else view.tell_routes
        watch = stack.enter_context(_watched(hosts, tell)) if is_watched else None
        zero = time.monotonic()
        process.begin()
        if sys.stderr.isatty():
            print(how_long(name, resolved, plan.dilation), file=sys.stderr)
        convergence = _converged(plan, mine, watch, process, stack) if plan.daemon and watch is not None else None
        run_all(runs, mine.folder, zero, plan.dilation, process)
        complaints = []
        # While the devices are still there, with which routes go.
        if convergence is not None:
            complaints += convergence.complaints()
        if watch is not None:
            watch.end()
        if convergence is not None:
            convergence.running.end()
        result = process.result()
        result["daemon"] = None if convergence is None else convergence.row(zero, plan.dilation)
        if view is not None:
            view.over(["The emulation has come to its end.", *verdict.in_words(result)])
        emulated = _result(result, resolved, hosts, runs, plan.dilation, complaints)
        if plan.save_routes is not None and convergence is not None and convergence.still is not None:
            save(plan.save_routes, plan.job, emulated.result, convergence.routes)
        return emulated


def how_long(name: str, resolved: Mapping[str, Any], dilation: float) -> str:
    """The line for a terminal at the beginning: an emulation is silent until its end, which may be minutes away."""
    measure = resolved["measure"]
    until = f"for {measure['duration_s'] * dilation:g} s" if measure["kind"] == "time" else "until all is measured"
    return f"{name}: it runs {until}, and prints its results then; Ctrl-C ends it without them"


@contextmanager
def _watched(hosts: Sequence[Host], tell: Callable[[Mapping[str, object]], None] | None) -> Iterator[Watch]:
    watch = Watch([host for host in hosts if host.radios], {host.address: host.node for host in hosts}, tell)
    watch.begin()
    try:
        yield watch
    finally:
        watch.end()


def _converged(plan: Plan, mine: Record, watch: Watch, process: Engine, stack: ExitStack) -> Convergence:
    """Daemons at every node, once their routes stand; they end with the stack."""
    daemon = DAEMONS[plan.daemon or ""]
    running = Running(daemon, plan.daemon_lines, mine.hosts, mine.folder)
    stack.callback(running.end)
    names = {host.address: host.node for host in mine.hosts}
    return converge(daemon, running, mine.hosts, names, watch, process)


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
    named = dict.fromkeys(row["node"] for row in resolved["emulated_hosts"])
    forwards = {row["node"] for row in resolved["emulated_hosts"] if row["frames"]}
    if plan.daemon is not None:
        of_mesh = [node["id"] for node in resolved["mesh"] if node["id"] not in {*named, *plan.extra_hosts}]
        named |= dict.fromkeys(of_mesh)
        forwards |= set(of_mesh)
        if not forwards:
            raise EmulationError(f"--daemon {plan.daemon}: found hosts alone; allowed: a mesh with nodes that are none")
    nodes = list(dict.fromkeys([*named, *plan.extra_hosts]))
    if not nodes:
        raise EmulationError(
            f"{plan.job.name}: emulate.host: found nothing; allowed: tables [[emulate.host]] or [[emulate.node]] "
            "whose node becomes a real host, or --host NODE"
        )
    gateways = {node["id"] for node in resolved["mesh"] if node["gateway"]}
    hosts: list[Host] = []
    for node in nodes:
        namespace = f"mp-{name}-{safe(node)}"
        if any(host.namespace == namespace for host in hosts):
            namespace += f"-{len(hosts)}"
        radios = _radios(resolved, node) if node in forwards else 0
        hosts.append(Host(node, namespace, addresses[node], _address6(addresses[node]), node in gateways, radios))
    return tuple(hosts)


def _radios(resolved: dict[str, Any], node: str) -> int:
    """The number of radios of a mesh node.

    It has one for each of its channels; a mesh without a list of channels has one channel.
    """
    on = [channel for channel in resolved["channels"] if any(radio["node"] == node for radio in channel["radios"])]
    return len(on) if resolved["channels"] else 1


def _result(
    result: dict[str, Any],
    resolved: dict[str, Any],
    hosts: Sequence[Host],
    runs: Sequence[Run],
    dilation: float,
    complaints: list[str],
) -> Emulated:
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
            "devices": host.devices,
            "frames": host.radios > 0,
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
    """A second Ctrl-C must not stop the removal half-way."""
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


def routes(name: str | None) -> list[Route]:
    """The routes of a running emulation's nodes whose kernels forward, node by node.

    Raises:
        EmulationError: none runs, or it has no such node.
    """
    found = record.running(name)
    names = {host.address: host.node for host in found.hosts}
    routers = [host for host in found.hosts if host.radios]
    if not routers:
        raise EmulationError(
            f"{found.name}: no node's kernel forwards; allowed: an emulation with [[emulate.node]] or --daemon"
        )
    return [route for host in routers for route in read(host, names)]


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
