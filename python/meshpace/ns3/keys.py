"""Which keys of a scenario have a counterpart in ns-3.37: a table, so that a key without a row is refused."""

from __future__ import annotations

from meshpace.judges.keys import COMMON

EXPRESSED = COMMON | {
    "radio.standard": "802.11b, 802.11a, 802.11g, 802.11n, 802.11ac, 802.11ax",
    "radio.rate": "DataMode",
    "radio.basic_rate": "NonUnicastMode; of 802.11b ControlMode and the basic mode",
    "radio.preamble": "long",
    "radio.frequency": "the band of ChannelSettings: strength goes by the loss",
    "radio.width": "the width of ChannelSettings",
    "radio.mcs": "DataMode",
    "radio.streams": "DataMode, Antennas",
    "radio.guard_interval": "ShortGuardIntervalSupported; of 802.11ax GuardInterval",
    "radio.aggregate": "BE_MaxAmpduSize",
    "radio.amsdu": "BE_MaxAmsduSize",
    "radio.rts": "RtsCtsThreshold",
    "radio.retry_short": "MaxSsrc",
    "radio.retry_long": "MaxSlrc",
    "radio.queue": "WifiMacQueue's MaxSize",
    "radio.mac_overhead": "36, of 802.11n, 802.11ac and 802.11ax 38",
    "radio.reception": "sinr",
    "radio.error_model": "curve",
    "radio.propagation": "two-ray, log-distance",
    "radio.path_loss_exponent": "Exponent",
    "radio.tx_power": "ReferenceLoss",
    "radio.sensitivity": "MinimumRssi",
    "radio.cs_sensitivity": "CcaEdThreshold",
    "radio.tx_range": "MinimumRssi",
    "radio.cs_range": "CcaEdThreshold",
    "radio.backoff_range": "standard",
    "radio.arp": "false",
    "link[].rate": "DataRate",
    "link[].delay": "Delay",
    "link[].queue": "MaxSize and the packet on its way; 2 and more",
    "routing.protocol": "static",
    "routing.metric": "hops",
    "defaults.segment": "SegmentSize",
    "defaults.window": "RcvBufSize",
    "flow[].path": "host routes",
    "flow[].scheme": "sack-rfc, newreno-rfc, cubic, and schemes with their parameters",
    "flow[].segment": "SegmentSize",
    "flow[].window": "RcvBufSize",
    "flow[].rate": "the interval of datagrams",
    "flow[].packet": "their size",
    "flow[].udp_header": "8",
}
"""Keys that a scenario may give, and where they are in ns-3 or which of their values are.

Parameters of schemes are held against the schemes that ns-3.37 has, each with all of its parameters (``tcp.py``).
"""
