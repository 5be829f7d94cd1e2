"""The radio of a scenario in ns-3.37's terms."""

from __future__ import annotations

import math
from dataclasses import dataclass

from meshpace.judges.network import Resolved
from meshpace.judges.powers import CARD_HEIGHT_M, CARD_HZ, CARD_W, dbm, two_ray_power_w
from meshpace.judges.refusals import Refusal, Refusals, as_written
from meshpace.ns3.model import Radio, Standard

_STANDARDS = {
    "802.11b": Standard("80211b", "DsssRate", {("2_4GHZ", 20): (1, 22)}, (31, 1023), 2, 20, 36),
    "802.11a": Standard("80211a", "OfdmRate", {("5GHZ", 20): (36, 20)}, (15, 1023), 2, 9, 36),
    "802.11g": Standard("80211g", "ErpOfdmRate", {("2_4GHZ", 20): (1, 20)}, (15, 1023), 2, 9, 36),
    "802.11n": Standard(
        "80211n", "HtMcs",
        {("2_4GHZ", 20): (1, 20), ("2_4GHZ", 40): (3, 40), ("5GHZ", 20): (36, 20), ("5GHZ", 40): (38, 40)},
        (15, 1023), 3, 9, 38,
    ),
    "802.11ac": Standard(
        "80211ac", "VhtMcs",
        {("5GHZ", 20): (36, 20), ("5GHZ", 40): (38, 40), ("5GHZ", 80): (42, 80), ("5GHZ", 160): (50, 160)},
        (15, 1023), 3, 9, 38,
    ),
    "802.11ax": Standard(
        "80211ax", "HeMcs",
        {
            ("2_4GHZ", 20): (1, 20), ("2_4GHZ", 40): (3, 40),
            ("5GHZ", 20): (36, 20), ("5GHZ", 40): (38, 40), ("5GHZ", 80): (42, 80), ("5GHZ", 160): (50, 160),
        },
        (15, 1023), 3, 9, 38,
    ),
}  # fmt: skip
"""Short slots: no 802.11b stations are about. Headers and FCS: 24 bytes (26 with QoS control), LLC/SNAP 8, FCS 4."""
_MANDATORY_MBPS = (6, 12, 24)
"""OFDM stations answer at the fastest of these that is no faster than the data (IEEE 802.11-2020, 10.6.6.5.2)."""
_REFERENCE_MBPS = (6, 12, 18, 24, 36, 48, 54, 54, 54, 54, 54, 54)
"""Non-HT reference rates by modulation and code (IEEE 802.11-2020, 10.6.11)."""
_SCHEMES = (
    (1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6),
    (8, 3, 4), (8, 5, 6), (10, 3, 4), (10, 5, 6),
)  # fmt: skip
"""Coded bits a subcarrier, how many of how many are data (IEEE 802.11-2020, 19.5, 21.5; IEEE 802.11ax-2021, 27.5)."""
_SUBCARRIERS = {
    "802.11n": {20: 52, 40: 108},
    "802.11ac": {20: 52, 40: 108, 80: 234, 160: 468},
    "802.11ax": {20: 234, 40: 468, 80: 980, 160: 1960},
}
"""Of data, by width in MHz."""
_MISSING = {(20, 9, 1), (20, 9, 2), (20, 9, 4), (80, 6, 3), (160, 9, 3)}
"""Of 802.11ac: width, MCS and streams that 21.5 has no row for."""
_NEVER = 4_692_480
"""The largest RtsCtsThreshold."""
_EDGE_DB = 1e-4
"""How far below the power at a range its threshold lies: at the range itself ours still hears."""


def radio_of(radio: Resolved, found: Refusals) -> Radio | None:
    """The radio, unless something of it is refused; ``found`` gets all of that."""
    before = len(found.refused)

    def refuse(key: str, value: object, allowed: str, reason: str) -> None:
        found.refused.append(Refusal(f"radio.{key}", value, allowed, reason))

    def need(key: str, wanted: object, reason: str) -> None:
        if radio.get(key) != wanted:
            refuse(key, radio.get(key), as_written(wanted), reason)

    standard = _STANDARDS.get(radio["standard"])
    if standard is None:
        allowed = ", ".join(f'"{word}"' for word in _STANDARDS)
        refuse("standard", radio["standard"], allowed, "it is a standard of ns-2 only")
    else:
        need("mac_overhead", standard.mac_overhead, f"its frames have {standard.mac_overhead} bytes beside the packet")
    need("reception", "sinr", "it sums interference")
    if radio["reception"] == "sinr":
        need("error_model", "curve", "it draws from error curves")
    if radio["propagation"] not in ("two-ray", "log-distance"):
        reason = "its ranges would be without power, and without interference"
        refuse("propagation", radio["propagation"], '"two-ray", "log-distance"', reason)
    need("backoff_range", "standard", "it draws from 0..cw")
    need("arp", False, "its stations know every address, since its ARP is not ns-2's")
    if radio["standard"] == "802.11b":
        need("preamble", "long", "its ad hoc stations have no other")
    if radio["link_rates"]:
        refuse("link_rates", f"{len(radio['link_rates'])} rates", "none", "its stations have one mode of data")
    for key in ("retry_short", "retry_long"):
        if radio[key] == 0:
            refuse(key, 0, "1 and more", "its retry counters act from 1 on")
    if radio.get("guard_interval") == "1600ns":
        refuse("guard_interval", "1600ns", '"800ns", "3200ns"', "it sends with 3200 ns instead")
    if standard is None or len(found.refused) > before:
        return None
    return _expressed(radio, standard)


def _expressed(radio: Resolved, standard: Standard) -> Radio:
    mcs = _mcs(radio) if radio["standard"] in _SUBCARRIERS else None
    band = "5GHZ" if radio["standard"] == "802.11a" or radio.get("frequency", 0) > 3e9 else "2_4GHZ"
    legacy = "OfdmRate" if band == "5GHZ" else "ErpOfdmRate"
    basic_mbps = radio["basic_rate_bps"] / 1e6
    if radio["standard"] == "802.11b":
        data = _dsss(radio["rate_bps"] / 1e6)
        control = broadcast = _dsss(basic_mbps)
        basic: tuple[str, ...] = (control,)
    else:
        data = f"{standard.modes}{mcs.index}" if mcs else f"{standard.modes}{radio['rate_bps'] / 1e6:g}Mbps"
        reference = _REFERENCE_MBPS[mcs.scheme] if mcs else radio["rate_bps"] / 1e6
        answer = max((rate for rate in _MANDATORY_MBPS if rate <= reference), default=_MANDATORY_MBPS[0])
        control = f"{legacy}{answer}Mbps"
        broadcast = f"{legacy}{basic_mbps:g}Mbps"
        basic = tuple(f"{legacy}{rate}Mbps" for rate in _MANDATORY_MBPS)
    rts = radio["rts"]
    return Radio(
        standard=standard,
        band=band,
        width_mhz=_width(radio),
        data=data,
        control=control,
        broadcast=broadcast,
        basic=basic,
        streams=mcs.streams if mcs else 1,
        guard_ns=_guard_ns(radio),
        power_dbm=dbm(CARD_W),
        loss=_loss(radio),
        decoded_dbm=_power_dbm(radio, radio["tx_range_m"]) - _EDGE_DB,
        sensed_dbm=_power_dbm(radio, radio["cs_range_m"]) - _EDGE_DB,
        aggregate=radio.get("aggregate", 0),
        amsdu=radio.get("amsdu", 0),
        rts_above=0 if rts == "always" else _NEVER if rts == "never" else max(0, rts - 1),
        retry_short=radio["retry_short"],
        retry_long=radio["retry_long"],
        queue=radio["queue"],
    )


@dataclass(frozen=True, slots=True)
class _Mcs:
    index: int
    streams: int
    scheme: int
    """Modulation and code alone."""


def _all_mcs(standard: str, width: int) -> list[_Mcs]:
    """In the order of the standard."""
    if standard == "802.11n":
        return [_Mcs(index, index // 8 + 1, index % 8) for index in range(32)]
    count = 10 if standard == "802.11ac" else 12
    listed = (_Mcs(index, streams, index) for streams in range(1, 5) for index in range(count))
    return [mcs for mcs in listed if standard == "802.11ax" or (width, mcs.index, mcs.streams) not in _MISSING]


def _mcs(radio: Resolved) -> _Mcs:
    """The MCS: as given, else the first at the rate that ours resolved, of those with ``streams`` if that is given."""
    standard, width = radio["standard"], _width(radio)
    subcarriers = _SUBCARRIERS[standard][width]
    symbol_ns = (12_800 if standard == "802.11ax" else 3_200) + _guard_ns(radio)

    def rate_bps(mcs: _Mcs) -> int:
        bits, data, coded = _SCHEMES[mcs.scheme]
        return subcarriers * mcs.streams * bits * data // coded * 10**9 // symbol_ns

    return next(
        mcs
        for mcs in _all_mcs(standard, width)
        if radio.get("streams") in (None, mcs.streams)
        and (mcs.index == radio["mcs"] if radio.get("mcs") is not None else rate_bps(mcs) == radio["rate_bps"])
    )


def _guard_ns(radio: Resolved) -> int:
    return int(radio.get("guard_interval", "800ns").removesuffix("ns"))


def _width(radio: Resolved) -> int:
    """MHz; 20 where no key says it."""
    return int(radio.get("width", "20MHz").removesuffix("MHz"))


def _dsss(mbps: float) -> str:
    return f"DsssRate{mbps:g}Mbps".replace(".", "_")


def _loss(radio: Resolved) -> tuple[str | float, ...]:
    if radio["propagation"] == "two-ray":
        return ("two-ray", CARD_HZ, CARD_HEIGHT_M)
    return ("log-distance", radio["path_loss_exponent"], dbm(CARD_W) - dbm(radio["received_at_1m_w"]))


def _power_dbm(radio: Resolved, distance_m: float) -> float:
    """The received power over so many metres, at least 1."""
    if radio["propagation"] == "two-ray":
        return dbm(two_ray_power_w(distance_m))
    return dbm(radio["received_at_1m_w"]) - 10 * float(radio["path_loss_exponent"]) * math.log10(max(1.0, distance_m))
