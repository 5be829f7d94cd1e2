"""The families that are held against closed forms: times on the air, one saturated sender, Bianchi."""

from __future__ import annotations

from collections.abc import Iterator

from meshpace.project import validation_directory
from meshpace.validation.exchanges import exchange_us, frame_us
from meshpace.validation.high_throughput import BLOCK_ACK_BYTES, MODES, SIFS
from meshpace.validation.model import (
    Absolute,
    Check,
    FilmedStretch,
    Quantity,
    Relative,
    Setup,
    aggregate_kbps,
    goodput_kbps,
)
from meshpace.validation.theory import ACK_BYTES, CTS_BYTES, RTS_BYTES, Bianchi, Phy, one_sender_bps

_TO_A_TENTH = Absolute(0.1)
"""Microseconds: the tables print tenths, and the engine rounds each frame up to a nanosecond."""
_STRETCH = FilmedStretch(begin_s=1.0, length_s=0.5, frames=2000)

_DSSS_TABLE = {
    (28, 2.0): (7294, 1454, 6618, 778),
    (28, 5.5): (3404.5, 1280.9, 2728.5, 604.9),
    (28, 11.0): (2293.3, 1231.5, 1617.3, 555.5),
    (34, 2.0): (7318, 1478, 6642, 802),
    (34, 5.5): (3413.3, 1289.6, 2737.3, 613.6),
    (34, 11.0): (2297.6, 1235.8, 1621.6, 559.8),
}
"""schemes.md 17.2: us of an exchange, by MAC bytes and Mb/s: TCP data and TCP ACK after RTS/CTS, both without."""

_OFDM_TABLE = {6: (2072, 128, 44), 12: (1048, 76, 32), 24: (536, 48, 28), 54: (248, 32, 28)}
"""schemes.md 17.3: us of a data frame of 1536 bytes, of a TCP ACK's of 76, of a MAC ACK, by Mb/s, in 802.11a."""
_OFDM_OVERHEAD = 36
"""MAC header, LLC and FCS of 17.3's frames: 1500 and 40 bytes make 1536 and 76."""
_TCP_DATA, _TCP_ACK, _UDP_HEADERS = 1500, 40, 28
"""Bytes of IP packets of validation/exchange.toml, and of the headers of IP and UDP."""
_SIGNAL_EXTENSION_US = {"802.11a": 0, "802.11g": 6}
_OFDM_SIFS_US = {"802.11a": 16, "802.11g": 10}


def exchange() -> Iterator[Setup]:
    """Times on the air of a TCP connection over one hop.

    Of all exchanges in half a second the one farthest from the table; `--pcap FILE` shows the frames.
    """
    yield from _dsss_exchanges()
    yield from _ofdm_exchanges()
    yield from _ht_exchanges()


def _dsss_exchanges() -> Iterator[Setup]:
    for (overhead, mbps), times in _DSSS_TABLE.items():
        for rts, (data, tcp_ack) in ((True, times[:2]), (False, times[2:])):
            name = f"802.11b, {mbps:g} Mb/s, {overhead} MAC bytes, {'RTS on' if rts else 'RTS off'}"
            settings = (f"radio.rate={mbps:g}Mbps", f"radio.mac_overhead={overhead}", _rts(rts))
            source = "schemes.md 17.2"
            checks = (
                _time(name, "exchange of TCP data", data, exchange_us("data", rts, data), source),
                _time(name, "exchange of a TCP ACK", tcp_ack, exchange_us("tcp-ack", rts, tcp_ack), source),
            )
            yield _filmed(settings, checks)


def _ofdm_exchanges() -> Iterator[Setup]:
    for standard, extension in _SIGNAL_EXTENSION_US.items():
        for mbps, times in _OFDM_TABLE.items():
            data, tcp_ack, ack = (time + extension for time in times)
            name = f"{standard}, {mbps:g} Mb/s"
            settings = (
                f"radio.standard={standard}", f"radio.rate={mbps:g}Mbps", f"radio.mac_overhead={_OFDM_OVERHEAD}",
                "radio.rts=never",
            )  # fmt: skip
            source = "schemes.md 17.3"
            whole = data + _OFDM_SIFS_US[standard] + ack
            checks = (
                _time(name, "data frame", data, frame_us("data", data), source),
                _time(name, "TCP ACK's frame", tcp_ack, frame_us("tcp-ack", tcp_ack), source),
                _time(name, "MAC ACK", ack, frame_us("ack", ack), source),
                _time(name, "exchange of TCP data", whole, exchange_us("data", False, whole), source),
            )
            yield _filmed(settings, checks)


def _ht_exchanges() -> Iterator[Setup]:
    """TCP in frames of one packet; datagrams in full frames after RTS/CTS, block acknowledgements behind them."""
    source = "IEEE 802.11-2020, clause 19"
    for mode in MODES:
        common = ("radio.standard=802.11n", *mode.settings)
        name = f"802.11n, {mode.name}"
        data, tcp_ack, ack = mode.frame(_TCP_DATA, 1), mode.frame(_TCP_ACK, 1), mode.control(ACK_BYTES)
        whole = mode.exchange(_TCP_DATA, 1)
        alone = (
            _time(name, "data frame", data, frame_us("data", data), source),
            _time(name, "TCP ACK's frame", tcp_ack, frame_us("tcp-ack", tcp_ack), source),
            _time(name, "MAC ACK", ack, frame_us("ack", ack), source),
            _time(name, "exchange of TCP data", whole, exchange_us("data", False, whole), source),
        )
        yield _filmed((*common, "radio.aggregate=0", "radio.rts=never"), alone)
        count = mode.fill(_TCP_DATA, 65_535)
        rts, cts, full = mode.control(RTS_BYTES), mode.control(CTS_BYTES), mode.frame(_TCP_DATA, count)
        block_ack = mode.control(BLOCK_ACK_BYTES)
        whole = rts + cts + 2 * SIFS + mode.exchange(_TCP_DATA, count)
        name = f"{name}, frames of {count} datagrams"
        several = (
            _time(name, "RTS", rts, frame_us("rts", rts), source),
            _time(name, "CTS", cts, frame_us("cts", cts), source),
            _time(name, "data frame", full, frame_us("data", full), source),
            _time(name, "block ACK", block_ack, frame_us("block-ack", block_ack), source),
            _time(name, "exchange", whole, exchange_us("data", True, whole, "block-ack"), source),
        )
        offered = f"flow.0.rate={8e3 * 1.5 * count * _TCP_DATA / whole:.0f}kbps"
        flow = ("flow.0.app=cbr", f"flow.0.packet={_TCP_DATA - _UDP_HEADERS}", offered)
        yield _filmed((*common, *flow, "radio.rts=always"), several)


def _rts(on: bool) -> str:
    return f"radio.rts={'always' if on else 'never'}"


def _time(name: str, quantity: str, expected: float, take: Quantity, source: str) -> Check:
    return Check(name, quantity, "us", expected, _TO_A_TENTH, take, source, digits=5)


def _filmed(settings: tuple[str, ...], checks: tuple[Check, ...]) -> Setup:
    return Setup("exchange", "exchange.toml", settings, None, 1, checks, validation_directory, _STRETCH)


_PACKET, _PAYLOAD = 1506, 1478
"""Bytes of the IP packets of validation/saturated.toml, and of the datagrams in them."""
_SEEDS = 3


def _saturated(phy: Phy, rts: bool, stations: int, backoffs: str) -> tuple[str, ...]:
    # 75 packets a second at 1 Mb/s, 500 at 11: as many packets in ten times the time.
    length = ("measure.duration=220s", "measure.warmup=20s") if phy.rate_mbps == 1 else ()
    return (
        *length, f"radio.standard={phy.standard}", f"radio.rate={phy.rate_mbps:g}Mbps", _rts(rts),
        f"radio.backoff_range={backoffs}", f"topology.nodes={2 * stations}", f"flow.0.count={stations}",
        f"flow.0.rate={phy.rate_mbps:g}Mbps",
    )  # fmt: skip


def bianchi() -> Iterator[Setup]:
    """Saturation throughput (UDP payload) of n stations in range, 7 attempts a packet.

    Against Bianchi 2000 with the finite retries of Wu et al. 2002: W = CWmin + 1 = 32; Ts = exchange + DIFS; Tc = first
    frame + EIFS + DIFS, for n = 2, where nobody stands by, first frame + SIFS + ACK (or CTS) + 4 us + DIFS. It knows
    neither the slot after a success, which only the last sender can use, nor the colliders' head start over the
    bystanders' EIFS; crates/radio/tests/saturation has a form with both, which explains most of what is left.
    """
    for mbps in (11.0, 1.0):
        phy = Phy("802.11b", mbps)
        for rts in (False, True):
            for n in (2, 3, 5, 10, 15, 20):
                expected = Bianchi(phy, n, rts).throughput_bps(_PACKET, _PAYLOAD) / 1e3
                name = f"{mbps:g} Mb/s, {'RTS/CTS' if rts else 'basic access'}, {n} stations"
                check = Check(
                    name, "throughput", "kbit/s", expected, Relative(0.03), aggregate_kbps,
                    "Bianchi, finite retries", digits=5,
                )  # fmt: skip
                settings = _saturated(phy, rts, n, "standard")
                yield Setup("bianchi", "saturated.toml", settings, None, _SEEDS, (check,), validation_directory)


_LAST_SLOT = {"ns2": -1, "standard": 0}
"""The largest backoff over CWmin: ns-2 draws from 0..cw-1, the standard from 0..cw."""


def saturation() -> Iterator[Setup]:
    """One sender that always has a packet (UDP payload): DIFS + mean backoff + exchange a packet.

    The mean backoff is 15 slots (ns2: 0..30) or 15.5 (standard: 0..31), with OFDM 7 or 7.5.
    """
    phys = [*(Phy("802.11b", mbps) for mbps in (1.0, 2.0, 5.5, 11.0)), Phy("802.11a", 6.0), Phy("802.11a", 54.0)]
    for phy in (*phys, Phy("802.11g", 54.0)):
        for rts in (False, True):
            for backoffs, last in _LAST_SLOT.items():
                expected = one_sender_bps(phy, _PACKET, _PAYLOAD, rts, (phy.cw_min + last) / 2) / 1e3
                access = "RTS on" if rts else "RTS off"
                name = f"{phy.standard}, {phy.rate_mbps:g} Mb/s, {access}, backoffs {backoffs}"
                check = Check(
                    name, "goodput", "kbit/s", expected, Relative(0.01), goodput_kbps(),
                    "DIFS + backoff + exchange", digits=5,
                )  # fmt: skip
                settings = _saturated(phy, rts, 1, backoffs)
                yield Setup("saturation", "saturated.toml", settings, None, _SEEDS, (check,), validation_directory)
