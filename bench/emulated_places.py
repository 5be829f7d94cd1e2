"""Meshes on which this kernel's senders are compared."""

from __future__ import annotations

from typing import NamedTuple

CHAIN = """
[topology]
kind = "chain"
hops = {hops}
spacing = "{spacing}"
"""
B = """
[radio]
rate = "11Mbps"
rts = "always"
"""
FQ_CODEL = """
[defaults]
scheme = "linux-cubic"

[scheme.linux-cubic]
relay = "fq-codel"
"""
# The ground of docs/radios.md with error curves, in the band of 5 GHz: neighbours at -70 dBm, two hops are sensed.
N = """
[radio]
standard = "802.11n"
mcs = 4
rts = "never"
reception = "sinr"
error_model = "curve"
propagation = "log-distance"
path_loss_exponent = 3
tx_power = "16dBm"
sensitivity = "-75dBm"
cs_sensitivity = "-82dBm"
arp = false
"""
# The TCP-GAP paper's Figs. 10 to 12: its chains, its three wired links.
PAIR = """
[topology]
kind = "parallel-chains"
hops = 5
spacing = "200m"
gap = "400m"
"""
WIRED = """
[[node]]
id = "{there}"
role = "wired"

[[link]]
a = "{here}"
b = "{there}"
rate = "10Mbps"
delay = "40ms"
"""
LINKS = (("IG", "RT1"), ("RT1", "RT2"), ("RT2", "B"))
PAPERS_PAIR = PAIR + "".join(WIRED.format(here=here, there=there) for here, there in LINKS)


class MeshCase(NamedTuple):
    """A mesh, whose flows go from where to where, and where acknowledgements set out into it."""

    mesh: str
    ends: tuple[tuple[str, str], ...]
    edges: tuple[str, ...]
    warmup_s: int
    seconds: int


def chain(hops: int, radio: str = B, flows: int = 1, warmup_s: int = 6, seconds: int = 15) -> MeshCase:
    spacing = "20.45m" if radio is N else "200m"
    mesh = CHAIN.format(hops=hops, spacing=spacing) + radio
    return MeshCase(mesh, (("n0", f"n{hops}"),) * flows, (f"n{hops}",), warmup_s, seconds)


def pair(*ends: tuple[str, str]) -> MeshCase:
    return MeshCase(B + PAPERS_PAIR, ends, ("A1", "A2", "IG"), warmup_s=10, seconds=25)


UP = (("A1", "B"), ("A2", "B"))
PLACES = {
    **{f"{hops} hops" if hops > 1 else "1 hop": chain(hops) for hops in (1, 4, 8)},
    **{f"802.11n, {hops} hops" if hops > 1 else "802.11n, 1 hop": chain(hops, N) for hops in (1, 4, 8)},
    "two chains, up": pair(*UP),
    "two chains, down": pair(("B", "A1"), ("B", "A2")),
    "two chains, one each way": pair(("A1", "B"), ("B", "A2")),
    "one queue, 4 hops": chain(4, flows=2, warmup_s=10, seconds=25),
    **{f"{hops} hops, fq-codel": chain(hops, B + FQ_CODEL) for hops in (4, 8)},
    "files over 4 hops": chain(4, flows=0, warmup_s=0, seconds=60),
    "files beside bulk": chain(4, warmup_s=0, seconds=80),
}
