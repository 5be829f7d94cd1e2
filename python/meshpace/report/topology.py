"""What a study simulates, drawn: nodes in their places, both ranges, the wired part, the flows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from html import escape

from meshpace.report.model import MeshNode, Topology
from meshpace.report.templates import beside, colours

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

_STEPS = 60
"""Points along an arrow, at which it is seen whether it crosses a name."""
_AROUND = (
    (0.0, 21.0, "middle"), (0.0, -12.0, "middle"), (11.0, 4.0, "start"), (-11.0, 4.0, "end"), (9.0, 18.0, "start"),
    (-9.0, 18.0, "end"), (9.0, -10.0, "start"), (-9.0, -10.0, "end"),
)  # fmt: skip
"""Where a name may stand, the usual place first."""
_BOX = 11.0
"""Half the height of a wired node's box."""
_LETTER, _ASCENT, _DESCENT = 6.6, 10.0, 3.0

Place = tuple[float, float]


def draw(topology: Topology) -> str:
    """The topology as an SVG element that scales with its container."""
    picture = _Picture(topology)
    body = "".join([*picture.ranges(), *picture.edges(), *picture.wires(), *picture.flows(), *picture.nodes()])
    return (
        f'<svg class="topology" viewBox="0 0 {_WIDTH:.0f} {picture.height:.0f}" role="img" '
        f'aria-label="{escape(topology.caption, quote=True)}">{body}</svg>'
    )


def alone(topology: Topology) -> str:
    """The same as a file of its own, light or dark as its reader's system is."""
    drawn = draw(topology)
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn)
    assert found is not None
    size = f'xmlns="http://www.w3.org/2000/svg" width="{found[1]}" height="{found[2]}"'
    head, body = drawn.replace("<svg", f"<svg {size}", 1).split(">", 1)
    return f'{head}><style>{_style()}</style><rect class="ground" width="100%" height="100%"/>{body}\n'


@cache
def _style() -> str:
    """What of the style sheet a drawing needs: colours, and the rules about its own elements."""
    rules = [line for line in beside("style.css").splitlines() if line.startswith((".topology", ".s0", ".s4"))]
    text = "text{fill:var(--ink);font-family:system-ui,sans-serif}"
    return f"{colours()} {' '.join(rules)} {text}.ground{{fill:var(--paper)}}"


class _Picture:
    """Coordinates of one drawing."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.depth = depths(topology)
        xs, ys = [node.x for node in topology.nodes], [node.y for node in topology.nodes]
        # The wired part continues the picture beyond a gateway at its right edge, and runs above the mesh otherwise.
        at_edge = all(node.x == max(xs) for node in topology.nodes if node.gateway)
        columns = max(self.depth.values(), default=0)
        widest = max((self._half(name) for name, depth in self.depth.items() if depth), default=0.0)
        self.gap, self.end = max(_GAP, 2 * widest + 20), _WIDTH - max(_MARGIN, widest + 2)
        right = columns * self.gap + _WIDTH - _MARGIN - self.end if at_edge else 0.0
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
        self.arcs = list(self._arcs())
        self._in_the_way = self._drawn_over()
        self._named: list[tuple[Place, Place]] = []

    def _place_wired(self, at_edge: bool, columns: int) -> None:
        gateways = [self.places[node.name] for node in self.topology.nodes if node.gateway]
        if not gateways:
            return
        for column in range(1, columns + 1):
            names = [name for name, depth in self.depth.items() if depth == column]
            for row, name in enumerate(names):
                if at_edge:
                    shift = (row - (len(names) - 1) / 2) * _ROW
                    self.places[name] = (gateways[0][0] + column * self.gap, gateways[0][1] + shift)
                else:
                    # Down from the upper right corner, where the mesh leaves most room.
                    x = self.end - (columns - column) * self.gap
                    self.places[name] = (x, _ABOVE / 2 + row * _ROW)

    def _watched(self) -> MeshNode:
        start = self.topology.flows[0][0] if self.topology.flows else ""
        node = next((n for n in self.topology.nodes if n.name == start), None)
        return node or next((n for n in self.topology.nodes if n.gateway), self.topology.nodes[0])

    def ranges(self) -> Iterator[str]:
        """Both ranges of the node that sends the first flow, or of the one it enters the mesh by."""
        node = self._watched()
        if not node.placed:
            return
        x, y = self.places[node.name]
        for radius, name in ((self.topology.cs_range, "sense"), (self.topology.tx_range, "decode")):
            title = f"{name}: {radius:.0f} m around {node.name}"
            circle = f'<circle class="range {name}" cx="{x:.1f}" cy="{y:.1f}" r="{radius * self.scale:.1f}"/>'
            yield f"<g><title>{escape(title)}</title>{circle}</g>"

    def edges(self) -> Iterator[str]:
        """Pairs within transmission range, and those that hear each other whatever it is."""
        for a, b in self._near():
            yield _line("edge", self.places[a], self.places[b])

    def _near(self) -> Iterator[tuple[str, str]]:
        yield from dict.fromkeys((min(pair), max(pair)) for pair in self.topology.heard)
        nodes = [node for node in self.topology.nodes if node.placed]
        for index, a in enumerate(nodes):
            for b in nodes[index + 1 :]:
                if math.hypot(a.x - b.x, a.y - b.y) <= self.topology.tx_range:
                    yield a.name, b.name

    def wires(self) -> Iterator[str]:
        """The wired links."""
        for a, b in self.topology.links:
            yield _line("wire", self.places[a], self.places[b])

    def _arcs(self) -> Iterator[tuple[Place, Place, Place]]:
        """Beginning, control point and end of each flow's arrow, bent so that it does not hide what lies between."""
        for index, (start, end) in enumerate(self.topology.flows):
            (x1, y1), (x2, y2) = self.places[start], self.places[end]
            length = math.hypot(x2 - x1, y2 - y1) or 1.0
            # To the left of the way for even flows: upwards for one that goes right. No arrow leaves the picture.
            most = min(80.0, 0.3 * length) * (1 if index % 2 == 0 else -1)
            controls = (
                ((x1 + x2) / 2 + bend * (y2 - y1) / length, (y1 + y2) / 2 - bend * (x2 - x1) / length)
                for bend in (most, -most, most / 2, -most / 2, most / 4)
            )
            straight = ((x1 + x2) / 2, (y1 + y2) / 2)
            cx, cy = next((at for at in controls if self._inside((x1, y1), at, (x2, y2))), straight)
            angle = math.atan2(y2 - cy, x2 - cx)
            short = self._to_border(end, angle) + 3 if self.depth.get(end) else 10.0
            yield (x1, y1), (cx, cy), (x2 - short * math.cos(angle), y2 - short * math.sin(angle))

    def _inside(self, start: Place, control: Place, end: Place) -> bool:
        return all(3 < x < _WIDTH - 3 and 3 < y < self.height - 3 for x, y in _curve(start, control, end))

    @staticmethod
    def _half(name: str) -> float:
        """Half the width of a wired node's box."""
        return max(17.0, len(name) * _LETTER / 2 + 6)

    def _to_border(self, name: str, angle: float) -> float:
        """From the middle of a wired node's box to its border, in that direction."""
        wide, high = abs(math.cos(angle)), abs(math.sin(angle))
        return min(self._half(name) / wide if wide else math.inf, _BOX / high if high else math.inf)

    def flows(self) -> Iterator[str]:
        """An arrow a flow."""
        for index, ((start, end), ((x1, y1), (cx, cy), tip)) in enumerate(
            zip(self.topology.flows, self.arcs, strict=True)
        ):
            angle = math.atan2(tip[1] - cy, tip[0] - cx)
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
            half = self._half(name)
            box = f'x="{x - half:.1f}" y="{y - _BOX:.1f}" width="{2 * half:.1f}" height="{2 * _BOX:g}"'
            yield f'<rect class="wired" {box} rx="5"/>'
            yield f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(name)}</text>'

    def _drawn_over(self) -> list[tuple[int, list[Place]]]:
        """What a name should not lie on, as points, and how much it matters."""
        found = [(8, _curve(*arc)) for arc in self.arcs]
        watched = self._watched()
        x, y = self.places[watched.name]
        turns = [2 * math.pi * step / (4 * _STEPS) for step in range(4 * _STEPS)]
        around = (self.topology.cs_range, self.topology.tx_range) if watched.placed else ()
        for radius in (metres * self.scale for metres in around):
            ring = [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]
            found += [(2, ring)]
        pairs = [*self.topology.links, *(self._near() if len(self.topology.nodes) <= _MANY else ())]
        lines = [(self.places[a], self.places[b]) for a, b in pairs]
        for (ax, ay), (bx, by) in lines:
            found.append((1, [(ax + (bx - ax) * s / 20, ay + (by - ay) * s / 20) for s in range(21)]))
        return found

    def _name(self, name: str) -> str:
        """Below the node, or where fewer lines and names are in the way."""
        x, y = self.places[name]
        dx, dy, anchor = min(_AROUND, key=lambda place: self._hidden(name, *place))
        self._named.append(_box(name, x + dx, y + dy, anchor))
        return f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">{escape(name)}</text>'

    def _hidden(self, name: str, dx: float, dy: float, anchor: str) -> int:
        """How much is in the way of a name there; the first place of several with as much is taken."""
        x, y = self.places[name]
        (left, top), (right, bottom) = box = _box(name, x + dx, y + dy, anchor)
        cut = left < 0 or right > _WIDTH or top < 0 or bottom > self.height
        nodes = (place for other, place in self.places.items() if other != name)
        on_nodes = any(left - 8 < px < right + 8 and top - 8 < py < bottom + 8 for px, py in nodes)
        on_names = any(_meet(box, other) for other in self._named)
        on_lines = sum(
            weight
            for weight, points in self._in_the_way
            if any(left - 2 < px < right + 2 and top - 2 < py < bottom + 2 for px, py in points)
        )
        return 100 * cut + 40 * (on_nodes + on_names) + on_lines


def _curve(start: Place, control: Place, end: Place) -> list[Place]:
    """Points of an arrow."""
    parts = [step / _STEPS for step in range(_STEPS + 1)]
    return [
        (
            (1 - t) ** 2 * start[0] + 2 * t * (1 - t) * control[0] + t * t * end[0],
            (1 - t) ** 2 * start[1] + 2 * t * (1 - t) * control[1] + t * t * end[1],
        )
        for t in parts
    ]


def _box(name: str, x: float, y: float, anchor: str) -> tuple[Place, Place]:
    wide = len(name) * _LETTER
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return (left, y - _ASCENT), (left + wide, y + _DESCENT)


def _meet(a: tuple[Place, Place], b: tuple[Place, Place]) -> bool:
    return a[0][0] < b[1][0] and b[0][0] < a[1][0] and a[0][1] < b[1][1] and b[0][1] < a[1][1]


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
