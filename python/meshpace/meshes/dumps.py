"""Reads what routing daemons and the kernel print as text: olsrd's txtinfo, babeld's dump, 802.11s by iw.

| form | after |
|---|---|
| OLSR txtinfo | olsrd's txtinfo plugin: ``Table: Topology``, ``Table: HNA``, ``Table: MID`` with tabs |
| babeld | ``dump`` on babeld's local interface (``babeld -G``): ``add interface``, ``add neighbour``, ``add xroute``, ``add route`` |
| 802.11s | ``iw dev IF info``, ``iw dev IF station dump``, ``iw dev IF mpath dump``, one behind the other; of several interfaces likewise |

babeld and iw tell what one node sees: one file a node makes a mesh. The node that made a dump is known by its
addresses (babeld's ``add interface``, iw's ``addr``).
"""  # noqa: E501 (a table)

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from meshpace.meshes import channels, rates
from meshpace.meshes.model import Link, Mesh, MeshFileError, Node, both_ways

LQ_OF_OLSR = "loss = 1 - LQ, the part of packets that the last hop gets from the destination"
_BABEL = re.compile(r"^add (interface|neighbour|xroute|route|self) ", re.MULTILINE)
_NOMINAL = 256
"""babeld's cost of a wireless link on which every Hello arrives (``rxcost`` of an interface of type wireless)."""
_INFINITE = 0xFFFF
DEFAULT = frozenset({"0.0.0.0/0", "::/0", "2000::/3"})
"""IPv6's global addresses are what olsrd's README-Olsr-Extensions calls its default route, too."""
_ADDRESS = r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}"
_METRIC_BITS = 8192
"""Of the test frame of the airtime link metric, whose unit in Linux is then the microsecond at 1 Mbit/s."""

Dumps = Sequence[tuple[Path, str]]


def kind_of(text: str) -> str | None:
    """Which of the forms a text is."""
    if "Table: Topology" in text:
        return "OLSR txtinfo"
    if _BABEL.search(text):
        return "babeld"
    if re.search(rf"^\s*Station {_ADDRESS} ", text, re.MULTILINE) or re.search(r"^DEST ADDR\s", text, re.MULTILINE):
        return "802.11s"
    return None


def olsr_txtinfo(dumps: Dumps) -> Mesh:
    """The topology table. LQ: what the last hop gets from the destination, NLQ: the way there (tests/fixtures/olsr)."""
    said, gateways = [], set()
    for path, text in dumps:
        names = {alias: row[0] for _, row in _table(path, text, "MID", 1) for alias in _aliases(row)}
        for line, row in _table(path, text, "Topology", 4):
            target, source = (names.get(name, name) for name in row[:2])
            back, there = (min(max(_number(path, line, part), 0.0), 1.0) for part in row[2:4])
            said.append((Link(target, source, back), there))
        gateways |= {names.get(row[1], row[1]) for _, row in _table(path, text, "HNA", 2) if row[0] in DEFAULT}
    links = both_ways(said)
    nodes = dict.fromkeys(name for link in links for name in (link.source, link.target))
    found = tuple(Node(name, gateway=name in gateways) for name in nodes)
    return Mesh("OLSR txtinfo", found, tuple(links), LQ_OF_OLSR, metric="etx")


def _aliases(row: Sequence[str]) -> Iterator[str]:
    """Addresses of a node's other interfaces: between tabs, in olsrd 0.9.0 between semicolons; built so, with times."""
    for word in ";".join(row[1:]).split(";"):
        yield re.sub(r":\d+\.\d{3}$", "", word)


def babeld(dumps: Dumps) -> Mesh:
    """Neighbours of each node that dumped; the address of an interface here is a neighbour's there."""
    said = [(path, _node_of_babel(path, text), text) for path, text in dumps]
    names = {address: name for _, name, text in said for address in _interfaces(text)}
    links, skipped, gateways = [], [], set()
    for path, name, text in said:
        for line, fields in _added(text, "neighbour"):
            if "address" not in fields:
                raise MeshFileError(
                    f"{path}:{line}: found a neighbour without address; allowed: address, rxcost, txcost"
                )
            other = names.get(fields["address"], fields["address"])
            costs = [_number(path, line, fields.get(key, "")) for key in ("rxcost", "txcost")]
            if min(costs) < _NOMINAL:
                skipped.append(f"{name} - {other} costs less than {_NOMINAL}: a wire or a tunnel, no radio")
                continue
            # babeld's neighbour_rxcost: what Hellos cost in one direction is 256 over the part that arrives; txcost is
            # the other end's.
            for source, target, cost in ((other, name, costs[0]), (name, other, costs[1])):
                links.append(Link(source, target, 0.0 if cost >= _INFINITE else _NOMINAL / cost))
        if any(fields.get("prefix") in DEFAULT for _, fields in _added(text, "xroute")):
            gateways.add(name)
        for _, fields in _added(text, "route"):
            if fields.get("prefix") in DEFAULT and fields.get("refmetric") == "0" and "via" in fields:
                gateways.add(names.get(fields["via"], fields["via"]))
    ends = (end for link in links for end in (link.source, link.target))
    found = dict.fromkeys([*(name for _, name, _ in said), *ends])
    nodes = tuple(Node(name, gateway=name in gateways) for name in found)
    quality = "loss = 1 - 256 / rxcost, the part of Hellos that is lost"
    return Mesh("babeld", nodes, tuple(links), quality, tuple(skipped), metric="etx")


def stations(dumps: Dumps) -> Mesh:
    """Peers of each node that dumped: loss from counted retries, rates from ``tx bitrate``; else from path metrics."""
    measured: list[_Peer] = []
    skipped, owners = [], []
    said = [(path, list(_sections(path, text))) for path, text in dumps]
    names: dict[str, str] = {}
    for path, sections in said:
        addresses = [section.address for section in sections if section.address is not None]
        if not addresses and len(dumps) > 1:
            raise MeshFileError(
                f"{path}: found no address of the node itself; allowed among several: `iw dev IF info` before the dumps"
            )
        owners.append(addresses[0] if addresses else path.stem)
        names |= dict.fromkeys(addresses, owners[-1])
    for owner, (path, sections) in zip(owners, said, strict=True):
        for section in sections:
            peers = dict(_peers(section.text))
            for address, fields in peers.items():
                other = names.get(address, address)
                if fields.get("mesh plink", "ESTAB") != "ESTAB":
                    skipped.append(f"{owner} - {other} is {fields['mesh plink']}, no link yet")
                    continue
                measured.append(_Peer(owner, other, section.mhz, _arrived(path, fields), _bitrate(fields)))
            for line, address, metric in _paths(path, section.text):
                if address in peers:
                    continue
                if metric <= 0:
                    raise MeshFileError(
                        f"{path}:{section.line + line}: found the metric {metric:g}; allowed: more than 0"
                    )
                other = names.get(address, address)
                measured.append(_Peer(owner, other, section.mhz, carries=_METRIC_BITS / metric))
    radios = rates.radios_of([(peer.mhz, peer.bitrate or rates.Rate(peer.carries or 0.0)) for peer in measured])
    links = [_link(peer, radios.on[peer.mhz]) for peer in measured]
    nodes = dict.fromkeys([*owners, *(link.target for link in links)])
    quality = "loss = 1 - (tx packets - tx failed) / (tx packets + tx retries)"
    if any(peer.carries is not None for peer in measured):
        quality += "; of paths without a station: the slowest rate that carries what the metric says"
    quality += radios.rounded or f"; rates rounded down to {radios.standard}'s"
    links = both_ways([(link, link.delivered) for link in links])
    return Mesh(
        "802.11s", tuple(map(Node, nodes)), tuple(links), quality, tuple(skipped), radios.standard, radios.lines,
        radios.widths, "airtime",
    )  # fmt: skip


class _Section(NamedTuple):
    """What one interface of a node says: ``iw dev IF info``, and the dumps behind it."""

    line: int
    """Lines of the file before it."""
    text: str
    address: str | None
    mhz: int | None


def _sections(path: Path, text: str) -> Iterator[_Section]:
    """The interfaces of a file; one of them may be unknown."""
    starts = [found.start() for found in re.finditer(r"^[ \t]*Interface \S+[ \t]*$", text, re.MULTILINE)]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        part = text[start:end]
        address = re.search(rf"^\s*addr ({_ADDRESS})", part, re.MULTILINE)
        channel = re.search(r"^\s*channel [0-9]+ \(([0-9]+) MHz\)(?:.*\bcenter1: ([0-9]+) MHz)?", part, re.MULTILINE)
        line = text.count("\n", 0, start)
        mhz = None
        if channel is not None:
            told = channel[2] or channel[1]
            mhz = channels.centre(f"{told} MHz")
            if mhz is None:
                line += part.count("\n", 0, channel.start(1)) + 1
                raise MeshFileError(f"{path}:{line}: found a channel at {told} MHz; allowed: {channels.ALLOWED}")
        yield _Section(line, part, address[1].lower() if address else None, mhz)


class _Peer(NamedTuple):
    source: str
    target: str
    mhz: int | None
    """The channel's centre."""
    arrived: float | None = None
    bitrate: rates.Rate | None = None
    carries: float | None = None
    """Mbit/s after losses, of a path's metric."""


def _link(peer: _Peer, radio: rates.Radio) -> Link:
    if peer.carries is not None:
        # The metric holds rate and loss in one number: taken to be the slowest rate that carries as much.
        rate = next((rate for rate in radio.rates if rate >= peer.carries), radio.rates[-1])
        return Link(peer.source, peer.target, min(peer.carries / rate, 1.0), rates.shown(rate), peer.mhz)
    rate_of = None if peer.bitrate is None else radio.of(peer.bitrate.mbps)
    return Link(peer.source, peer.target, peer.arrived, rate_of, peer.mhz)


READERS = {"OLSR txtinfo": olsr_txtinfo, "babeld": babeld, "802.11s": stations}


def _table(path: Path, text: str, name: str, columns: int) -> Iterator[tuple[int, list[str]]]:
    """Rows of a table of txtinfo, behind its head, with their lines; of so many columns at least."""
    lines = text.splitlines()
    if f"Table: {name}" not in lines:
        return
    start = lines.index(f"Table: {name}") + 2
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.strip():
            return
        row = re.split(r"\t+|\s{2,}", line.strip())
        if len(row) < columns:
            raise MeshFileError(
                f"{path}:{number}: Table: {name}: found {line.strip()[:60]!r}; allowed: {columns} columns and more"
            )
        yield number, row


def _added(text: str, what: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The fields of each ``add WHAT ID key value ...``."""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words[:2] == ["add", what]:
            rest = words[3:] if what != "interface" else words[2:]
            # `add interface wlan0 up true ...`: its name is the first word.
            pairs = rest[1:] if what == "interface" else rest
            yield number, dict(zip(pairs[::2], pairs[1::2], strict=False))


def _interfaces(text: str) -> Iterator[str]:
    for _, fields in _added(text, "interface"):
        yield from (fields[key] for key in ("ipv6", "ipv4") if key in fields)


def _node_of_babel(path: Path, text: str) -> str:
    host = re.search(r"^host (\S+)", text, re.MULTILINE)
    return host[1] if host else path.stem


def _peers(text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Stations with the fields below each."""
    parts = re.split(rf"^\s*Station ({_ADDRESS}) .*$", text, flags=re.MULTILINE)
    for address, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.partition("DEST ADDR")[0].splitlines()
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        yield address.lower(), {key.strip(): value.strip() for key, value in pairs}


def _arrived(path: Path, fields: Mapping[str, str]) -> float | None:
    """The part of what was put on the air that arrived, after the station's own counters."""
    if "tx packets" not in fields or "tx retries" not in fields:
        return None
    sent, again, failed = (_number(path, 0, fields.get(f"tx {key}", "0")) for key in ("packets", "retries", "failed"))
    return None if sent + again <= 0 else max(sent - failed, 0.0) / (sent + again)


def _bitrate(fields: Mapping[str, str]) -> rates.Rate | None:
    """``65.0 MBit/s MCS 7``: with its kind, if that is known, else the number."""
    text = fields.get("tx bitrate", "")
    found = re.match(r"[0-9.]+ MBit/s", text)
    return None if found is None else rates.read(text) or rates.read(found[0])


def _paths(path: Path, text: str) -> Iterator[tuple[int, str, float]]:
    """Neighbours among the mesh paths (next hop and destination are one), with their metric."""
    head: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("DEST ADDR"):
            head = line.replace("DEST ADDR", "DEST").replace("NEXT HOP", "NEXT").split()
            if "METRIC" not in head:
                raise MeshFileError(f"{path}:{number}: found {line[:60]!r}; allowed: a head with METRIC")
            continue
        words = line.split()
        of_path = head and len(words) >= len(head) - 2 and re.fullmatch(_ADDRESS, words[0])
        if of_path and words[0].lower() == words[1].lower():
            at = head.index("METRIC")
            yield number, words[0].lower(), _number(path, number, words[at] if at < len(words) else "")


def _number(path: Path, line: int, text: str) -> float:
    try:
        found = float("inf" if text == "INFINITE" else text)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        where = f"{path}:{line}" if line else str(path)
        raise MeshFileError(f"{where}: found {text!r}; allowed: a number")
    return found
