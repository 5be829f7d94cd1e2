"""What calm gets: over chains, on two chains, from the gateway, and with each of its constants halved and doubled.

    .venv/bin/python bench/calm.py TABLE [--seeds K]

TABLE: chains, pairs, gateway, gateway-trains, steps, constants, company, limits, newcomers, shares, pauses, trains,
waiting, comparators, wires.

Goodput in kbit/s, one-way delay (mean) in ms. Runs of 60 s (two chains: 120 s), 20 s of warm-up, static routes,
802.11b at 11 Mbit/s, windows of 512 segments; `trains`, `gateway-trains` and `waiting` are of 802.11n at MCS 4, in
Mbit/s, `wires` of two hosts without a mesh. docs/law.md has the tables.
calm_oracle.py has what open loops get at best.
"""

from __future__ import annotations

import argparse
import statistics

import meshpace
from calm_runs import HOPS, chain, got, load, pair, table, wired
from calm_trains import gateway_trains, trains, waiting

SENDERS = ("linux-cubic", "linux-bbr", "vegas", "cubic-thin", "linux-bbr-thin", "calm")
GATEWAYS = ("linux-cubic", "tcp-gap", "calm-gateway", "calm-edge", "calm")
CONSTANTS = {
    "dr_delta": (0.35, 0.7, 1.4),
    "dr_gain": (0.05, 0.1, 0.2),
    "dr_rise": (0.125, 0.25, 0.5),
    "dr_fall": (1.0, 3.0, 10.0),
    "dr_samples": (1, 2, 4),
    "dr_rounds": (0.0, 1.0, 2.0),
    "dr_horizon": ("10s", "30s", "300s"),
    "dr_first": (2.0, 4.0, 10.0),
    "dr_timeout": (0.5, 0.7, 1.0),
    "dr_friendly": (1.0, 1.3, 1.6),
    "dr_lossy": (0.004, 0.006, 0.01),
    "dr_room": (1.0, 2.0, 4.0),
    "dr_slack": (8.0, 16.0, 32.0),
    "thin_segments": (8, 16, 32),
    "thin_wait": ("100ms", "200ms", "400ms"),
    "thin_tail": ("50ms", "100ms", "200ms"),
    "thin_share": (4, 8, 16),
}


def chains(seeds: int) -> None:
    for rts in ("always", "never"):
        print(f"rts = {rts}")
        rows = [[str(h), *(str(got(chain(h, rts), scheme, seeds)) for scheme in SENDERS)] for h in HOPS]
        table(["hops", *SENDERS], rows)


def pairs(seeds: int) -> None:
    rows = []
    for way in ("up", "down", "mix"):
        of = [got(pair(way), scheme, seeds) for scheme in SENDERS]
        rows.append([way, *(f"{one}, {one.jain:.3f}" for one in of)])
    table(["way", *SENDERS], rows)


def gateway(seeds: int) -> None:
    rows = [
        [f"{h} {'up' if up else 'down'}", *(str(got(wired(h, up), scheme, seeds)) for scheme in GATEWAYS)]
        for up in (False, True)
        for h in (1, 2, 4, 8)
    ]
    for way in ("down", "up", "mix"):
        of = [got(pair(way), scheme, seeds) for scheme in GATEWAYS]
        rows.append([f"two chains, {way}", *(f"{one}, {one.jain:.3f}" for one in of)])
    table(["hops", *GATEWAYS], rows)


STEPS: tuple[dict[str, float | str], ...] = (
    {"dr_delta": 0.7, "dr_gain": 0.1}, {"dr_delta": 0.5, "dr_gain": 0.1}, {"dr_delta": 0.7, "dr_gain": 0.05}, {},
    {"dr_delta": 0.35, "dr_gain": 0.05}, {"dr_delta": 0.5, "dr_gain": 0.025}, {"gap_window": "receiver"},
)  # fmt: skip


def steps(seeds: int) -> None:
    """Downloads, the gateway's constants changed: what waits, how far a step goes, and without a window of its own."""
    places = [(f"{h} down", wired(h, False)) for h in (1, 2, 3, 4, 6, 8, 10)]
    places += [(f"two chains, {way}", pair(way)) for way in ("down", "mix")]

    def row(name: str, scheme: str, keys: dict[str, float | str]) -> list[str]:
        of = [got(place.copy(), scheme, seeds, **keys) for _, place in places]
        return [name, *(f"{one}" + (f", {one.jain:.3f}" if one.jain < 1.0 else "") for one in of)]

    head = ["", *(name for name, _ in places)]
    table(head, [row(scheme, scheme, {}) for scheme in ("linux-cubic", "calm")])
    for scheme in ("calm-gateway", "calm-edge"):
        names = [", ".join(f"`{key}` = {value}" for key, value in keys.items()) or "as it ships" for keys in STEPS]
        print(scheme)
        table(head, [row(name, scheme, keys) for name, keys in zip(names, STEPS, strict=True)])


def constants(seeds: int) -> None:
    empty = {}
    rows = []
    for key, values in CONSTANTS.items():
        for value in values:
            alone = [
                got(chain(h, rts), "calm", seeds, **{key: value}) for rts in ("always", "never") for h in (1, 2, 4, 8)
            ]
            if not empty:
                empty = {
                    n: got(chain(h, rts), "calm", seeds)
                    for n, (rts, h) in enumerate((r, h) for r in ("always", "never") for h in (1, 2, 4, 8))
                }
            share = statistics.mean(one.goodput / empty[n].goodput for n, one in enumerate(alone))
            two = [got(pair(way), "calm", seeds, **{key: value}) for way in ("up", "down", "mix")]
            delay = statistics.mean(one.delay for one in alone)
            rows.append(
                [
                    f"`{key}` = {value}",
                    f"{share:.3f} @ {delay:.0f}",
                    *(f"{one}, {one.jain:.3f}, {one.timeouts}" for one in two),
                ]
            )
    table(
        [
            "constant",
            "8 chains, share of the default's goodput @ delay",
            "two chains up: sum @ delay, Jain, timeouts",
            "down",
            "mix",
        ],
        rows,
    )


FLOORS: tuple[dict[str, float], ...] = (
    {"dr_friendly": 0.0}, {}, {"dr_friendly": 1.0}, {"dr_friendly": 1.5}, {"dr_lossy": 0.005}, {"dr_lossy": 0.007},
    {"dr_lossy": 0.01},
)  # fmt: skip


def company(seeds: int) -> None:
    """Beside senders that fill queues: calm's goodput and theirs, and two flows of calm, by the floor that it keeps."""
    places = (
        ("two chains, down", lambda: pair("down"), (("B", "A1"), ("B", "A2"))),
        ("two chains, up", lambda: pair("up"), (("A1", "B"), ("A2", "B"))),
        ("one queue, 4 hops down", lambda: wired(4, False), (("B", "n0"), ("B", "n0"))),
        ("one queue, 4 hops up", lambda: wired(4, True), (("n0", "B"), ("n0", "B"))),
    )
    rows = []
    for other in ("linux-cubic", "linux-bbr"):
        for name, of, ends in places:
            row = [f"beside {other}, {name}"]
            for floor in FLOORS:
                scenario = of().set("measure.duration", "120s")
                senders = zip(ends, ("calm", other), strict=True)
                scenario.set("flow", [{"from": a, "to": b, "scheme": sender} for (a, b), sender in senders])
                for key, value in floor.items():
                    scenario.set(f"scheme.calm.{key}", value)
                runs = [meshpace.run(scenario, seed=seed)["flows"] for seed in range(1, seeds + 1)]
                calm, its = (statistics.mean(run[n]["goodput_bps"] / 1e3 for run in runs) for n in (0, 1))
                row.append(f"{calm:.0f} : {its:.0f} ({200 * calm / (calm + its):.0f} %)")
            rows.append(row)
    for way in ("down", "up", "mix"):
        of = [got(pair(way), "calm", seeds, **floor) for floor in FLOORS]
        rows.append([f"two of calm, {way}", *(f"{one}, {one.jain:.3f}" for one in of)])
    names = [", ".join(f"`{key}` = {value}" for key, value in floor.items()) or "as it ships" for floor in FLOORS]
    table(["calm : the other (of a fair share)", *names], rows)


NEWCOMER_S = 60
WINDOWS = ((0, 5), (5, 10), (10, 20), (20, 60))


def newcomers(seeds: int) -> None:
    """A second flow begins after 60 s: its share of both's goodput, in parts of a hundred, in seconds after that."""
    queue = wired(4, up=True).set("measure.duration", "120s")
    places = (
        ("two chains, up", pair("up"), (("A1", "B"), ("A2", "B"))),
        ("two chains, down", pair("down"), (("B", "A1"), ("B", "A2"))),
        ("two chains, mix", pair("mix"), (("A1", "B"), ("B", "A2"))),
        ("one queue, 4 hops up", queue, (("n0", "B"), ("n0", "B"))),
        ("one queue, 4 hops down", queue, (("B", "n0"), ("B", "n0"))),
    )
    senders = ("linux-cubic", "linux-bbr", "calm", "calm-gateway")
    rows = []
    for name, place, ends in places:
        starts = ("0s", f"{NEWCOMER_S}s")
        flows = [{"from": a, "to": b, "start": start} for (a, b), start in zip(ends, starts, strict=True)]
        for scheme in senders:
            cells = []
            for begin, end in WINDOWS:
                of = place.copy().set("flow", flows).set("measure.warmup", f"{NEWCOMER_S + begin}s")
                of.set("measure.duration", f"{NEWCOMER_S + end}s")
                runs = [meshpace.run(of, scheme=scheme, seed=seed)["flows"] for seed in range(1, seeds + 1)]
                its, all_ = (sum(flow["goodput_bps"] for run in runs for flow in run[n:]) for n in (1, 0))
                cells.append(f"{100 * its / all_:.0f}")
            rows.append([name, scheme, *cells])
    table(["place", "scheme", *(f"{begin} to {end} s" for begin, end in WINDOWS)], rows)


SELDOM: dict[str, float | str] = {"thin_segments": 32, "thin_wait": "400ms", "dr_slack": 32}
SHARES: tuple[tuple[str, dict[str, float | str]], ...] = (
    ("linux-cubic", {}), ("linux-bbr", {}), ("tcp-gap", {}), ("calm", {}), ("calm", {"dr_delta": 1.4}),
    ("calm", {"dr_delta": 2.8}), ("calm", SELDOM), ("calm", {"rto_max": "9s"}), ("calm-gateway", {}),
)  # fmt: skip


def shares(seeds: int) -> None:
    """Under AODV: two chains, and eight flows of a random mesh, with how many of 1,000 segments were sent again."""
    rows = []
    random = load("gap-fig21-random", 60).set("topology.nodes", 50)
    random.set("topology.width", "1500m").set("topology.height", "700m")
    for scheme, keys in SHARES:
        of = [got(pair(way).set("routing.protocol", "aodv"), scheme, seeds, **keys) for way in ("up", "down", "mix")]
        cells = [f"{one}, {one.jain:.3f}" for one in of]
        for protocol in ("static", "aodv"):
            mesh = random.copy().set("routing.protocol", protocol)
            for key, value in keys.items():
                mesh.set(f"scheme.{scheme}.{key}", value)
            flows = [meshpace.run(mesh, scheme=scheme, seed=seed) for seed in range(1, seeds + 1)]
            total, again, sent = (
                sum(flow[key] for run in flows for flow in run["flows"])
                for key in ("goodput_bps", "retransmits", "segments_sent")
            )
            jain = statistics.mean((run["jain_windows"] or {}).get("10") or 1.0 for run in flows)
            cells.append(f"{total / seeds / 1e3:.0f}, {jain:.3f}, {1000 * again / sent:.0f}")
        rows.append([", ".join([scheme, *(f"{key} = {value}" for key, value in keys.items())]), *cells])
    table(["", "two chains up", "down", "mix", "random mesh, static routes", "random mesh, AODV"], rows)


def pausing(pause: float, after_timeout: float | None, delta: float) -> type[meshpace.Formula]:
    """Calm that sends nothing new for so long each second, each flow at another time.

    If told, it does so for so many seconds after a timeout only.
    """

    class Pausing(meshpace.Formula):
        base = "calm"
        name = "pausing-" + "-".join(f"{1000 * value:.0f}" for value in (pause, after_timeout or 0.0, delta))
        parameters = {"dr_delta": delta}  # noqa: RUF012
        phase: float | None = None
        until = 0.0

        def on_timeout(self, now: float) -> meshpace.Reply:
            self.until = now + (after_timeout or 0.0)
            return meshpace.Reply(window=1e6)

        def on_ack(self, ack: object) -> meshpace.Reply:
            now = ack.now  # type: ignore[attr-defined]
            self.phase = 7.31 * now if self.phase is None else self.phase
            pauses = after_timeout is None or now <= self.until
            return meshpace.Reply(window=1.0 if pauses and (now + self.phase) % 1.0 < pause else 1e6)

    return Pausing


PAUSES = ((0.0, None, 0.7), (0.02, None, 0.7), (0.1, None, 0.7), (0.2, None, 0.7), (0.1, 60.0, 0.7), (0.0, None, 1.4),
          (0.1, None, 1.4), (0.1, 60.0, 1.4))  # fmt: skip
"""Seconds of each; for how long after a timeout, or always; `dr_delta`."""


def pauses(seeds: int) -> None:
    """Two chains under AODV, whose flows now and then send nothing, so that a search for a route comes through."""
    rows = []
    for pause, after, delta in PAUSES:
        scheme = pausing(pause, after, delta)
        of = [got(pair(way).set("routing.protocol", "aodv"), scheme, seeds, first=21) for way in ("up", "down", "mix")]
        when = "always" if after is None else f"for {after:.0f} s after a timeout"
        name = f"{1000 * pause:.0f} ms a second, {when}" if pause else "none"
        rows.append([name, f"{delta}", *(f"{one}, {one.jain:.3f}" for one in of)])
    table(["pause", "`dr_delta`", "two chains up", "down", "mix"], rows)


def limits(seeds: int) -> None:
    """With a small window, with a filter behind an announced window."""
    small = [(name, got(wired(1, True).set("defaults.window", 64), name, seeds)) for name in ("linux-cubic", "calm")]
    print("window of 64, 1 hop up:", [f"{name} {one}" for name, one in small])
    for relay in ("drop-tail", "ack-filter"):
        print(f"calm-gateway, relay = {relay}, 4 hops down:", got(wired(4, False), "calm-gateway", seeds, relay=relay))


COMPARATORS = (
    "copa", "linux-bbr", "linux-cubic", "vegas", "ledbat", "tcp-ap", "tcp-gap", "newreno-dynack", "linux-bbr-tack",
    "ez-flow", "cubic-cake-acks", "calm",
)  # fmt: skip


def comparators(seeds: int) -> None:
    """What others get, with their own acknowledgements (calm with Linux's) and with thin ones."""
    rows = []
    for scheme in COMPARATORS:
        own = {"ack_policy": "linux"} if scheme == "calm" else {}
        for name, keys in (("Linux's" if own else "its own", own), ("thin", {"ack_policy": "thin"})):
            alone = [str(got(chain(hops, "always"), scheme, seeds, **keys)) for hops in (1, 4, 8)]
            two = [got(pair(way), scheme, seeds, **keys) for way in ("up", "down")]
            rows.append([scheme, name, *alone, *(f"{one}, {one.jain:.3f}" for one in two)])
    table(["scheme", "acknowledgements", "1 hop", "4 hops", "8 hops", "two chains, up", "two chains, down"], rows)


WIRES = tuple(
    (rate, ms, seconds)
    for rate, seconds in ((10, 60), (100, 30), (1_000, 12), (10_000, 3))
    for ms in (1, 10, 50, 200)
    # The start of a long path takes longer than so short a run.
    if (rate, ms) not in ((10_000, 50), (10_000, 200))
)
"""Mbit/s, round trip, length of the run."""


def wire(rate: int, trip: int, seconds: int) -> meshpace.Scenario:
    """Two hosts and a router, in the last quarter of the run. The slow link's queue is what the path holds."""
    holds = rate * trip * 1_000 // (8 * 1_500)
    hosts = [{"id": name, "role": "wired"} for name in ("a", "r", "b")]
    links = [
        {"a": "a", "b": "r", "rate": f"{10 * rate}Mbps", "delay": "0ms", "queue": max(50, holds)},
        {"a": "r", "b": "b", "rate": f"{rate}Mbps", "delay": f"{trip / 2}ms", "queue": max(50, holds)},
    ]
    scenario = meshpace.Scenario("").set("node", [*hosts, {"id": "n", "x": 0, "y": 0}]).set("link", links)
    scenario.set("flow", [{"from": "a", "to": "b", "segment": 1448, "window": 4 * max(50, holds)}])
    return scenario.set("measure.duration", f"{seconds}s").set("measure.warmup", f"{seconds * 3 / 4}s")


def wires(seeds: int) -> None:
    """Wired paths without a mesh: share of the link's rate @ one-way delay, timeouts."""
    print("| path | linux-cubic | calm |\n| --- | --- | --- |")
    for rate, trip, seconds in WIRES:
        cells = []
        for scheme in ("linux-cubic", "calm"):
            one = got(wire(rate, trip, seconds), scheme, seeds)
            cells.append(f"{one.goodput / rate / 10 * 1500 / 1448:.1f} % @ {one.delay:.1f}, {one.timeouts}")
        print(f"| {rate} Mbit/s, {trip} ms | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = {
        "chains": chains,
        "pairs": pairs,
        "gateway": gateway,
        "gateway-trains": gateway_trains,
        "steps": steps,
        "constants": constants,
        "company": company,
        "limits": limits,
        "newcomers": newcomers,
        "shares": shares,
        "pauses": pauses,
        "trains": trains,
        "waiting": waiting,
        "comparators": comparators,
        "wires": wires,
    }
    parser.add_argument("table", choices=tables)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    tables[asked.table](asked.seeds)


if __name__ == "__main__":
    main()
