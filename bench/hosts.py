"""Downloads of hosts that differ: who gets what through a gateway that shapes by host, and through one that does not.

    .venv/bin/python bench/hosts.py TABLE [--seeds K] [--first N]

A gateway with ten hosts one hop away and ten three hops away; downloads from a wired host, 802.11b at 11 Mbit/s,
static routes, linux-cubic at both ends, 100 s after 20 s of warm-up. Goodput in kbit/s, one-way delays (median) and
waits at the gateway in ms. `chains`, `calls` and `uploads`: one or two hosts at the end of a chain, 60 s after 20 s.
`radios` and `talks`: the same over radios of today, 20 s after 20 s, in Mbit/s. `after`: when a call has ended.
docs/hosts.md has the tables, `--help` their names.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any, NamedTuple

import numpy as np

import meshpace
from meshpace import engine
from meshpace.stats import jain_index

NEAR, FAR = range(10), range(10, 20)
NEAR_RATE, FAR_RATE = "2.8Mbps", "900kbps"
"""What the shaper lets in to near hosts, and to far ones: a tenth below what 21 downloads of them carry."""
AIR_RATE, BYTES_RATE = "2Mbps", "900kbps"
"""The same to both, by air time and by bytes."""
CHAINS = {
    1: ("3Mbps", "3.2Mbps", "3.4Mbps", "3.6Mbps"),
    3: ("900kbps", "1Mbps", "1.1Mbps", "1.2Mbps"),
    4: ("650kbps", "700kbps", "750kbps", "800kbps", "850kbps"),
    8: ("450kbps", "500kbps", "550kbps", "600kbps", "650kbps"),
}
"""Hops of a chain, and the rates of which the best is looked for."""
RADIOS = {
    "802.11g, 54 Mbit/s": 'standard = "802.11g"\nrate = "54Mbps"',
    "802.11n, MCS 4": 'standard = "802.11n"\nmcs = 4',
    "802.11n, MCS 15, 40 MHz": 'standard = "802.11n"\nmcs = 15\nstreams = 2\nwidth = "40MHz"',
}
"""Keys of radios that find their channel taken by ever fewer, ever longer frames."""
Shaper = dict[str, object]
WAYS = (("srv", "h0"), ("h0", "srv"))
CALL = "".join(f'[[flow]]\nfrom = "{a}"\nto = "{b}"\napp = "cbr"\nrate = "80kbps"\npacket = 172\n\n' for a, b in WAYS)
"""A call of the host h0."""


def mesh() -> str:
    """Nodes and link: near hosts stand around the gateway, far ones around the end of a chain of two nodes."""
    near = [(f"h{n}", -100 + 12 * n, 90) for n in NEAR]
    far = [(f"h{n}", 560, -60 + 12 * (n - 10)) for n in FAR]
    places = [("IG", 0, 0), ("R1", 200, 0), ("R2", 400, 0), *near, *far]
    nodes = "".join(f'[[node]]\nid = "{name}"\nx = {x}\ny = {y}\n\n' for name, x, y in places)
    wire = '[[link]]\na = "IG"\nb = "srv"\nrate = "100Mbps"\ndelay = "10ms"\n\n'
    return f'{nodes}[[node]]\nid = "srv"\nrole = "wired"\n\n{wire}'


def chain(hops: int, hosts: int, wire: str = "100Mbps") -> str:
    """A gateway, relays every 200 m, and hosts around the end."""
    places = [("IG", 0, 0), *((f"R{n}", 200 * n, 0) for n in range(1, hops))]
    places += [(f"h{n}", 200 * hops - 40, -60 + 30 * n) for n in range(hosts)]
    nodes = "".join(f'[[node]]\nid = "{name}"\nx = {x}\ny = {y}\n\n' for name, x, y in places)
    link = f'[[link]]\na = "IG"\nb = "srv"\nrate = "{wire}"\ndelay = "10ms"\n\n'
    return f'{nodes}[[node]]\nid = "srv"\nrole = "wired"\n\n{link}'


def uploads(host: int, count: int) -> str:
    return f'[[flow]]\nfrom = "h{host}"\nto = "srv"\napp = "ftp"\nscheme = "here"\ncount = {count}\n\n'


def downloads(host: int, count: int, scheme: str) -> str:
    return f'[[flow]]\nfrom = "srv"\nto = "h{host}"\napp = "ftp"\nscheme = "{scheme}"\ncount = {count}\n\n'


def scenario(
    flows: dict[int, tuple[int, str]],
    shaper: Shaper | None,
    seconds: int,
    nodes: str = "",
    more: str = "",
    radio: str = 'rate = "11Mbps"',
    window: int = 512,
) -> meshpace.Scenario:
    """So many downloads of each host, by their senders' scheme."""
    shaped = {"base": "linux-cubic", **(shaper or {})}
    scheme = "[scheme.here]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in shaped.items())
    head = f'[measure]\nduration = "{seconds + 20}s"\nwarmup = "20s"\n\n[radio]\n{radio}\nrts = "always"\n\n'
    head += f'[routing]\nprotocol = "static"\n\n[defaults]\nscheme = "here"\nwindow = {window}\n\n'
    text = f"{head}{scheme}\n{nodes or mesh()}"
    text += "".join(downloads(host, *what) for host, what in flows.items()) + more
    return meshpace.Scenario(text, "hosts.toml")


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


class Got(NamedTuple):
    """Of one run."""

    hosts: dict[str, float]
    starved: int
    flows: int
    delays: dict[str, float]
    wait_p95: float | None

    @classmethod
    def of(cls, result: Any) -> Got:
        hosts: dict[str, float] = {}
        delays: dict[str, list[float]] = {}
        for flow in result["flows"]:
            host = flow["to"]
            hosts[host] = hosts.get(host, 0.0) + flow["goodput_bps"] / 1e3
            if flow["delay_p50_s"] is not None:
                delays.setdefault(host, []).append(flow["delay_p50_s"])
        waits = [gateway["wait_p95_s"] for gateway in result["gateways"] if gateway["wait_p95_s"] is not None]
        starved = sum(flow["goodput_bps"] == 0 for flow in result["flows"])
        middle = {host: statistics.median(of) * 1e3 for host, of in delays.items()}
        return cls(hosts, starved, len(result["flows"]), middle, waits[0] * 1e3 if waits else None)

    @property
    def jain(self) -> float:
        return jain_index(list(self.hosts.values())) or 0.0

    @property
    def total(self) -> float:
        return sum(self.hosts.values())


def run(
    flows: dict[int, tuple[int, str]],
    shaper: Shaper | None,
    seed: int,
    seconds: int = 100,
    nodes: str = "",
    more: str = "",
) -> Got:
    return Got.of(meshpace.run(scenario(flows, shaper, seconds, nodes, more), seed=seed))


def mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else float("nan")


def table(rows: list[list[str]]) -> None:
    for row in rows:
        print("| " + " | ".join(row) + " |")
        if row is rows[0]:
            print("|" + "---|" * len(row))


def shown(gots: list[Got], hosts: tuple[str, ...]) -> list[str]:
    waits = [got.wait_p95 for got in gots if got.wait_p95 is not None]
    each = []
    for host in hosts:
        delays = [got.delays[host] for got in gots if host in got.delays]
        each.append(f"{mean([got.hosts[host] for got in gots]):.0f} @ {mean(delays):.0f}")
    jain = f"{min(got.jain for got in gots):.3f}"
    return [*each, f"{mean([got.total for got in gots]):.0f}", jain, f"{mean(waits):.0f}" if waits else "none"]


def auto(by: str) -> dict[str, Shaper | None]:
    """A shaper that finds its rate."""
    return {f"hosts by {by}, auto": {"gateway": "hosts", "hosts_by": by, "hosts_find": "delay"}}


def shaped(by: str, rate: str) -> dict[str, Shaper | None]:
    """Without a shaper, and with one, by name."""
    return {"plain": None, f"hosts by {by} at {rate}": {"gateway": "hosts", "hosts_by": by, "hosts_rate": rate}}


def beside(seeds: range) -> None:
    """A host with one download beside one that takes more, in whatever way."""
    rows = [["hosts", "gateway", "first @ delay", "second @ delay", "both", "least Jain of hosts", "waits, 95 %"]]
    cases = {
        "1 CUBIC beside 20 CUBIC, 3 hops": ({10: (1, "here"), 11: (20, "here")}, FAR_RATE),
        "1 CUBIC beside 20 CUBIC, 1 hop": ({0: (1, "here"), 1: (20, "here")}, NEAR_RATE),
        "4 CUBIC, 3 hops, beside 4 CUBIC, 1 hop": ({10: (4, "here"), 0: (4, "here")}, BYTES_RATE),
    }
    for name, (flows, rate) in cases.items():
        for gateway, parts in {**shaped("bytes", rate), **auto("bytes")}.items():
            gots = [run(flows, parts, seed) for seed in seeds]
            rows.append([name, gateway, *shown(gots, tuple(f"h{host}" for host in flows))])
    table(rows)


def silences(scenario: meshpace.Scenario, seed: int) -> tuple[list[float], list[float]]:
    """For how long hosts, and downloads, got nothing at the longest, in seconds, a value a quarter of a second."""
    text, columns = engine.run_watched(scenario.job(None, seed), series=True, capture=None)
    assert columns is not None
    host_of = {flow["id"]: flow["to"] for flow in json.loads(text)["flows"]}
    kinds, names, times, got = (columns[name] for name in ("kind", "name", "t_s", "goodput_bps"))
    assert isinstance(times, bytes)
    assert isinstance(got, bytes)
    flows: dict[str, list[float]] = {}
    for kind, name, time, rate in zip(kinds, names, np.frombuffer(times), np.frombuffer(got), strict=True):
        if kind == "flow" and time > 20.0:
            flows.setdefault(str(name), []).append(rate)
    hosts: dict[str, list[float]] = {}
    for name, rates in flows.items():
        host = host_of[name]
        hosts[host] = [a + b for a, b in zip(hosts.get(host, [0.0] * len(rates)), rates, strict=True)]
    return [longest(rates) for rates in hosts.values()], [longest(rates) for rates in flows.values()]


def longest(rates: list[float]) -> float:
    most = now = 0
    for rate in rates:
        now = 0 if rate else now + 1
        most = max(most, now)
    return most / 4


def crowd(seeds: range) -> None:
    """200 downloads of 20 hosts."""
    heads = (
        "gateway|all|near hosts|far hosts|least host|Jain of near, of far|downloads with nothing|waits, 95 %|"
        "a host without anything, s|downloads without for 25 s"
    )
    rows = [heads.split("|")]
    flows = dict.fromkeys((*NEAR, *FAR), (10, "here"))
    shapers = {**shaped("airtime", AIR_RATE), **shaped("bytes", BYTES_RATE), **auto("airtime"), **auto("bytes")}
    for name, shaper in shapers.items():
        gots = [run(flows, shaper, seed) for seed in seeds]
        waits = [got.wait_p95 for got in gots if got.wait_p95 is not None]
        sums = [f"{mean([sum(got.hosts[f'h{n}'] for n in hosts) for got in gots]):.0f}" for hosts in (NEAR, FAR)]
        jains = [min(jain_index([got.hosts[f"h{n}"] for n in hosts]) or 0.0 for got in gots) for hosts in (NEAR, FAR)]
        least = min(min(got.hosts.values()) for got in gots)
        starved = f"{mean([float(got.starved) for got in gots]):.1f} of {gots[0].flows}"
        total, jain = f"{mean([got.total for got in gots]):.0f}", ", ".join(f"{jain:.3f}" for jain in jains)
        wait = f"{mean(waits):.0f}" if waits else "none"
        silent = [silences(scenario(flows, shaper, 100), seed) for seed in seeds]
        host = f"{max(max(hosts) for hosts, _ in silent):.1f}"
        without = f"{mean([float(sum(time > 25.0 for time in each)) for _, each in silent]):.1f}"
        rows.append([name, total, *sums, f"{least:.1f}", jain, starved, wait, host, without])
    table(rows)


def airtime(seeds: range) -> None:
    """A near host beside a far one: what sharing bytes and sharing the air come to."""
    rows = [["gateway", "near @ delay", "far @ delay", "both", "least Jain", "waits, 95 %"]]
    flows = {0: (4, "here"), 10: (4, "here")}
    shapers = {**shaped("bytes", "1.3Mbps"), **shaped("airtime", "2.5Mbps"), **auto("bytes"), **auto("airtime")}
    for name, shaper in shapers.items():
        rows.append([name, *shown([run(flows, shaper, seed) for seed in seeds], ("h0", "h10"))])
    table(rows)


def alone(seeds: range) -> None:
    """One download, at several rates of the shaper: what short queues cost."""
    rows = [["gateway", "3 hops @ delay", "waits, 95 %"]]
    shapers: dict[str, Shaper | None] = {}
    for rate in ("900kbps", "1Mbps", "1.1Mbps", "1.2Mbps"):
        shapers.update(shaped("bytes", rate))
    for name, shaper in {**shapers, **auto("bytes")}.items():
        got = shown([run({10: (1, "here")}, shaper, seed) for seed in seeds], ("h10",))
        rows.append([name, got[0], got[-1]])
    table(rows)


def ended(
    flows: tuple[int, ...], shaper: Shaper | None, seeds: range, hops: int, more: str = ""
) -> tuple[float, float]:
    """Goodput, and the median one-way delay, of hosts at the end of a chain."""
    of = {host: (count, "here") for host, count in enumerate(flows)}
    gots = [run(of, shaper, seed, 60, chain(hops, len(flows)), more) for seed in seeds]
    return mean([got.total for got in gots]), mean([mean(list(got.delays.values())) for got in gots])


def chains(seeds: range) -> None:
    """What a rate that is found has of the best one, and of the delay without a shaper."""
    heads = "hops|downloads|plain|best of the fixed|auto|goodput of the best|delay of plain's"
    rows = [heads.split("|")]
    for hops, rates in CHAINS.items():
        for flows in ((1,), (4,), (1, 4)):
            plain = ended(flows, None, seeds, hops)
            fixed = {
                rate: ended(flows, shaped("bytes", rate)[f"hosts by bytes at {rate}"], seeds, hops) for rate in rates
            }
            best = max(fixed, key=lambda rate: fixed[rate][0])
            found = ended(flows, *auto("bytes").values(), seeds, hops)
            cells = [f"{goodput:.0f} @ {delay:.0f}" for goodput, delay in (plain, fixed[best], found)]
            cells[1] += f" ({best})"
            shares = [f"{found[0] / fixed[best][0]:.0%}", f"{found[1] / plain[1]:.0%}"]
            rows.append([str(hops), " and ".join(map(str, flows)), *cells, *shares])
    table(rows)


def calls(seeds: range) -> None:
    """A call, 50 packets of 200 bytes a second each way, beside four downloads of another host or of the same."""
    rows = [["hops", "beside", "gateway", "downloads", *(f"{way}: median, 99 %, lost" for way in ("down", "up"))]]
    for hops in (1, 3):
        for beside, host in {"nothing": None, "another host's": 1, "its own": 0}.items():
            for name, shaper in {"plain": None, **auto("bytes")}.items():
                flows = {} if host is None else {host: (4, "here")}
                bulk, cells = talked(scenario(flows, shaper, 60, chain(hops, 2), CALL), seeds)
                rows.append([str(hops), beside, name, f"{bulk:.0f}", *cells])
    table(rows)


def talked(what: meshpace.Scenario, seeds: range) -> tuple[float, list[str]]:
    """Downloads beside a call, all together, and what becomes of the call each way."""
    results: list[Any] = [meshpace.run(what, seed=seed) for seed in seeds]
    bulk = [sum(f["goodput_bps"] for f in r["flows"] if f["app"] == "ftp") / 1e3 for r in results]
    cells = []
    for _, to in WAYS:
        of = [f for r in results for f in r["flows"] if f["app"] == "cbr" and f["to"] == to]
        middle, late = (mean([f[key] * 1e3 for f in of]) for key in ("delay_p50_s", "delay_p99_s"))
        cells.append(f"{middle:.0f}, {late:.0f}, {mean([f['loss_ratio'] for f in of]):.1%}")
    return mean(bulk), cells


def after(seeds: range) -> None:
    """Four downloads of one host before a call of another, beside it, and after it."""
    spans = {
        "before": (12, 20),
        "beside": (24, 40),
        **{f"after {at} to {at + 2} s": (40 + at, 42 + at) for at in (2, 4, 6, 8)},
    }
    rows = [["hops", *spans]]
    call = CALL.replace('app = "cbr"', 'app = "cbr"\nstart = "20s"\nstop = "40s"')
    for hops in (1, 3, 4):
        what = scenario({1: (4, "here")}, *auto("bytes").values(), 50, chain(hops, 2), call)
        sums = [downloaded(what, seed) for seed in seeds]
        got = {
            span: [rate for of in sums for at, rate in of.items() if begin < at <= end]
            for span, (begin, end) in spans.items()
        }
        rows.append([str(hops), *(f"{mean(rates):.0f}" for rates in got.values())])
    table(rows)


def downloaded(what: meshpace.Scenario, seed: int) -> dict[float, float]:
    """Goodput of all downloads, kbit/s, by when each quarter of a second ends, seconds."""
    text, columns = engine.run_watched(what.job(None, seed), series=True, capture=None)
    assert columns is not None
    downloads = {flow["id"] for flow in json.loads(text)["flows"] if flow["app"] == "ftp"}
    times, got = columns["t_s"], columns["goodput_bps"]
    assert isinstance(times, bytes)
    assert isinstance(got, bytes)
    sums: dict[float, float] = {}
    for name, at, rate in zip(columns["name"], np.frombuffer(times), np.frombuffer(got), strict=True):
        if name in downloads:
            sums[float(at)] = sums.get(float(at), 0.0) + rate / 1e3
    return sums


def talks(seeds: range) -> None:
    """The same over radios of today, beside another host's downloads."""
    rows = [["radio", "hops", *(f"{name}: {of}" for name in ("plain", "auto") for of in ("downloads", "down", "up"))]]
    for name, radio in RADIOS.items():
        for hops in (1, 2, 4):
            nodes, cells = chain(hops, 2, "1Gbps"), []
            for shaper in (None, *auto("bytes").values()):
                what = scenario({1: (4, "here")}, shaper, 20, nodes, CALL, radio=radio, window=4096)
                bulk, of = talked(what, seeds)
                cells += [f"{bulk / 1e3:.2f}", *of]
            rows.append([name, str(hops), *cells])
    table(rows)


UPLOADED: dict[str, tuple[dict[int, tuple[int, str]], str, int | None]] = {
    **{f"1 download, 1 upload, {hops}": ({0: (1, "here")}, uploads(1, 1), hops) for hops in (1, 3, 4)},
    "4 downloads, 20 uploads, 1": ({0: (4, "here")}, uploads(1, 20), 1),
    "4 downloads, 4 uploads, 3": ({0: (4, "here")}, uploads(1, 4), 3),
    "a download of 4 hosts, 1 upload, 1": (dict.fromkeys(range(4), (1, "here")), uploads(4, 1), 1),
    "1 download, an upload of 4 hosts, 1": ({0: (1, "here")}, "".join(uploads(host, 1) for host in range(1, 5)), 1),
    "1 download, 3, beside 1 upload, 1": ({10: (1, "here")}, uploads(1, 1), None),
    "4 downloads, 3, beside 4 uploads, 1": ({10: (4, "here")}, uploads(1, 4), None),
    "4 downloads, 1, beside 4 uploads, 3": ({0: (4, "here")}, uploads(10, 4), None),
}
"""Downloads of some hosts beside uploads of others: at the end of a chain of so many hops, or near and far."""


def beside_uploads(seeds: range) -> None:
    """Hosts with downloads beside hosts with uploads: what each has, the least and the most of them."""
    rows = [["hosts, hops", "gateway", "downloads @ delay", "uploads @ delay", "all"]]
    for case, (flows, more, hops) in UPLOADED.items():
        free = {**(auto("bytes")["hosts by bytes, auto"] or {}), "hosts_uploads": "free"}
        shapers = {"plain": None, "hosts by bytes, auto, uploads free": free, **auto("bytes")}
        for name, shaper in shapers.items():
            nodes = "" if hops is None else chain(hops, 5)
            results: list[Any] = [meshpace.run(scenario(flows, shaper, 60, nodes, more), seed=seed) for seed in seeds]
            cells, total = [], 0.0
            for end, other in (("to", "from"), ("from", "to")):
                got: dict[str, float] = {}
                delays = []
                for flow in (flow for result in results for flow in result["flows"] if flow[other] == "srv"):
                    got[flow[end]] = got.get(flow[end], 0.0) + flow["goodput_bps"] / 1e3 / len(seeds)
                    delays += [] if flow["delay_p50_s"] is None else [flow["delay_p50_s"] * 1e3]
                least, most = f"{min(got.values()):.0f}", f"{max(got.values()):.0f}"
                cells.append(f"{least if least == most else f'{least} to {most}'} @ {mean(delays):.0f}")
                total += sum(got.values())
            rows.append([case, name, *cells, f"{total:.0f}"])
    table(rows)


def radios(seeds: range) -> None:
    """A rate that is found over radios of today: a download alone, one each of two hosts, and one beside four."""
    rows = [["radio", "hops", "alone: plain", "auto", "one each: plain", "auto", "one beside four: plain", "auto"]]
    for name, radio in RADIOS.items():
        for hops in (1, 2, 4, 8):
            cells = []
            for counts in ((1,), (1, 1), (1, 4)):
                flows = {host: (count, "here") for host, count in enumerate(counts)}
                for shaper in (None, *auto("bytes").values()):
                    what = scenario(flows, shaper, 20, chain(hops, len(counts), "1Gbps"), radio=radio, window=4096)
                    gots = [Got.of(meshpace.run(what, seed=seed)) for seed in seeds]
                    each = ", ".join(f"{mean([got.hosts[host] for got in gots]) / 1e3:.2f}" for host in gots[0].hosts)
                    delay = mean([mean(list(got.delays.values())) for got in gots])
                    cells.append(f"{each} @ {delay:.0f}")
            rows.append([name, str(hops), *cells])
    table(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cases = {"beside": beside, "crowd": crowd, "airtime": airtime, "alone": alone}
    cases |= {
        "chains": chains,
        "calls": calls,
        "uploads": beside_uploads,
        "radios": radios,
        "talks": talks,
        "after": after,
    }
    parser.add_argument("what", choices=list(cases))
    parser.add_argument("--seeds", type=int, default=5, metavar="K")
    parser.add_argument("--first", type=int, default=1, metavar="N", help="the first of these seeds (1)")
    given = parser.parse_args()
    cases[given.what](range(given.first, given.first + given.seeds))


if __name__ == "__main__":
    main()
