"""Real routing daemons on the simulated air: how soon routes stand, what daemons send, what a transfer gets over them.

    .venv/bin/python bench/emulated_daemons.py rest load many outage [--daemons babeld,bird]
                                               [--meshes chain,grid,village] [--runs K] [--at-once N] [--attempts K]
                                               [--store FOLDER] [--stored] [--write]

As root, with babeld and bird (Debian: babeld, bird2) and iperf3. A chain of six hops and a grid of four by four at
11 Mbit/s, and a village imported from a map; the daemons' configurations as `meshpace emulate --daemon` writes them. At
rest nothing but the daemon sends; under load iperf3 uploads from end to end by the kernel's cubic, and the same is
simulated along the same ways. Two such uploads cross a grid of 30 nodes. And in a ring of five nodes the
one in the middle of the shorter way is switched off under a ping ten times a second. The simulator's own protocols are
beside. Runs that the folder has are not made again; one that was late is, up to --attempts times. --write puts the
tables into docs/emulation.md, between their marks.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import document
from daemon_meshes import MESHES, cost_of, least
from daemon_runs import OFF_S, OUTAGE_S, PROTOCOLS, REST_S, Cell, at_rest, emulated, under_protocol
from daemon_stretches import changes_of_ways, longest_stretch, simulated
from emulated_runs import Result, Run, Store, arguments
from meshpace.emulation.routes import Route, ways

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "emulation.md"
TWINS = 5
"""Runs of a simulated transfer beside an emulated one."""
HEADS = {
    "rest": "| mesh | routes by | stood | after, s | ways' cost over the least by hand | frames/s a node "
    "| bytes/s a node | air of a node | in time |",
    "load": "| mesh | routes by | goodput, kbit/s | changes of the ways, by run | stretches without one, s "
    "| goodput in them over the simulated | in time |",
    "many": "| daemon | routes stood after, s | goodput of each, kbit/s | packets delivered to kernels a second | late "
    "| 99.9 % within, ms | in time |",
    "outage": "| routes by | outage, s | in time |",
}


def spread(values: Sequence[float], digits: int = 1) -> str:
    if not values:
        return "-"
    return f"{statistics.mean(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def in_time(results: Sequence[Result]) -> str:
    return f"{sum(result['lateness']['valid'] is True for result in results)} of {len(results)}"


def over_least(mesh: str, result: Result) -> float:
    """The mean over all pairs of nodes of what their way costs, over the least; a way that leads nowhere counts not."""
    costs = MESHES[mesh].costs()
    best = least(costs)
    routes = [Route(**{key: row[key] for key in Route.__slots__}) for row in result["daemon"]["routes"]]
    found = {ends: way for ends, way in ways(routes).items() if way is not None and ends in best}
    return statistics.mean(cost_of(way, costs) / best[ends] for ends, way in found.items())


def rest_of_daemon(cell: Cell, results: Sequence[Result]) -> str:
    stood = [result["daemon"]["converged_s"] for result in results if result["daemon"]["converged_s"] is not None]
    ratios = [over_least(cell.mesh, result) for result in results if result["daemon"]["routes"]]
    rows = [row for result in results for row in result["ethernet"]]
    frames, octets, air = (
        statistics.mean(row[key] for row in rows) / REST_S for key in ("sent", "sent_bytes", "airtime_s")
    )
    columns = [
        MESHES[cell.mesh].title,
        cell.routes,
        f"{len(stood)} of {len(results)}",
        spread(stood),
        spread(ratios, 2),
        f"{frames:.2f}",
        f"{octets:.0f}",
        f"{air:.3%}",
        in_time(results),
    ]
    return f"| {' | '.join(columns)} |"


def rest_of_protocol(cell: Cell, runs: int) -> str:
    found = [at_rest(cell.mesh, cell.routes, seed) for seed in range(1, runs + 1)]
    first = [one.first_s for one in found if one.first_s is not None]
    frames, air = (statistics.mean(getattr(one, name) for one in found) for name in ("frames", "airtime"))
    columns = [
        MESHES[cell.mesh].title,
        f"simulated {cell.routes}",
        f"{len(first)} of {runs}",
        spread(first, 2),
        "",
        f"{frames:.2f}",
        "",
        f"{air:.3%}",
        "",
    ]
    return f"| {' | '.join(columns)} |"


def load_row(cell: Cell, results: Sequence[Result]) -> str:
    found = [stretch for result in results if (stretch := longest_stretch(cell, result)) is not None]
    twins = [simulated(cell, stretch.ways, TWINS) for stretch in found]
    ratios = [statistics.mean(stretch.kbps) / twin for stretch, twin in zip(found, twins, strict=True)]
    columns = [
        MESHES[cell.mesh].title,
        cell.routes,
        spread([result["flows"][0]["goodput_bps"] / 1e3 for result in results], 0),
        ", ".join(str(changes_of_ways(cell, result)) for result in results),
        ", ".join(str(len(stretch.kbps)) for stretch in found) or "-",
        ", ".join(f"{ratio:.2f}" for ratio in ratios) or "-",
        in_time(results),
    ]
    return f"| {' | '.join(columns)} |"


def load_of_protocol(mesh: str, protocol: str, runs: int) -> str:
    goodputs = under_protocol(mesh, protocol, range(1, runs + 1))
    return f"| {MESHES[mesh].title} | simulated {protocol} | {spread(goodputs, 0)} |  |  |  |  |"


def many_row(cell: Cell, results: Sequence[Result]) -> str:
    late = [result["lateness"] for result in results]
    goodputs = [flow["goodput_bps"] / 1e3 for result in results for flow in result["flows"]]
    columns = [
        cell.routes,
        spread([result["daemon"]["converged_s"] for result in results]),
        spread(goodputs, 0),
        spread([one["deliveries"] / result["simulated_s"] for one, result in zip(late, results, strict=True)], 0),
        f"{max(one['share_late'] for one in late):.3%} at the most",
        f"{max(one['p999_s'] for one in late) * 1e3:.2f}",
        in_time(results),
    ]
    return f"| {' | '.join(columns)} |"


def outage_row(cell: Cell, results: Sequence[Result]) -> str:
    # Answers: for them both ways are needed.
    rows = [row for result in results for row in result["traffic"] if (row["from"], row["to"]) == ("n2", "n0")]
    # From two seconds before: a daemon that never comes back has these at the most.
    back = [row["longest_gap_s"] for row in rows if row["delivered"] > 30]
    never = f"; {len(rows) - len(back)} of {len(rows)} never came back in {OUTAGE_S - OFF_S} s"
    name = f"simulated {cell.routes}" if cell.routes in PROTOCOLS else cell.routes
    return f"| {name} | {spread(back, 2)}{never if len(back) < len(rows) else ''} | {in_time(results)} |"


def cells(part: str, daemons: Sequence[str], meshes: Sequence[str]) -> Iterator[Cell]:
    if part == "outage":
        yield from (Cell(part, "ring", routes) for routes in (*daemons, *PROTOCOLS))
        return
    if part == "many":
        yield from (Cell(part, "field", daemon) for daemon in daemons)
        return
    yield from (Cell(part, mesh, daemon) for mesh in meshes for daemon in daemons)


ROWS = {"rest": rest_of_daemon, "load": load_row, "many": many_row, "outage": outage_row}


def shown(cell: Cell, result: Result) -> str:
    return ROWS[cell.part](cell, [result])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="+", choices=list(HEADS))
    parser.add_argument("--daemons", default="babeld,bird")
    parser.add_argument("--meshes", default=",".join(MESHES))
    arguments(parser, "emulated-daemons")
    asked = parser.parse_args()
    daemons, meshes = asked.daemons.split(","), asked.meshes.split(",")
    store = Store(asked.store, asked.attempts)
    every = {part: list(cells(part, daemons, meshes)) for part in asked.parts}
    runs = {
        (cell, seed): Run(
            cell.name(seed),
            lambda cell=cell, seed=seed: emulated(cell, seed),
            lambda result, cell=cell: shown(cell, result),
        )
        for seed, cell in itertools.product(range(1, asked.runs + 1), itertools.chain(*every.values()))
    }
    if not asked.stored:
        store.make(list(runs.values()), asked.at_once)
    for part, found in every.items():
        lines = [HEADS[part], "|" + "---|" * (HEADS[part].count("|") - 1)]
        for cell in found:
            results = [result for seed in range(1, asked.runs + 1) if (result := store.read(cell.name(seed)))]
            lines += [ROWS[part](cell, results)] if results else []
        both = itertools.product(meshes, PROTOCOLS)
        if part == "rest":
            lines += [rest_of_protocol(Cell(part, mesh, protocol), asked.runs) for mesh, protocol in both]
        if part == "load":
            lines += [load_of_protocol(mesh, protocol, asked.runs) for mesh, protocol in both]
        made = [run for (cell, _), run in runs.items() if cell.part == part]
        command = f"bench/emulated_daemons.py {part} --daemons {asked.daemons} --runs {asked.runs}"
        table = "\n".join([f"`{command}`, 2 processors. {store.account(made)}", "", *lines])
        print(table, flush=True)
        if asked.write:
            document.update(DOCUMENT, f"daemons-{part}", table)


if __name__ == "__main__":
    main()
