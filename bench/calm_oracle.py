"""The best that fixed rates and fixed trains get on a chain, and calm beside that.

    .venv/bin/python bench/calm_oracle.py [--seeds K] [--hops 1,2,4] [--rts always|never|both] [--random | --aggregates]

Open loops, by search. Rates: a segment every so often, one acknowledgement for 8 or for 16; first in steps of 8 % from
0.6 to 1.6 of what calm gets, then in steps of 2 % around the best. Trains: a window of W segments that never changes,
sent as acknowledgements let it, one of them for W, W / 2 or 2 segments. Losses are found as Linux's senders find them,
and sent again at the rate or in the window.

Of all of these: the most goodput at any delay; at no more than the empty chain's delay and two segments' time at the
bottleneck (of the most goodput); and the same with a train of eight. The empty chain's delay is that of a segment a
second. Goodput in kbit/s @ mean one-way delay in ms; r: rate, W: train, d: segments an acknowledgement. Runs of 60 s,
20 s of them warm-up, static routes, 802.11b at 11 Mbit/s; equal arguments give equal tables. docs/law.md has them.
calm_eight.py searches for eight flows that share a gateway.

With --random instead: eight flows of a random mesh of 50 nodes, a topology a seed. Each flow's max-min share, by search
over fixed rates with thin acknowledgements: all flows get as much as all can have at once (19 of 20 segments arrive in
time), those that can have no more keep that, the others get more.

With --aggregates instead: 802.11n at MCS 4 on the grounds of the study `calm`, in runs as long as the study's, seeds
from 11 on; one flow, and two against each other. Windows as above, and B: trains of so many segments, spaced evenly at
a rate in Mbit/s, an acknowledgement for each. Mbit/s @ ms, with Jain's index over 10 s where two flows share.
"""

from __future__ import annotations

import argparse
import statistics
from typing import NamedTuple

import meshpace
from calm_runs import HOPS, chain, load, table
from calm_trains import GROUNDS, adhoc, mbit, on

_ACKS = (8, 16)
_WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_TAIL = 0.1
"""Seconds after which a receiver answers in any case."""


class Found(NamedTuple):
    """What an open loop got."""

    goodput: float
    delay: float
    loop: str

    def __str__(self) -> str:
        return f"{self.goodput:.0f} @ {self.delay:.0f} ({self.loop})"


class _Open(meshpace.Formula):
    """Acknowledges every d-th segment."""

    base = "cubic-thin"
    d = 1

    def on_segment(self, segment: object) -> meshpace.Wait | None:
        return None if segment.waiting >= self.d else meshpace.Wait(_TAIL, "this")  # type: ignore[attr-defined]


def at_rate(kbit: float, d: int) -> type[meshpace.Formula]:
    class Rate(_Open):
        rated = True
        name = f"rate-{round(kbit)}-{d}"
        interval = 1460 * 8 / (1e3 * kbit)

        def on_ack(self, ack: object) -> None:
            return None

    Rate.d = d
    return Rate


def in_trains(window: int, d: int) -> type[meshpace.Formula]:
    class Train(_Open):
        name = f"train-{window}-{d}"

        def on_ack(self, ack: object) -> meshpace.Reply:
            return meshpace.Reply(window=float(window))

    Train.window = float(window)
    Train.d = d
    return Train


def _got(scenario: meshpace.Scenario, scheme: str | type[meshpace.Formula], loop: str, seeds: int) -> Found:
    flows = [meshpace.run(scenario, scheme=scheme, seed=seed)["flows"][0] for seed in range(1, seeds + 1)]
    delays = [1e3 * (flow["delay_mean_s"] or 0.0) for flow in flows]
    return Found(statistics.mean(flow["goodput_bps"] / 1e3 for flow in flows), statistics.mean(delays), loop)


def _rates(scenario: meshpace.Scenario, around: float, seeds: int) -> list[Found]:
    found = []
    for d in _ACKS:
        tried = {}

        def at(rate: float, d: int = d, tried: dict[float, Found] = tried) -> None:
            if rate not in tried:
                tried[rate] = _got(scenario, at_rate(rate, d), f"r {rate:.0f} d {d}", seeds)

        for n in range(-6, 7):
            at(around * 1.08**n)
        best = max(tried, key=lambda rate: tried[rate].goodput)
        for n in range(-6, 4):
            at(best * 1.02**n)
        found += tried.values()
    return found


def _trains(scenario: meshpace.Scenario, seeds: int) -> list[Found]:
    pairs = {(window, d) for window in _WINDOWS for d in (window, max(1, window // 2), min(2, window))}
    return [_got(scenario, in_trains(*pair), "W {} d {}".format(*pair), seeds) for pair in sorted(pairs)]


def row(hops: int, rts: str, seeds: int) -> list[str]:
    """Of one chain."""
    calm = _got(chain(hops, rts), "calm", "", seeds)
    empty = _got(chain(hops, rts), at_rate(1460 * 8 / 1e3, 1), "", seeds).delay
    found = _rates(chain(hops, rts), calm.goodput, seeds) + _trains(chain(hops, rts), seeds)
    most = max(found)
    segment = 1460 * 8 / most.goodput
    near, train = (max(one for one in found if one.delay <= empty + n * segment) for n in (2, 8))
    shares = (f"{calm.goodput / one.goodput:.2f}" for one in (most, near, train))
    bounds = f"{empty:.1f}; {empty + 2 * segment:.0f}; {empty + 8 * segment:.0f}"
    return [str(hops), bounds, str(most), str(near), str(train), f"{calm.goodput:.0f} @ {calm.delay:.0f}", *shares]


def _random() -> meshpace.Scenario:
    mesh = load("gap-fig21-random", 60).set("topology.nodes", 50)
    return mesh.set("topology.width", "1500m").set("topology.height", "700m")


def _goodputs(mesh: meshpace.Scenario, scheme: str | None, seed: int) -> list[float]:
    return [flow["goodput_bps"] / 1e3 for flow in meshpace.run(mesh, scheme=scheme, seed=seed)["flows"]]


def _kept(seed: int, rates: list[float]) -> list[bool]:
    """Which flows carry these rates, all at once."""
    mesh = _random()
    ends = [(flow["from"], flow["to"]) for flow in mesh.resolve(seed)["flows"]]
    mesh.set("flow", [{"from": a, "to": b, "scheme": f"rate-{n}"} for n, (a, b) in enumerate(ends)])
    for n, rate in enumerate(rates):
        fixed = {"base": "cubic-thin", "pacing": "fixed", "fixed_rate": f"{round(1e3 * rate * 1500 / 1460)}bps"}
        mesh.set(f"scheme.rate-{n}", fixed)
    return [got >= 0.95 * rate for got, rate in zip(_goodputs(mesh, None, seed), rates, strict=True)]


def max_min(seed: int, flows: int = 8) -> list[float]:
    """kbit/s."""
    known: dict[int, float] = {}
    least = 0.0
    while len(known) < flows:

        def kept(rate: float, known: dict[int, float] = known) -> list[bool]:
            return _kept(seed, [known.get(n, rate) for n in range(flows)])

        most = max(2 * least, 200.0)
        while all(kept(most)):
            least, most = most, 2 * most
        for _ in range(6):
            middle = (least + most) / 2
            least, most = (middle, most) if all(kept(middle)) else (least, middle)
        # Those that this much more breaks have what they can have; all, if it breaks others.
        broken = {n for n, well in enumerate(kept(most)) if not well} - known.keys()
        known |= dict.fromkeys(broken or set(range(flows)) - known.keys(), least)
    return [known[n] for n in range(flows)]


def random_row(seed: int) -> list[str]:
    """Of one topology: sums, and the least of what a flow has of its share."""
    share = max_min(seed)
    cells = [str(seed), f"{sum(share):.0f}"]
    for scheme, friendly in (("linux-cubic", None), ("linux-bbr", None), ("calm", None), ("calm", 0.0)):
        mesh = _random() if friendly is None else _random().set("scheme.calm.dr_friendly", friendly)
        found = _goodputs(mesh, scheme, seed)
        worst = min(one / part for one, part in zip(found, share, strict=True))
        cells.append(f"{sum(found):.0f}, {worst:.2f}")
    return cells


_SHORT = {"measure.duration": "35s", "measure.warmup": "5s"}
"""As the study's quick plan."""
_LONG_WINDOWS = (8, 12, 16, 24, 32, 48, 64)
_BURSTS = (8, 12, 16)
_AROUND = (0.85, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3)


def _spaced(segments: int, kbit: float) -> type[meshpace.Formula]:
    gap = segments * 1460 * 8 / (1e3 * kbit)

    class Spaced(_Open):
        rated = True
        name = f"spaced-{segments}-{round(kbit)}"
        interval = gap
        left = 0
        d = segments

        def on_departure(self, now: float) -> meshpace.Reply:
            self.left = (self.left + 1) % segments
            return meshpace.Reply(interval=0.0 if self.left else gap)

        def on_ack(self, ack: object) -> None:
            return None

    return Spaced


def _most(loops: list[tuple[float, str, str]]) -> str:
    _, got, loop = max(loops)
    return f"{got} ({loop})"


def aggregates_row(ground: str, hops: int, both: bool, seeds: int) -> list[str]:
    ends = ((0, hops), (hops, 0)) if both else ((0, hops),)
    scenario = on(ground, adhoc(hops, *ends))
    for key, value in _SHORT.items():
        scenario.set(key, value)

    def tried(scheme: type[meshpace.Formula], loop: str) -> tuple[float, str, str]:
        got = mbit(scenario, scheme, seeds, first=11)
        return float(got.split()[0]), got, loop

    pairs = {(window, d) for window in _LONG_WINDOWS for d in (window, min(8, window))}
    windows = [tried(in_trains(*pair), "W {} d {}".format(*pair)) for pair in sorted(pairs)]
    around = 1e3 * max(windows)[0] / len(ends)
    spaced = [
        tried(_spaced(segments, around * part), f"B {segments} at {around * part / 1e3:.2f}")
        for segments in _BURSTS
        for part in _AROUND
    ]
    known = [mbit(scenario, scheme, seeds, first=11) for scheme in ("linux-cubic", "calm")]
    name = f"{hops} hop{'s' if hops > 1 else ''}{', opposite flows' if both else ''}"
    return [ground, name, known[0], _most(windows), _most(spaced), known[1]]


def aggregates(seeds: int) -> None:
    paths = [(1, False), (2, False), (4, False), (8, False), (4, True), (8, True)]
    rows = [aggregates_row(ground, hops, both, seeds) for ground in GROUNDS for hops, both in paths]
    table(["ground", "path", "linux-cubic", "best window", "best of spaced trains", "calm"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--hops", default=",".join(map(str, HOPS)))
    parser.add_argument("--rts", choices=("always", "never", "both"), default="both")
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--aggregates", action="store_true")
    asked = parser.parse_args()
    if asked.aggregates:
        aggregates(asked.seeds)
        return
    if asked.random:
        schemes = ["linux-bbr", "calm", "`dr_friendly` = 0"]
        head = ["topology", "max-min: sum", "linux-cubic: sum, least of a share", *schemes]
        table(head, [random_row(seed) for seed in range(1, asked.seeds + 1)])
        return
    head = [
        "hops", "delay: empty; and 2 segments; and 8", "the most", "within 2 segments", "within 8", "calm",
        "of the most", "of 2", "of 8",
    ]  # fmt: skip
    for rts in ("always", "never") if asked.rts == "both" else (asked.rts,):
        print(f"rts = {rts}")
        table(head, [row(int(hops), rts, asked.seeds) for hops in asked.hops.split(",")])


if __name__ == "__main__":
    main()
