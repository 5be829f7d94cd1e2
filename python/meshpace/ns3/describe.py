"""Writes a scenario as the description that ``crosscheck.cc`` reads: a line an item."""

from __future__ import annotations

import math

from meshpace.ns3.model import Flow, Ns3Scenario, Radio

_NOISE_FIGURE_DB, _NOISE_MHZ = 7.0, 20.0
"""Of ours, and the width that it is measured over; ns-3's grows with the width of its own channel."""
_NOTICED_DB = 10.0
"""So far below what is sensed signals still interfere; weaker ones are left out, as ours leaves them out."""


def write_description(scenario: Ns3Scenario) -> str:
    """The whole description as text."""
    number = {name: k for k, name in enumerate((*(node.name for node in scenario.nodes), *scenario.wired))}
    lines = [
        f"# {_comment(scenario.name)}: written by meshpace crosscheck for ns-3.37 (python/meshpace/ns3/crosscheck.cc).",
        f"simulate {scenario.duration_s!r} {scenario.warmup_s!r}",
        *_radio(scenario.radio),
        *(f"node {node.x!r} {node.y!r}  # {_comment(node.name)}" for node in scenario.nodes),
        *(f"wired  # {_comment(name)}" for name in scenario.wired),
        *(
            f"link {number[link.a]} {number[link.b]} {link.rate_bps!r} {link.delay_s!r} {link.queue}"
            for link in scenario.links
        ),
        *(f"route {number[at]} {number[to]} {number[following]}" for at, to, following in scenario.routes),
        *(_flow(flow, number[flow.source], number[flow.target]) for flow in scenario.flows),
    ]
    return "\n".join(lines) + "\n"


def _radio(radio: Radio) -> list[str]:
    standard = radio.standard
    channel, width = standard.channels[radio.band, radio.width_mhz]
    ours = _NOISE_MHZ if radio.width_mhz == _NOISE_MHZ else radio.width_mhz
    figure = _NOISE_FIGURE_DB + 10 * math.log10(ours / width)
    return [
        f"phy {standard.word} {radio.band} {channel} {width}",
        f"modes {radio.data} {radio.control} {radio.broadcast}",
        *(f"basic {mode}" for mode in radio.basic),
        f"antennas {radio.streams} {radio.guard_ns}",
        f"power {radio.power_dbm!r}",
        f"loss {' '.join(map(str, radio.loss))}",
        f"hearing {radio.decoded_dbm!r} {radio.sensed_dbm!r} {radio.sensed_dbm - _NOTICED_DB!r} {figure!r}",
        f"access {standard.window[0]} {standard.window[1]} {standard.aifsn} {standard.slot_us}",
        f"frames {radio.aggregate} {radio.amsdu} {radio.rts_above}",
        f"limits {radio.retry_short} {radio.retry_long} {radio.queue}",
    ]


def _flow(flow: Flow, source: int, target: int) -> str:
    stop = -1.0 if flow.stop_s is None else flow.stop_s
    ends = f"{source} {target} {flow.start_s!r} {stop!r} {flow.packet}"
    tcp = flow.tcp
    if tcp is None:
        return f"udp {ends} {flow.packet * 8 / flow.rate_bps!r}  # {_comment(flow.id)}"
    return (
        f"tcp {ends} {tcp.window} {tcp.congestion} {tcp.recovery} {tcp.sack:d} {tcp.hystart:d} {tcp.initial_window} "
        f"{tcp.ack_segments} {tcp.ack_delay_s!r} {tcp.rto_min_s!r} {tcp.rto_initial_s!r}  # {_comment(flow.id)}"
    )


def _comment(text: str) -> str:
    """``text`` fit for the end of a line."""
    return " ".join(text.split())
