"""The radio of a scenario in ns-3.37's terms."""

from __future__ import annotations

import math

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
}  # fmt: skip
"""Short slots: no 802.11b stations are about. Headers and FCS: 24 bytes (26 with QoS control), LLC/SNAP 8, FCS 4."""
_MANDATORY_MBPS = (6, 12, 24)
"""OFDM stations answer at the fastest of these that is no faster than the data (IEEE 802.11-2020, 10.6.6.5.2)."""
_REFERENCE_MBPS = (6, 12, 18, 24, 36, 48, 54, 54)
"""Non-HT reference rates of MCS mod 8 (IEEE 802.11-2020, 10.6.11)."""
_BITS = {20: (26, 52, 78, 104, 156, 208, 234, 260), 40: (54, 108, 162, 216, 324, 432, 486, 540)}
"""Data bits of a symbol and stream, by width in MHz and MCS mod 8 (IEEE 802.11-2020, 19.5)."""
_MCS_COUNT = 32
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
    if standard is None or len(found.refused) > before:
        return None
    return _expressed(radio, standard)


def _expressed(radio: Resolved, standard: Standard) -> Radio:
    ht = _mcs(radio) if radio["standard"] == "802.11n" else None
    band = "5GHZ" if radio["standard"] == "802.11a" or radio.get("frequency", 0) > 3e9 else "2_4GHZ"
    legacy = "OfdmRate" if band == "5GHZ" else "ErpOfdmRate"
    basic_mbps = radio["basic_rate_bps"] / 1e6
    if radio["standard"] == "802.11b":
        data = _dsss(radio["rate_bps"] / 1e6)
        control = broadcast = _dsss(basic_mbps)
        basic: tuple[str, ...] = (control,)
    else:
        data = f"HtMcs{ht}" if ht is not None else f"{standard.modes}{radio['rate_bps'] / 1e6:g}Mbps"
        reference = _REFERENCE_MBPS[ht % 8] if ht is not None else radio["rate_bps"] / 1e6
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
        streams=1 if ht is None else ht // 8 + 1,
        guard_ns=400 if radio.get("guard_interval") == "400ns" else 800,
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


def _mcs(radio: Resolved) -> int:
    """The MCS: as given, else the first at the rate that ours resolved, of those with ``streams`` if that is given."""
    if radio.get("mcs") is not None:
        return int(radio["mcs"])
    bits, symbol_ns = _BITS[_width(radio)], 3600 if radio["guard_interval"] == "400ns" else 4000
    return next(
        mcs
        for mcs in range(_MCS_COUNT)
        if radio.get("streams") in (None, mcs // 8 + 1)
        and bits[mcs % 8] * (mcs // 8 + 1) * 10**9 // symbol_ns == radio["rate_bps"]
    )


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
    """What arrives over so many metres, at least 1."""
    if radio["propagation"] == "two-ray":
        return dbm(two_ray_power_w(distance_m))
    return dbm(radio["received_at_1m_w"]) - 10 * float(radio["path_loss_exponent"]) * math.log10(max(1.0, distance_m))
