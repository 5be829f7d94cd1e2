"""What real hosts do in the runs of a twin, with this machine's kernel. How far they are from their twins."""

from __future__ import annotations

import json
import math
import shlex
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from meshpace.results import RunResult
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition, Settings
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import Quantity

_STARTS_S = 1
"""When a transfer begins: by then its other end listens."""
_AFTER_S = 1
"""For both ends to say what came of it."""
_SEGMENT = 1448
"""Payload bytes of the twins' segments."""
_PORT = 5201
"""Of the first transfer; the next has the next one."""
_TAKES = """\
import os, select, socket, time
zero = float(os.environ["MESHPACE_ZERO"]) + {starts}
way, _ = socket.create_server(("", {port})).accept()
came = 0
for mark in ({warmup}, {end}):
    while (left := zero + mark - time.monotonic()) > 0:
        if select.select([way], [], [], left)[0]:
            came += len(way.recv(65536))
    print(came, flush=True)
while way.recv(65536):
    pass
"""
"""Says how many bytes had come when the measured interval began, and when it ended: those of the simulated flow, whose
measured interval is the same. (iperf3's begins when its two ends have talked about it, across the same mesh: of two
beside each other one may be seconds later than the other, and has the air to itself at the end.)"""
_SENDS = """\
import os, select, socket, struct, time
zero = float(os.environ["MESHPACE_ZERO"]) + {starts}
way = socket.socket()
way.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{control}")
time.sleep(max(0, zero - time.monotonic()))
way.connect((socket.gethostbyname("{there}"), {port}))
way.setblocking(False)
for mark in ({warmup}, {end}):
    while (left := zero + mark - time.monotonic()) > 0:
        if select.select([], [way], [], left)[1]:
            way.send(bytes(65536))
    print(struct.unpack_from("I", way.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0], flush=True)
"""
"""Says how many segments it had sent again then: tcpi_total_retrans, 100 bytes into struct tcp_info
(include/uapi/linux/tcp.h).

It asks for its congestion control before it connects. Where the machine's default is BBR, a connection that asks later
keeps the pacing that BBR asked for (bbr_init of Linux 6.18, net/ipv4/tcp_bbr.c; sk_pacing_status is never taken back).
"""
_LISTENS_S = 2
"""After so long a file's server listens."""


def transfer(scheme: str, settings: Mapping[str, str]) -> Settings | None:
    """Of a kernel's runs: data from end to end of the chain, over the same interval as the simulated flow's."""
    return _hosts(scheme, settings, [("n0", f"n{settings['topology.hops']}")]) if _real(scheme) else None


def transfers(scheme: str, settings: Mapping[str, str]) -> Settings | None:
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
    tables = [_end("n4", _SINKS_FILE, words), _end("n0", _SENDS_FILE, words, f"{_LISTENS_S}s")]
    after = int(settings["measure.duration"].removesuffix("s")) + _LISTENS_S
    return (("emulate.host", f"[{','.join(tables)}]"), ("flow", "[]"), ("measure.duration", f"{after}s"))


def _real(scheme: str) -> bool:
    return scheme.startswith("kernel-")


def _hosts(scheme: str, settings: Mapping[str, str], ends: list[tuple[str, str]]) -> Settings:
    end, warmup = (int(settings[f"measure.{key}"].removesuffix("s")) for key in ("duration", "warmup"))
    tables = []
    for port, (here, there) in enumerate(ends, _PORT):
        words = {
            "port": port, "there": there, "control": _control(scheme), "starts": _STARTS_S, "warmup": warmup, "end": end
        }  # fmt: skip
        tables += [_end(there, _TAKES, words), _end(here, _SENDS, words)]
    return (
        ("emulate.host", f"[{','.join(tables)}]"),
        ("flow", "[]"),
        ("measure.warmup", f"{warmup + _STARTS_S}s"),
        ("measure.duration", f"{end + _STARTS_S + _AFTER_S}s"),
    )


def _end(node: str, program: str, words: Mapping[str, Any], start: str = "0s") -> str:
    """A host with a program in Python whose output is kept."""
    run = json.dumps(f"python3 -c {shlex.quote(program.format(**words))}")
    return f'{{node="{node}",run={run},collect="output",start="{start}"}}'


def _control(scheme: str) -> str:
    """A kernel's sender is called ``kernel-CONTROL``."""
    return scheme.removeprefix("kernel-")


def _took(run: RunResult) -> float | None:
    """From the SYN to the last byte at the receiver. A flow without a start of its own begins at time 0."""
    if run["flows"]:
        return run["flows"][0]["completed_s"]
    ends: Any = run.get("runs", [])
    said = [end["output"].split() for end in ends]
    return float(said[0][0]) - float(said[1][0]) if len(said) == 2 and all(said) else None


TOOK = Quantity("took", "a file takes", "s", _took, decimals=2)


def _told(run: RunResult, end: int) -> list[int]:
    """Of a kernel's run: what the ends of its transfers counted over the measured interval; 0 those that take.

    Raises:
        ValueError: one has not told all.
    """
    ends: Any = run.get("runs", [])
    counts = [[int(word) for word in one["output"].split()] for one in ends[end::2]]
    return [after - before for before, after in counts]


def _goodput(run: RunResult) -> float | None:
    if run["flows"]:
        return run["aggregate_goodput_bps"]
    try:
        return 8 * sum(_told(run, 0)) / (run["measured_s"] - _AFTER_S)
    except ValueError:
        return None


def _sent_again(run: RunResult) -> float | None:
    if run["flows"]:
        segments = math.fsum(flow["delivered_bytes"] for flow in run["flows"]) / _SEGMENT
        again = sum(flow["retransmits"] or 0 for flow in run["flows"])
    else:
        try:
            segments, again = sum(_told(run, 0)) / _SEGMENT, sum(_told(run, 1))
        except ValueError:
            return None
    return 1000 * again / segments if segments else None


def _delay(percent: str) -> Callable[[RunResult], float | None]:
    """Each packet by itself, the mean of the transfers: so real hosts' devices see them."""

    def read(run: RunResult) -> float | None:
        if run["flows"]:
            delays = [flow[f"packet_delay_{percent}_s"] for flow in run["flows"]]  # type: ignore[literal-required]
        else:
            ends: Any = run.get("runs", [])
            ways = {(here["node"], there["node"]) for there, here in zip(ends[::2], ends[1::2], strict=True)}
            rows: Any = run.get("traffic", [])
            delays = [row[f"delay_{percent}_s"] for row in rows if (row["from"], row["to"]) in ways]
        known = [delay for delay in delays if delay is not None]
        return math.fsum(known) / len(known) if known else None

    return read


GOODPUT = Quantity("goodput", "goodput", "kbit/s", _goodput, 1e-3, 0)
SENT_AGAIN = Quantity("sent_again", "segments sent again", "per 1,000 delivered", _sent_again)
"""Of what arrived: a kernel does not say how many it sent."""
DELAY_50 = Quantity("delay_p50", "one-way delay, half of the packets", "ms", _delay("p50"), 1e3, 0)
DELAY_95 = Quantity("delay_p95", "one-way delay, 95 % of the packets", "ms", _delay("p95"), 1e3, 0)


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
