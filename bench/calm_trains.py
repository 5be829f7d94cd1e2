"""Tables of bench/calm.py of radios that aggregate: 802.11n at MCS 4 where no other is named; Mbit/s @ ms."""

from __future__ import annotations

import itertools
import tomllib

import meshpace
from calm_runs import SCENARIOS, got, load, table, wired

VALUES = tomllib.loads((SCENARIOS.parent / "papers" / "calm" / "paper.toml").read_text(encoding="utf-8"))["values"]
GROUNDS: dict[str, dict[str, object]] = {"error curves": VALUES["n"] | VALUES["curves"], "papers": VALUES["n"]}
"""802.11n on the grounds of the study `calm`."""
TRAINS: tuple[tuple[str, dict[str, float | str]], ...] = (
    ("linux-cubic", {}), ("linux-bbr", {}), ("cubic-thin", {}),
    ("calm", {"dr_unit": 1}), ("calm", {"dr_unit": 8}), ("calm", {}),
)  # fmt: skip


def adhoc(hops: int, *ends: tuple[int, int]) -> meshpace.Scenario:
    flows = [{"from": f"n{a}", "to": f"n{b}"} for a, b in ends]
    return load("chain-adhoc", 60).set("topology.hops", hops).set("flow", flows)


def on(ground: str, of: meshpace.Scenario) -> meshpace.Scenario:
    for key, value in GROUNDS[ground].items():
        of.set(key, value)
    return of


def mbit(
    of: meshpace.Scenario, scheme: str | type[meshpace.Formula], seeds: int, first: int = 1, **keys: float | str
) -> str:
    one = got(of.copy(), scheme, seeds, first, **keys)
    shared = f", {one.jain:.3f}" if len(of.resolve(1)["flows"]) > 1 else ""
    return f"{one.goodput / 1e3:.2f} @ {one.delay:.1f}{shared}"


def trains(seeds: int) -> None:
    """On 802.11n: packets one by one, trains of what one access carries, and others."""
    names = [", ".join([scheme, *(f"{key} = {value}" for key, value in keys.items())]) for scheme, keys in TRAINS]
    paths = [(f"{h} hop{'s' if h > 1 else ''}", adhoc(h, (0, h))) for h in (1, 2, 4, 8)]
    paths += [(f"{h} hops, opposite flows", adhoc(h, (0, h), (h, 0))) for h in (4, 8)]
    paths += [
        (
            f"{h} hop{'s' if h > 1 else ''} {'up' if up else 'down'}",
            wired(h, up).set("topology.wired_rate", "1Gbps"),
        )
        for h in (1, 4)
        for up in (True, False)
    ]
    for ground in GROUNDS:
        rows = [
            [name, *(mbit(on(ground, of.copy()), scheme, seeds, **keys) for scheme, keys in TRAINS)]
            for name, of in paths
        ]
        print(f"ground = {ground}")
        table(["path", *names], rows)


def gateway_trains(seeds: int) -> None:
    """On 802.11n: a gateway whose packets leave one by one, and by what one access carries."""
    schemes = [(scheme, most) for scheme in ("tcp-gap", "calm-gateway") for most in (1, 4, 16)]
    for ground in GROUNDS:
        rows = []
        for h in (1, 2, 4, 8):
            of = on(ground, wired(h, up=False).set("topology.wired_rate", "1Gbps"))
            trained = [mbit(of, scheme, seeds, gap_trains=most) for scheme, most in schemes]
            rows.append([f"{h}", mbit(of, "linux-cubic", seeds), *trained])
        print(f"ground = {ground}")
        table(["hops down", "linux-cubic", *(f"{scheme}, {most}" for scheme, most in schemes)], rows)


DELTAS = (1.5, 1.2, 1.05, 0.7, 0.55)


def waiting(seeds: int) -> None:
    """On 802.11n: how many trains wait."""
    paths = [(f"{h} hop{'s' if h > 1 else ''}", adhoc(h, (0, h))) for h in (1, 2, 4, 8)]
    paths += [("4 hops, opposite", adhoc(4, (0, 4), (4, 0)))]
    for ground in GROUNDS:
        rows = [
            [f"{delta}", *(mbit(on(ground, of.copy()), "calm", seeds, dr_delta_trains=delta) for _, of in paths)]
            for delta in DELTAS
        ]
        shorter = [mbit(on(ground, of.copy()), "calm", seeds, dr_unit=12) for _, of in paths]
        rows.append(["1.2, `dr_unit` = 12", *shorter])
        print(f"ground = {ground}")
        table(["`dr_delta_trains`", *(name for name, _ in paths)], rows)
    # Where a frame takes 64 packets or 256, on the ground of the study `radios-later`.
    high = {"radio.width": "80MHz", "radio.frequency": "5.21GHz", "radio.tx_power": "16dBm", "defaults.window": 2048}
    later = []
    for standard, h in itertools.product(("802.11ac", "802.11ax"), (4, 8)):
        of = on("error curves", adhoc(h, (0, h))).set("measure.duration", "15s").set("measure.warmup", "5s")
        for key, value in (high | {"radio.standard": standard}).items():
            of.set(key, value)
        later.append((f"{standard}, {h} hops", of))
    rows = [[f"{delta}", *(mbit(of, "calm", seeds, dr_delta_trains=delta) for _, of in later)] for delta in DELTAS]
    table(["`dr_delta_trains`", *(name for name, _ in later)], rows)
