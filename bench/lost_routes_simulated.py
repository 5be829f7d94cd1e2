"""Downloads over a chain under the simulator's routing protocols."""

from __future__ import annotations

import json

import numpy as np

from lost_routes_places import BEGIN_S, BEGINS_S, FLOOD_BPS, RECEIVER, SERVER, Outcome, is_flood, longest, mesh
from meshpace import engine
from meshpace.engine import Job

PROTOCOLS = {
    "static": 'protocol = "static"',
    "AODV of ns-2": 'protocol = "aodv"',
    "AODV of RFC 3561": 'protocol = "aodv"\nprofile = "rfc3561"',
    "DSDV": 'protocol = "dsdv"',
    "Babel": 'protocol = "babel"',
}
SCENARIO = """\
[measure]
duration = "{end}s"
warmup = "{begin}s"

{mesh}
[routing]
{routing}

[defaults]
segment = 1460
window = 4000
start_jitter = 0

[[flow]]
from = "{server}"
to = "{receiver}"
{app}
start = "{starts}s"

# A TUN device takes packets out of their sender's count at once (docs/emulation.md, twins).
[scheme.over-cubic]
base = "linux-cubic"
small_queue = false

# As the daemon does by itself (docs/robustness.md).
[scheme.over-gap]
base = "linux-cubic"
small_queue = false
gateway = "pacing+goodput-control"
gap_queue = "codel"
gap_window = "pipe"
gap_retransmissions = "first"
gc_profile = "robust"

[scheme.over-flood-fq]
base = "linux-cubic"
relay = "fq-codel"

[scheme.over-calm]
base = "calm"
ack_policy = "linux"
small_queue = false
"""
FLOOD = f'app = "cbr"\nrate = {FLOOD_BPS}\npacket = 1472'
STEP_S = 0.25
"""Between two samples of a time series."""


def simulated(protocol: str, sender: str, hops: int, seconds: int, seed: int) -> Outcome:
    app = (
        f'{FLOOD}\nscheme = "{"over-flood-fq" if sender == "flood-fq" else "newreno"}"'
        if is_flood(sender)
        else f'app = "ftp"\nscheme = "over-{sender}"'
    )
    text = SCENARIO.format(
        begin=BEGIN_S, end=BEGIN_S + seconds, starts=BEGINS_S, mesh=mesh(hops), routing=PROTOCOLS[protocol],
        server=SERVER, receiver=RECEIVER, app=app,
    )  # fmt: skip
    said, series = engine.run_watched(Job("chain", text.encode(), seed=seed), series=True, capture=None)
    result = json.loads(said)
    assert series is not None, "it was asked for"
    silence = silent(series, BEGIN_S)
    return Outcome(result["flows"][0]["goodput_bps"], result["routing"]["route_failures"], silence)


def silent(series: engine.Columns, begin: float) -> float:
    """The longest time without goodput from then on, by the flow's samples."""
    kinds = series["kind"]
    times, rates = (np.frombuffer(bytes(series[name]), "<f8") for name in ("t_s", "goodput_bps"))
    of_flow = (rate for kind, at, rate in zip(kinds, times, rates, strict=True) if kind == "flow" and at > begin)
    return STEP_S * longest(rate == 0 for rate in of_flow)
