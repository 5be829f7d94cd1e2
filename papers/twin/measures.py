"""What real hosts do in the runs of a twin: iperf3 with this machine's kernel. How far they are from their twins."""

from __future__ import annotations

import json
import math
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any

from meshpace.results import RunResult
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition, Settings
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import Quantity, over_flows

_AFTER_S = 10
"""What iperf3 says at the end has to cross the mesh, too."""
_SEGMENT = 1448
"""Payload bytes of the twins' segments."""
_PORT = 5201
"""Of the first server; the next has the next one."""
_DEFAULT = "/proc/sys/net/ipv4/tcp_congestion_control"
"""Of the host, whose default is the machine's. iperf3 asks for its control once it is connected: where the default is
BBR, Reno and CUBIC would keep the pacing that BBR asked for (bbr_init of Linux 6.18, net/ipv4/tcp_bbr.c;
sk_pacing_status is never taken back)."""
_LISTENS_S = 2
"""After so long a server listens."""


def iperf3(scheme: str, settings: Mapping[str, str]) -> Settings | None:
    """Of a kernel's runs: iperf3 at the ends of the chain, over the same interval as the simulated flow is measured."""
    return _hosts(scheme, settings, [("n0", f"n{settings['topology.hops']}")]) if _real(scheme) else None


def iperf3_on_paths(scheme: str, settings: Mapping[str, str]) -> Settings | None:
    """The same at the ends of the flows that ``flow`` lists."""
    if not _real(scheme):
        return None
    flows = tomllib.loads(f"flow = {settings['flow']}")["flow"]
    return _hosts(scheme, settings, [(flow["from"], flow["to"]) for flow in flows])


_SINKS_FILE = (
    "import socket,time;door=socket.create_server(('',{port}));way,_=door.accept();"
    "any(iter(lambda:not way.recv(65536),True));print(time.monotonic())"
)
"""Says when the last byte had come."""
_SENDS_FILE = (
    "import socket,time;way=socket.socket();way.setsockopt(6,socket.TCP_CONGESTION,b'{control}');"
    "to=(socket.gethostbyname('{there}'),{port});print(time.monotonic());way.connect(to);way.sendall(bytes({size}))"
)
"""Says when its SYN left. Both clocks are the machine's one."""


def file_over_a_chain(scheme: str, settings: Mapping[str, str]) -> Settings | None:
    """Of a kernel's runs: the file goes from one end of the chain to the other, which listens by then."""
    if not _real(scheme):
        return None
    words = {"port": _PORT, "there": "n4", "control": _control(scheme), "size": settings["flow.0.bytes"]}

    def end(node: str, program: str, more: str = "") -> str:
        run = json.dumps(f"python3 -c {shlex.quote(program.format(**words))}")
        return f'{{node="{node}",run={run},collect="output"{more}}}'

    tables = [end("n4", _SINKS_FILE), end("n0", _SENDS_FILE, f',start="{_LISTENS_S}s"')]
    after = int(settings["measure.duration"].removesuffix("s")) + _LISTENS_S
    return (("emulate.host", f"[{','.join(tables)}]"), ("flow", "[]"), ("measure.duration", f"{after}s"))


def _real(scheme: str) -> bool:
    return scheme.startswith("kernel-")


def _hosts(scheme: str, settings: Mapping[str, str], ends: list[tuple[str, str]]) -> Settings:
    control = _control(scheme)
    end, warmup = (int(settings[f"measure.{key}"].removesuffix("s")) for key in ("duration", "warmup"))
    tables = []
    for port, (here, there) in enumerate(ends, _PORT):
        interval = f"-O {warmup} -t {end - warmup}"
        transfer = f"echo {control} > {_DEFAULT}; exec iperf3 -J -c {there} -p {port} -C {control} {interval}"
        tables += [
            f'{{node="{there}",run="iperf3 -s -1 -p {port}"}}',
            f'{{node="{here}",run="{transfer}",start="500ms",collect="iperf3"}}',
        ]
    return (
        ("emulate.host", f"[{','.join(tables)}]"),
        ("flow", "[]"),
        ("measure.duration", f"{end + _AFTER_S}s"),
    )


def _control(scheme: str) -> str:
    """``kernel-CONTROL`` is what iperf3's rows call the kernel's sender with that congestion control."""
    return scheme.removeprefix("kernel-")


def _took(run: RunResult) -> float | None:
    """From the SYN to the last byte at the receiver. A flow without a start of its own begins at time 0."""
    if run["flows"]:
        return run["flows"][0]["completed_s"]
    ends: Any = run.get("runs", [])
    said = [end["output"].split() for end in ends]
    return float(said[0][0]) - float(said[1][0]) if len(said) == 2 and all(said) else None


TOOK = Quantity("took", "a file takes", "s", _took, decimals=2)


def _sent_again(run: RunResult) -> float | None:
    delivered = math.fsum(flow["delivered_bytes"] for flow in run["flows"]) / _SEGMENT
    counts = [flow["retransmits"] for flow in run["flows"]]
    return None if None in counts or not delivered else 1000 * math.fsum(filter(None, counts)) / delivered


SENT_AGAIN = Quantity("sent_again", "segments sent again", "per 1,000 delivered", _sent_again)
"""Of what arrived: a kernel does not say how many it sent."""
# Each packet by itself: so real hosts' devices see them.
DELAY_50 = Quantity(
    "delay_p50", "one-way delay, half of the packets", "ms", over_flows(lambda f: f["packet_delay_p50_s"]), 1e3, 0
)
DELAY_95 = Quantity(
    "delay_p95", "one-way delay, 95 % of the packets", "ms", over_flows(lambda f: f["packet_delay_p95_s"]), 1e3, 0
)


def apart(quantity: Quantity, control: str, share: float, spread: bool = False, least: float = 0.0) -> Measure:
    """How far the kernel's runs are from the mean of their twin's, in parts of what is allowed.

    That is the most of ``share`` of that mean, of ``least`` and, if ``spread``, of the spread of the kernel's runs.
    """

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        real, twin = (
            outcome.values(Cell(condition, f"{kind}-{control}", point), quantity) for kind in ("kernel", "linux")
        )
        known, told = ([value for value in values if value is not None] for values in (twin, real))
        if not known or not told:
            return [None] * len(real)
        middle = math.fsum(known) / len(known)
        allowed = max(share * middle, least, max(told) - min(told) if spread else 0.0)
        return [None if value is None or not allowed else (value - middle) / allowed for value in real]

    return Measure((f"linux-{control}", f"kernel-{control}"), take, quantity)
