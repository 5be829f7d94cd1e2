"""What a study simulates, drawn: nodes in their places, both ranges, the wired part, the flows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from meshpace.report.model import Topology

_WIDTH = 480.0
_MARGIN = 28.0
_GAP = 58.0
"""Between two wired nodes."""
_ROW = 30.0
"""Between two wired nodes that are equally far from a gateway."""
_ABOVE = 40.0
"""Of a wired part above the mesh."""
_MANY = 24
"""Names of more nodes than this would run into each other."""
_TALLEST, _FLATTEST = 340.0, 124.0

Place = tuple[float, float]


def draw(topology: Topology) -> str:
    """The topology as an SVG element that scales with its container."""
    picture = _Picture(topology)
    body = "".join([*picture.ranges(), *picture.edges(), *picture.wires(), *picture.flows(), *picture.nodes()])
    return (
        f'<svg class="topology" viewBox="0 0 {_WIDTH:.0f} {picture.height:.0f}" role="img" '
        f'aria-label="{escape(topology.caption, quote=True)}">{body}</svg>'
    )


class _Picture:
    """Coordinates of one drawing."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.depth = depths(topology)
        xs, ys = [node.x for node in topology.nodes], [node.y for node in topology.nodes]
        # The wired part continues the picture beyond a gateway at its right edge, and runs above the mesh otherwise.
        at_edge = all(node.x == max(xs) for node in topology.nodes if node.gateway)
        columns = max(self.depth.values(), default=0)
        right = columns * _GAP if at_edge else 0.0
        above = _ABOVE if columns and not at_edge else 0.0
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        room = _WIDTH - 2 * _MARGIN - right
        self.scale = min(room / max(width, 1.0), (_TALLEST - 2 * _MARGIN) / max(height, 1.0))
        self.height = max(height * self.scale + 2 * _MARGIN + above, _FLATTEST + above)
        left = _MARGIN + (room - width * self.scale) / 2
        top = above + (self.height - above - height * self.scale) / 2
        self.places: dict[str, Place] = {
            # North is up.
            node.name: (left + (node.x - min(xs)) * self.scale, top + (max(ys) - node.y) * self.scale)
            for node in topology.nodes
        }
        self._place_wired(at_edge, columns)

    def _place_wired(self, at_edge: bool, columns: int) -> None:
        gateways = [self.places[node.name] for node in self.topology.nodes if node.gateway]
        if not gateways:
            return
        for column in range(1, columns + 1):
            names = [name for name, depth in self.depth.items() if depth == column]
            for row, name in enumerate(names):
                if at_edge:
                    shift = (row - (len(names) - 1) / 2) * _ROW
                    self.places[name] = (gateways[0][0] + column * _GAP, gateways[0][1] + shift)
                else:
                    # Down from the upper right corner, where the mesh leaves most room.
                    x = _WIDTH - _MARGIN - (columns - column) * _GAP
                    self.places[name] = (x, _ABOVE / 2 + row * _ROW)

    def ranges(self) -> Iterator[str]:
        """Both ranges of the node that sends the first flow, or of the one it enters the mesh by."""
        start = self.topology.flows[0][0] if self.topology.flows else ""
        node = next((n for n in self.topology.nodes if n.name == start), None)
        node = node or next((n for n in self.topology.nodes if n.gateway), self.topology.nodes[0])
        x, y = self.places[node.name]
        for radius, name in ((self.topology.cs_range, "sense"), (self.topology.tx_range, "decode")):
            title = f"{name}: {radius:.0f} m around {node.name}"
            circle = f'<circle class="range {name}" cx="{x:.1f}" cy="{y:.1f}" r="{radius * self.scale:.1f}"/>'
            yield f"<g><title>{escape(title)}</title>{circle}</g>"

    def edges(self) -> Iterator[str]:
        """Pairs within transmission range."""
        nodes = self.topology.nodes
        for index, a in enumerate(nodes):
            for b in nodes[index + 1 :]:
                if math.hypot(a.x - b.x, a.y - b.y) <= self.topology.tx_range:
                    yield _line("edge", self.places[a.name], self.places[b.name])

    def wires(self) -> Iterator[str]:
        """The wired links."""
        for a, b in self.topology.links:
            yield _line("wire", self.places[a], self.places[b])

    def flows(self) -> Iterator[str]:
        """An arrow a flow, bent so that it does not hide what lies between."""
        for index, (start, end) in enumerate(self.topology.flows):
            (x1, y1), (x2, y2) = self.places[start], self.places[end]
            length = math.hypot(x2 - x1, y2 - y1) or 1.0
            bend = min(80.0, 0.3 * length) * (1 if index % 2 == 0 else -1)
            # To the left of the way for even flows: upwards for one that goes right.
            cx, cy = (x1 + x2) / 2 + bend * (y2 - y1) / length, (y1 + y2) / 2 - bend * (x2 - x1) / length
            angle = math.atan2(y2 - cy, x2 - cx)
            short = 20.0 if self.depth.get(end) else 10.0
            tip = (x2 - short * math.cos(angle), y2 - short * math.sin(angle))
            wings = [
                f"{tip[0] - 9 * math.cos(angle + w):.1f} {tip[1] - 9 * math.sin(angle + w):.1f}" for w in (0.45, -0.45)
            ]
            yield (
                f'<g class="flow s{index % 6}"><title>{escape(f"flow {index + 1}: {start} to {end}")}</title>'
                f'<path d="M{x1:.1f} {y1:.1f}Q{cx:.1f} {cy:.1f} {tip[0]:.1f} {tip[1]:.1f}"/>'
                f'<path class="tip" d="M{tip[0]:.1f} {tip[1]:.1f}L{wings[0]}L{wings[1]}Z"/></g>'
            )

    def nodes(self) -> Iterator[str]:
        """Mesh nodes as circles, gateways as squares, wired nodes as boxes, with names where there is room."""
        ends = {name for flow in self.topology.flows for name in flow}
        few = len(self.topology.nodes) <= _MANY
        for node in self.topology.nodes:
            x, y = self.places[node.name]
            radius = 6.0 if few or node.name in ends else 2.5
            shape = (
                f'<rect class="gateway" x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" rx="2"/>'
                if node.gateway
                else f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'
            )
            yield f"<g><title>{escape(node.name)}</title>{shape}</g>"
            if few or node.gateway or node.name in ends:
                yield self._name(node.name)
        for name in self.depth:
            if self.depth[name] == 0:
                continue
            x, y = self.places[name]
            yield f'<rect class="wired" x="{x - 17:.1f}" y="{y - 11:.1f}" width="34" height="22" rx="5"/>'
            yield f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(name)}</text>'

    def _name(self, name: str) -> str:
        """Below the node, or beside it where another one is below."""
        x, y = self.places[name]
        mesh = (self.places[node.name] for node in self.topology.nodes)
        if any(abs(there[0] - x) < 8 and 0 < there[1] - y < 34 for there in mesh):
            return f'<text x="{x + 11:.1f}" y="{y + 4:.1f}">{escape(name)}</text>'
        return f'<text x="{x:.1f}" y="{y + 21:.1f}" text-anchor="middle">{escape(name)}</text>'


def _line(name: str, a: Place, b: Place) -> str:
    return f'<line class="{name}" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>'


def depths(topology: Topology) -> dict[str, int]:
    """Wired links from the nearest gateway, gateways included."""
    depth = {node.name: 0 for node in topology.nodes if node.gateway}
    front = list(depth)
    while front:
        after = []
        for name in front:
            for a, b in topology.links:
                for here, there in ((a, b), (b, a)):
                    if here == name and there not in depth:
                        depth[there] = depth[name] + 1
                        after.append(there)
        front = after
    return depth
