"""Misses whose cause is known, by the row's key (``family: name: quantity``), with the cause in one sentence."""

from __future__ import annotations

_TICKS = (
    "ns-2 tells its RTT in whole ticks of 10 ms and never less than one, so 10 ms is the least that it can show; "
    "one hop takes half of that."
)

EXPLAINED: dict[str, str] = {
    "tcp_ap_chain_static: tcp-ap-ns2-2005, 1 hops: RTT": _TICKS,
    "tcp_ap_chain_aodv: tcp-ap-ns2-2005, 1 hops: RTT": _TICKS,
}
