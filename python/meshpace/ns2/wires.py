"""The wired part of a script: queues and delays behind the gateway's port classifier.

Wired hosts have no node of their own in ns-2 here: their agents have the gateway's address, and different ports. So
ad hoc routing with flat addresses reaches them unmodified, and the gateway answers route requests for them.
"""

from __future__ import annotations

import itertools

from meshpace.judges.network import wired_path
from meshpace.ns2.model import Ns2Scenario
from meshpace.ns2.tcl import comment, node_index, number


def wired_part(scenario: Ns2Scenario) -> str:
    """Queues, delays and port classifiers of the wired links; empty without any."""
    if scenario.gateway is None:
        return ""
    index = node_index(scenario, scenario.gateway)
    wired = sorted({end for link in scenario.links for end in (link.a, link.b)} - {scenario.gateway})
    lines = [
        "# The wired part hangs on the gateway's port classifier: its agents carry the gateway's address and are",
        "# told apart by port.",
    ]
    lines += [f"set wired({i}) [new Classifier/Port]  ;# {comment(name)}" for i, name in enumerate(wired)]
    index_of = {name: i for i, name in enumerate(wired)}
    for link in scenario.links:
        for a, b in ((link.a, link.b), (link.b, link.a)):
            target = f"[$node({index}) entry]" if b == scenario.gateway else f"$wired({index_of[b]})"
            key = _link_key(scenario, a, b)
            lines += [
                f"set q({key}) [new Queue/DropTail]",
                f"$q({key}) set limit_ {link.queue}",
                f"set d({key}) [new DelayLink]",
                f"$d({key}) set bandwidth_ {number(link.rate_bps)}",
                f"$d({key}) set delay_ {number(link.delay_s)}",
                f"$q({key}) target $d({key})",
                f"$d({key}) target {target}",
                f"set t({key}) [new Trace/Drop]",
                f"$t({key}) attach $tracefd",
                f"$t({key}) set src_ {wired_id(scenario, a)}",
                f"$t({key}) set dst_ {wired_id(scenario, b)}",
                f"$t({key}) target [$ns nullagent]",
                f"$q({key}) drop-target $t({key})",
            ]
    return "\n".join(lines) + "\n"


def wired_id(scenario: Ns2Scenario, name: str) -> int:
    """A number for a wired node beyond those of the mesh nodes; the gateway keeps its own."""
    if name == scenario.gateway:
        return node_index(scenario, name)
    wired = sorted({end for link in scenario.links for end in (link.a, link.b)} - {scenario.gateway})
    return len(scenario.nodes) + wired.index(name)


def _link_key(scenario: Ns2Scenario, a: str, b: str) -> str:
    return f"{wired_id(scenario, a)},{wired_id(scenario, b)}"


def through_wires(scenario: Ns2Scenario, agent: str, host: str, port: int, other: int) -> list[str]:
    """Sends what ``agent`` at the wired ``host`` sends and gets along the wired path."""
    path = wired_path(scenario.links, scenario.gateway, host)
    gateway = node_index(scenario, path[0])
    index_of = {name: wired_id(scenario, name) - len(scenario.nodes) for name in path[1:]}
    lines = [f"[$node({gateway}) set dmux_] install {port} $q({_link_key(scenario, path[0], path[1])})"]
    for here, following in itertools.pairwise(path[1:]):
        lines.append(f"$wired({index_of[here]}) install {port} $q({_link_key(scenario, here, following)})")
    lines.append(f"$wired({index_of[host]}) install {port} {agent}")
    back = path[::-1]
    lines.append(f"{agent} target $q({_link_key(scenario, back[0], back[1])})")
    for here, following in itertools.pairwise(back[1:]):
        lines.append(f"$wired({index_of[here]}) install {other} $q({_link_key(scenario, here, following)})")
    return lines
