"""The networks of the benchmark: positions, wired links, flows and routes, made once for all three tools.

Every flow's minimum-hop route is unique, so that three implementations of shortest paths with three ways of
breaking ties forward over the same nodes.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from meshpace.judges.routes import minimum_hop_route

TX_RANGE_M = 250.0
"""Reception range of ns-2.35's default radio at 914 MHz, two-ray ground (schemes.md 17.1)."""

EDGE_MARGIN_M = 0.05
"""No two nodes stand this near to the range: the tools round received power differently."""

CS_RANGE_M = 550.0
"""Carrier-sense range of the same radio: within it a frame costs a receiver some work."""

SPACING_M = 200.0


@dataclass(frozen=True)
class Node:
    """A mesh node (with a position in metres) or a wired one (without)."""

    name: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Link:
    """A full-duplex wired link between two nodes, given by index."""

    a: int
    b: int
    rate_mbps: int = 10
    delay_ms: int = 40
    queue: int = 50


@dataclass(frozen=True)
class Flow:
    """A backlogged TCP transfer between two nodes, given by index; all tools start it at the same instant."""

    source: int
    sink: int
    start_s: float


@dataclass(frozen=True)
class Case:
    """One scenario: what is simulated and for how long."""

    name: str
    title: str
    nodes: list[Node]
    flows: list[Flow]
    routing: str
    duration_s: float
    links: list[Link] = field(default_factory=list)

    @property
    def warmup_s(self) -> float:
        """The part of the run that does not count for goodput; it does count for the speed."""
        return self.duration_s / 10

    def neighbours(self) -> list[list[int]]:
        """Adjacency by index: mesh nodes in radio range of each other, and both ends of wired links."""
        mesh = [(i, n.x, n.y) for i, n in enumerate(self.nodes) if n.x is not None and n.y is not None]
        table: list[list[int]] = [[] for _ in self.nodes]
        for (i, xi, yi), (j, xj, yj) in itertools.combinations(mesh, 2):
            if math.hypot(xi - xj, yi - yj) <= TX_RANGE_M:
                table[i].append(j)
                table[j].append(i)
        for link in self.links:
            table[link.a].append(link.b)
            table[link.b].append(link.a)
        return table

    def hearers(self) -> float:
        """Mean number of mesh nodes within carrier-sense range of a mesh node."""
        spots = [(n.x, n.y) for n in self.nodes if n.x is not None and n.y is not None]
        near = sum(
            math.hypot(xa - xb, ya - yb) <= CS_RANGE_M for (xa, ya), (xb, yb) in itertools.combinations(spots, 2)
        )
        return 2 * near / len(spots)

    def paths(self) -> Iterator[list[int]]:
        """The route of every flow, source first.

        Raises ValueError if a flow has no route or more than one of the shortest length.
        """
        table = self.neighbours()
        for flow in self.flows:
            route = minimum_hop_route(table, flow.source, flow.sink)
            if route is None or not route.unique:
                raise ValueError(f"{self.name}: no unique shortest route from {flow.source} to {flow.sink}")
            yield list(route.nodes)


def chain(hops: int) -> Case:
    """`hops` + 1 nodes in a row, one flow from end to end."""
    nodes = [Node(f"n{i}", i * SPACING_M, 0.0) for i in range(hops + 1)]
    return Case(f"chain-{hops}", f"chain, {hops} hop{'s' * (hops > 1)}", nodes, [Flow(0, hops, 0.1)], "static", 100)


def parallel_chains() -> Case:
    """Two 5-hop chains 400 m apart that meet in a gateway, then three wired links; both flows go up."""
    top = [Node("A1", 0.0, 400.0)] + [Node(f"RL{i}", i * SPACING_M, 400.0) for i in range(1, 5)]
    bottom = [Node("A2", 0.0, 0.0)] + [Node(f"RL{i + 4}", i * SPACING_M, 0.0) for i in range(1, 5)]
    nodes = [*top, *bottom, Node("IG", 800.0, 200.0), Node("RT1"), Node("RT2"), Node("B")]
    links = [Link(10, 11), Link(11, 12), Link(12, 13)]
    flows = [Flow(0, 13, 0.1), Flow(5, 13, 0.2)]
    return Case("parallel-up", "two 5-hop chains, gateway, wired", nodes, flows, "static", 100, links)


def grid(side: int) -> Case:
    """A square grid; flows along every other row and column, where the straight line is the one shortest way."""
    nodes = [Node(f"g{r}_{c}", c * SPACING_M, r * SPACING_M) for r in range(side) for c in range(side)]
    ends = [(r * side, r * side + side - 1) for r in range(0, side, 2)]
    ends += [(c, (side - 1) * side + c) for c in range(1, side, 2)]
    flows = [Flow(a, b, round(0.1 * (k + 1), 1)) for k, (a, b) in enumerate(ends)]
    return Case(f"grid-{side}x{side}", f"{side} x {side} grid, {len(flows)} flows", nodes, flows, "static", 12)


def place(count: int, width: float, height: float, rng: random.Random) -> list[Node]:
    """Uniform positions, drawn anew until the graph is connected and no distance is close to the range."""
    for _ in range(1000):
        nodes = [Node(f"r{i}", round(rng.random() * width, 1), round(rng.random() * height, 1)) for i in range(count)]
        if settled(nodes):
            return nodes
    raise ValueError(f"no connected placement of {count} nodes in {width:.0f} m x {height:.0f} m in 1000 draws")


def settled(nodes: list[Node]) -> bool:
    """Whether the nodes form one connected graph that rounding cannot change."""
    spots = [(n.x, n.y) for n in nodes if n.x is not None and n.y is not None]
    for (xa, ya), (xb, yb) in itertools.combinations(spots, 2):
        if abs(math.hypot(xa - xb, ya - yb) - TX_RANGE_M) < EDGE_MARGIN_M:
            return False
    table = Case("", "", nodes, [], "static", 0).neighbours()
    seen, stack = {0}, [0]
    while stack:
        fresh = set(table[stack.pop()]) - seen
        seen |= fresh
        stack.extend(fresh)
    return len(seen) == len(nodes)


def pairs(nodes: list[Node], count: int, hops: range, rng: random.Random) -> list[Flow]:
    """Flows between nodes drawn without repetition, whose unique shortest route has a length in `hops`."""
    table = Case("", "", nodes, [], "static", 0).neighbours()
    free = list(range(len(nodes)))
    flows: list[Flow] = []
    for _ in range(100_000):
        if len(flows) == count:
            return flows
        source, sink = free[int(rng.random() * len(free))], free[int(rng.random() * len(free))]
        route = minimum_hop_route(table, source, sink)
        if source != sink and route is not None and route.unique and len(route.nodes) - 1 in hops:
            flows.append(Flow(source, sink, round(0.1 * (len(flows) % 10 + 1), 1)))
            free.remove(source)
            free.remove(sink)
    raise ValueError(f"no {count} node pairs with a unique route of {hops.start} to {hops.stop - 1} hops")


def random_mesh(routing: str) -> Case:
    """120 nodes in 2500 m x 1000 m, 8 flows of 3 to 8 hops; the same places and flows for both routings."""
    rng = random.Random(120)
    nodes = place(120, 2500.0, 1000.0, rng)
    flows = pairs(nodes, 8, range(3, 9), rng)
    return Case(f"random-120-{routing}", f"120 random nodes, 8 flows, {routing}", nodes, flows, routing, 12)


def scaling_mesh(count: int) -> Case:
    """`count` nodes at the density of the 120, one flow of 3 to 5 hops for every ten nodes.

    Bounded route lengths keep the load per area equal, so that cost per frame is what changes with size.
    """
    rng = random.Random(count)
    side = math.sqrt(count * 2500.0 * 1000.0 / 120)
    nodes = place(count, side, side, rng)
    flows = pairs(nodes, count // 10, range(2, 6) if count < 30 else range(3, 6), rng)
    return Case(f"scaling-{count}", f"{count} random nodes, {len(flows)} flows", nodes, flows, "static", 20)


def all_cases() -> list[Case]:
    """The comparison's scenarios, in the order of the table."""
    return [
        *(chain(h) for h in (1, 4, 8)),
        parallel_chains(),
        grid(10),
        random_mesh("static"),
        random_mesh("aodv"),
    ]
