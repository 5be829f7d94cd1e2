"""Which keys of a scenario have a counterpart in ns-2.35: a table, so that a key without a row is refused."""

from __future__ import annotations

from meshpace.judges.keys import COMMON

EXPRESSED = COMMON | {
    "radio.standard": "802.11b, 802.11g-ns2",
    "radio.rate": "dataRate_",
    "radio.basic_rate": "basicRate_",
    "radio.preamble": "PreambleLength_",
    "radio.rts": "RTSThreshold_",
    "radio.retry_short": "ShortRetryLimit_",
    "radio.retry_long": "LongRetryLimit_",
    "radio.queue": "-ifqLen",
    "radio.mac_overhead": "34",
    "radio.reception": "ns2-capture",
    "radio.capture_threshold_db": "CPThresh_",
    "radio.propagation": "two-ray",
    "radio.tx_range": "RXThresh_",
    "radio.cs_range": "CSThresh_",
    "radio.backoff_range": "ns2",
    "radio.arp": "true",
    "link[].rate": "a DelayLink's bandwidth_",
    "link[].delay": "a DelayLink's delay_",
    "link[].queue": "a DropTail queue's limit_",
    "routing.protocol": "AODV, DSDV; static: DSDV's tables filled with our routes",
    "routing.profile": "ns2",
    "routing.metric": "hops",
    "defaults.segment": "packetSize_",
    "defaults.window": "window_",
    "flow[].scheme": "newreno, newreno-delack, tahoe, and schemes with their parameters",
    "flow[].segment": "packetSize_",
    "flow[].window": "window_",
    "flow[].rate": "rate_ of CBR",
    "flow[].packet": "packetSize_ of CBR",
    "flow[].udp_header": "part of packetSize_ of CBR",
}
"""Keys that a scenario may give, and where they are in the script or which of their values are.

Parameters of schemes are held against the schemes that ns-2.35 has, each with all of its parameters (``express.py``).
"""
