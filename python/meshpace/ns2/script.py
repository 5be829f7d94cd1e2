"""Writes a scenario as a Tcl script for ns-2.35.

The script takes a seed and, if wanted, a file for the trace of dropped packets:

    ns script.tcl SEED [DROPS.tr]

It prints one line a second and flow with the sink's counter, and the senders' counters at both ends of the
measured interval. ``parse.py`` reads these lines.
"""

from __future__ import annotations

import math
from pathlib import Path

from meshpace.judges.network import App
from meshpace.judges.powers import two_ray_power_w
from meshpace.ns2.model import Flow, Ns2Scenario, Radio, Routing
from meshpace.ns2.tcl import comment, node_index, number
from meshpace.ns2.wires import through_wires, wired_part

LINUX = "Agent/TCP/Linux"
"""ns-2's TCP/Linux (Wei and Cao 2006), which runs the congestion controls of Linux 2.6: CUBIC among them."""
_FIRST_PORT = 1000
"""Ports are unique over all flows, so that the wired part can route on them alone."""
_STATIC_ROUTES = Path(__file__).with_name("static_routes.tcl")
_AODV_STARTS_S = 1.0
_DSDV_CONVERGES_S = 150.0
"""Virtual seconds of idle network before time 0 in which DSDV converges; AODV starts cold."""
_MARGIN_M = 1.0
"""ns-2's flat grid has no zero or negative positions."""


def write_script(scenario: Ns2Scenario) -> str:
    """The whole script as text."""
    parts = [
        _preamble(scenario),
        _radio(scenario.radio),
        _routing(scenario),
        _nodes(scenario),
        _time_zero(scenario),
        wired_part(scenario),
        *(_flow(scenario, index, flow) for index, flow in enumerate(scenario.flows)),
        _measurement(scenario),
    ]
    return "\n".join(parts)


def _preamble(scenario: Ns2Scenario) -> str:
    return f"""\
# {comment(scenario.name)}: written by meshpace crosscheck for ns-2.35.
# Usage: ns THIS_FILE SEED [DROPS.tr]
set seed [lindex $argv 0]
if {{$seed == ""}} {{ set seed 1 }}
set dropfile [lindex $argv 1]
if {{$dropfile == ""}} {{ set dropfile "/dev/null" }}
remove-all-packet-headers
add-packet-header IP TCP LL Mac ARP AODV Message Common Flags RTP
set ns [new Simulator]
set ns_ $ns  ;# the name that cmu-trace looks for
ns-random $seed
set tracefd [open $dropfile w]
$ns trace-all $tracefd
"""


def _radio(radio: Radio) -> str:
    # Two-ray beyond the crossover of 86 m, Friis before it (schemes.md 17.1); the thresholds are powers at the ranges.
    threshold = {250.0: "3.652e-10", 550.0: "1.559e-11"}
    # A frame below one vanishes, so none is rounded up: a node at exactly the range hears in ns-2, as it does here.
    rx, cs = (threshold.get(m, f"{two_ray_power_w(m) * (1 - 1e-6):.6e}") for m in (radio.tx_range_m, radio.cs_range_m))
    # ns-2 compares IP size + 34 + 24 (the PLCP counted as bytes) with the threshold.
    rts = 1_000_000 if radio.rts_bytes is None else (0 if radio.rts_bytes == 0 else radio.rts_bytes + 24)
    # A short preamble with its 2 Mb/s header lasts 96 us: as many bits at ns-2's one PLCP rate.
    preamble = 48 if radio.short_preamble else 144
    return f"""\
Phy/WirelessPhy set CPThresh_ {10 ** (radio.capture_db / 10):.10g}
Phy/WirelessPhy set CSThresh_ {cs}
Phy/WirelessPhy set RXThresh_ {rx}
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set freq_ 914e6
Phy/WirelessPhy set L_ 1.0
Antenna/OmniAntenna set X_ 0
Antenna/OmniAntenna set Y_ 0
Antenna/OmniAntenna set Z_ 1.5
Antenna/OmniAntenna set Gt_ 1.0
Antenna/OmniAntenna set Gr_ 1.0
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set PreambleLength_ {preamble}
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set PLCPDataRate_ 1.0e6
Mac/802_11 set RTSThreshold_ {rts}
Mac/802_11 set ShortRetryLimit_ {radio.retry_short}
Mac/802_11 set LongRetryLimit_ {radio.retry_long}
Mac/802_11 set basicRate_ {number(radio.basic_rate_bps)}
Mac/802_11 set dataRate_ {number(radio.rate_bps)}
Mac/802_11 set bugFix_timer_ true
Queue/DropTail/PriQueue set Prefer_Routing_Protocols 1
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set maxrto_ 60
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set overhead_ 0
Agent/TCP set windowInit_ 2
"""


def _routing(scenario: Ns2Scenario) -> str:
    agent = "AODV" if scenario.routing is Routing.AODV else "DSDV"
    header = scenario.ip_header_added
    lines = [f"set routing {agent}"]
    if header:
        lines += [
            "# DSDV adds 20 bytes of IP header to what its node originates; TCP gives them away here.",
            f"Agent/TCP set tcpip_base_hdr_size_ {40 - header}",
        ]
    if scenario.routing is Routing.STATIC:
        lines.append(_STATIC_ROUTES.read_text(encoding="utf-8"))
    return "\n".join(lines) + "\n"


def _nodes(scenario: Ns2Scenario) -> str:
    left = min(node.x for node in scenario.nodes) - _MARGIN_M
    bottom = min(node.y for node in scenario.nodes) - _MARGIN_M
    width = math.ceil(max(node.x for node in scenario.nodes) - left + _MARGIN_M)
    height = math.ceil(max(node.y for node in scenario.nodes) - bottom + _MARGIN_M)
    lines = [
        "set topo [new Topography]",
        f"$topo load_flatgrid {width} {height}",
        f"create-god {len(scenario.nodes)}",
        "$ns node-config -adhocRouting $routing -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \\",
        f"    -ifqLen {scenario.radio.queue} -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \\",
        "    -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] -topoInstance $topo \\",
        "    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF",
    ]
    for index, node in enumerate(scenario.nodes):
        lines += [
            f"set node({index}) [$ns node]  ;# {comment(node.name)}",
            f"$node({index}) random-motion 0",
            f"$node({index}) set X_ {number(node.x - left)}",
            f"$node({index}) set Y_ {number(node.y - bottom)}",
            f"$node({index}) set Z_ 0",
            f"[$node({index}) set mac_(0)] drop-target [cmu-trace Drop MAC $node({index})]",
        ]
    return "\n".join(lines) + "\n"


def _time_zero(scenario: Ns2Scenario) -> str:
    """When the traffic's time begins; the script prints it, since every time in the trace counts from ns-2's start."""
    if scenario.routing is Routing.STATIC:
        routes = " ".join("{" + " ".join(map(str, route)) + "}" for route in scenario.routes)
        idle = f"[static_routes {{{routes}}}]"
    else:
        idle = number(_AODV_STARTS_S if scenario.routing is Routing.AODV else _DSDV_CONVERGES_S)
    return f"""\
set idle {idle}
puts "idle $idle"
set t_warm [expr $idle + {number(scenario.warmup_s)}]
set t_end [expr $idle + {number(scenario.duration_s)}]
"""


def _flow(scenario: Ns2Scenario, index: int, flow: Flow) -> str:
    src, dst = f"$src({index})", f"$dst({index})"
    lines = [f"# flow {comment(flow.id)}: {comment(flow.source)} -> {comment(flow.target)}"]
    if flow.app is App.FTP:
        lines += [
            f"set src({index}) [new {flow.agent}]",
            f"{src} set packetSize_ {flow.packet}",
            f"{src} set window_ {flow.window}",
            *((f"{src} set timestamps_ true", f'$ns at 0 "{src} select_ca cubic"') if flow.agent == LINUX else ()),
            f"set dst({index}) [new {_sink(flow)}]",
            *((f"{dst} set ts_echo_rfc1323_ true",) if flow.agent == LINUX else ()),
            f"{dst} set packetSize_ {40 - scenario.ip_header_added}",
        ]
    else:
        lines += [
            f"set src({index}) [new Agent/UDP]",
            f"{src} set packetSize_ {flow.packet + flow.udp_header}",
            f"set dst({index}) [new Agent/LossMonitor]",
        ]
    ports = (_FIRST_PORT + 2 * index, _FIRST_PORT + 2 * index + 1)
    names = {node.name for node in scenario.nodes}
    for agent, name, port in ((src, flow.source, ports[0]), (dst, flow.target, ports[1])):
        host = name if name in names else scenario.gateway
        assert host is not None
        lines.append(f"$node({node_index(scenario, host)}) attach {agent} {port}")
    lines.append(f"$ns connect {src} {dst}")
    for agent, name, port, other in ((src, flow.source, ports[0], ports[1]), (dst, flow.target, ports[1], ports[0])):
        if name not in names:
            lines += through_wires(scenario, agent, name, port, other)
    if flow.app is App.FTP:
        lines += [f"set app({index}) [new Application/FTP]"]
    else:
        rate = flow.rate_bps * (flow.packet + flow.udp_header) / flow.packet
        lines += [
            f"set app({index}) [new Application/Traffic/CBR]",
            f"$app({index}) set packetSize_ {flow.packet + flow.udp_header}",
            f"$app({index}) set rate_ {number(rate)}",
            f"$app({index}) set random_ 0",
        ]
    start = f"[expr $idle + {number(flow.start_s)}]"
    lines += [f"$app({index}) attach-agent {src}", f'$ns at {start} "$app({index}) start"']
    if flow.stop_s is not None:
        lines.append(f'$ns at [expr $idle + {number(flow.stop_s)}] "$app({index}) stop"')
    return "\n".join(lines) + "\n"


def _sink(flow: Flow) -> str:
    """What acknowledges: TCP/Linux goes by selective acknowledgements."""
    selective = "/Sack1" if flow.agent == LINUX else ""
    return f"Agent/TCPSink{selective}{'/DelAck' if flow.delayed_ack else ''}"


def _measurement(scenario: Ns2Scenario) -> str:
    tcp = " ".join(str(i) for i, flow in enumerate(scenario.flows) if flow.app is App.FTP)
    udp = " ".join(str(i) for i, flow in enumerate(scenario.flows) if flow.app is App.CBR)
    return f"""\
set tcpflows {{{tcp}}}
set udpflows {{{udp}}}
proc counters {{label}} {{
    global ns tcpflows udpflows src dst
    foreach i $tcpflows {{
        set sent "[$src($i) set ndatapack_] [$src($i) set nrexmitpack_] [$src($i) set nrexmit_]"
        puts "$label $i [$dst($i) set bytes_] $sent"
    }}
    foreach i $udpflows {{ puts "$label $i [$dst($i) set npkts_] 0 0 0" }}
}}
proc every_second {{}} {{
    global ns idle tcpflows udpflows dst
    foreach i $tcpflows {{ puts "second [expr [$ns now] - $idle] $i [$dst($i) set bytes_]" }}
    foreach i $udpflows {{ puts "second [expr [$ns now] - $idle] $i [$dst($i) set npkts_]" }}
    $ns at [expr [$ns now] + 1.0] every_second
}}
proc sample_rtt {{}} {{
    global ns tcpflows src rtt_sum rtt_count
    foreach i $tcpflows {{
        set ticks [$src($i) set rtt_]
        if {{$ticks > 0}} {{
            set rtt_sum($i) [expr $rtt_sum($i) + $ticks * [$src($i) set tcpTick_]]
            incr rtt_count($i)
        }}
    }}
    $ns at [expr [$ns now] + 0.25] sample_rtt
}}
proc finish {{}} {{
    global ns tracefd tcpflows rtt_sum rtt_count
    counters end
    foreach i $tcpflows {{ puts "rtt $i $rtt_sum($i) $rtt_count($i)" }}
    $ns flush-trace
    close $tracefd
    puts "finished"
    exit 0
}}
foreach i $tcpflows {{ set rtt_sum($i) 0.0; set rtt_count($i) 0 }}
$ns at $t_warm "counters begin"
$ns at $t_warm every_second
$ns at $t_warm sample_rtt
$ns at $t_end finish
$ns run
"""
