"""A moment of films as one SVG that stands alone, light or dark: what ``film_drawing.js`` draws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from meshpace.report.model import Film
from meshpace.report.places import channel_name
from meshpace.report.templates import beside

_WIDTH, _GAP, _EDGE, _HEAD, _MESH, _LANE, _LABEL = 460, 24, 16, 66, 118, 17, 30
_WINDOW_NS, _PAST = 12e6, 0.7
"""What the lanes show, and the part of it that is over."""
_AFTERGLOW_NS = 0.6e6
"""A loss stays in sight so long."""
_KINDS = {
    "rts": ("RTS", "rts", "triangle"), "cts": ("CTS", "cts", "diamond"), "data": ("DATA", "data", "bar"),
    "tcp-ack": ("DATA with a TCP ACK", "tcp-ack", "frame"), "ack": ("ACK", "ack", "circle"),
    "block-ack": ("block ACK", "ack", "frame"), "block-ack-request": ("request for a block ACK", "rts", "diamond"),
    "routing": ("routing", "routing", "ring"), "arp": ("address resolution", "routing", "diamond"),
}  # fmt: skip
_LOSSES = {"collision": "cross", "noise": "slash", "deaf": "barred"}
_DASHES = ("none", "8 4", "2 3", "10 3 2 3", "5 5", "1 4")
"""Of the lines of channels, as in ``film.js``."""
_OUTLINES = ("frame", "ring", "cross", "slash", "barred")


@dataclass(frozen=True, slots=True)
class _Frame:
    start: float
    end: float
    source: int
    target: int | None
    kind: str
    losses: tuple[tuple[int, str], ...]
    channel: int | None
    """Where there are several."""


def still(title: str, films: Sequence[Film]) -> str:
    """The films side by side, a moment after the first of them loses a frame to another."""
    stretches = [_frames(film.shots) for film in films]
    now = _moment(stretches[0])
    nodes = max(len(film.shots["nodes"]) for film in films)
    channels = max((film.shots.get("channels", []) for film in films), key=len)
    width = len(films) * (_WIDTH + _GAP) - _GAP + 2 * _EDGE
    height = _HEAD + _MESH + nodes * _LANE + 40
    css = beside("style.css")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="width:{width}px;height:{height}px" role="img" aria-label="{escape(title, quote=True)}">',
        f"<style><![CDATA[{css} svg text.head {{ fill: var(--ink); font-weight: 600; font-size: 15px; }}"
        " svg text { fill: var(--soft); font-size: 11px; }]]></style>",
        f'<rect width="{width}" height="{height}" fill="var(--paper)"/>',
        f'<text class="head" x="{_EDGE}" y="{_EDGE + 12}">{escape(title)}</text>', *_legend(stretches, channels),
    ]  # fmt: skip
    for place, (film, frames) in enumerate(zip(films, stretches, strict=True)):
        x = _EDGE + place * (_WIDTH + _GAP)
        parts += [f'<g transform="translate({x} {_HEAD})">', *_panel(film, frames, now, place), "</g>"]
    return "".join([*parts, "</svg>\n"])


def _frames(shots: dict[str, Any]) -> list[_Frame]:
    frames, losses = shots["frames"], shots["losses"]
    lost: dict[int, list[tuple[int, str]]] = {}
    for index, node, cause in zip(losses["frame"], losses["node"], losses["cause"], strict=True):
        lost.setdefault(index, []).append((node, cause))
    columns = zip(
        frames["start_ns"], frames["airtime_ns"], frames["from"], frames["to"], frames["kind"], strict=True
    )  # fmt: skip
    on: list[int] | None = frames.get("channel")
    return [
        _Frame(start, start + airtime, source, target, kind, tuple(lost.get(index, ())), on[index] if on else None)
        for index, (start, airtime, source, target, kind) in enumerate(columns)
    ]


def _moment(frames: Sequence[_Frame]) -> float:
    """Shortly after a collision for which the lanes are full already; the middle where there is none."""
    full = _PAST * _WINDOW_NS
    hit = [f.end for f in frames if f.end > full and any(cause == "collision" for _, cause in f.losses)]
    return (hit[0] if hit else frames[len(frames) // 2].end if frames else 0.0) + _AFTERGLOW_NS / 4


def _legend(stretches: Sequence[Sequence[_Frame]], channels: Sequence[dict[str, Any]]) -> Iterator[str]:
    seen = {frame.kind for frames in stretches for frame in frames}
    x = float(_EDGE + 8)
    shapes = [(name, colour, shape) for kind, (name, colour, shape) in _KINDS.items() if kind in seen]
    for name, colour, shape in [*shapes, ("lost to an overlapping frame", "bad", "cross")]:
        yield _shape(colour, shape, x, 46, 5)
        yield f'<text x="{x + 13:g}" y="50">{escape(name)}</text>'
        x += 32 + 6.1 * len(name)
    for index, channel in enumerate(channels):
        name = channel_name(channel)
        yield f'<line x1="{x - 6:g}" y1="46" x2="{x + 14:g}" y2="46" {_line(index)}/>'
        yield f'<text x="{x + 20:g}" y="50">{escape(name)}</text>'
        x += 40 + 6.1 * len(name)


def _line(channel: int) -> str:
    """How a channel's lines look: as in ``film.js``."""
    dash = _DASHES[channel % len(_DASHES)]
    return f'stroke="var(--s{channel % 6})" stroke-width="3" stroke-dasharray="{dash}"'


def _panel(film: Film, frames: Sequence[_Frame], now: float, place: int) -> Iterator[str]:
    nodes, ranges = film.shots["nodes"], film.shots["ranges_m"]
    xs, ys = [node["x"] for node in nodes], [node["y"] for node in nodes]
    scale = min((_WIDTH - 52) / max(max(xs) - min(xs), 1), (_MESH - 60) / max(max(ys) - min(ys), 1))
    left = (_WIDTH - (max(xs) - min(xs)) * scale) / 2
    places = [
        (left + (x - min(xs)) * scale, _MESH / 2 + 4 + ((max(ys) + min(ys)) / 2 - y) * scale)
        for x, y in zip(xs, ys, strict=True)
    ]
    height = _MESH + len(nodes) * _LANE
    yield f'<text x="0" y="4" style="fill:var(--ink);font-weight:600;font-size:13px">{escape(film.title)}</text>'
    yield f'<clipPath id="m{place}"><rect y="10" width="{_WIDTH}" height="{_MESH - 12}"/></clipPath>'
    lanes = f'x="{_LABEL}" y="{_MESH}" width="{_WIDTH - _LABEL}" height="{height}"'
    yield f'<clipPath id="l{place}"><rect {lanes}/></clipPath>'
    yield f'<g clip-path="url(#m{place})">'
    on_air = [frame for frame in frames if frame.start <= now < frame.end]
    for frame in on_air:
        x, y = places[frame.source]
        for name, opacity in (("sense", 0.07), ("decode", 0.1)):
            colour = _KINDS[frame.kind][1] if frame.channel is None else f"s{frame.channel % 6}"
            r = ranges[name] * scale
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="var(--{colour})" opacity="{opacity}"/>'
    sending = {frame.source for frame in on_air}
    for index, (node, (x, y)) in enumerate(zip(nodes, places, strict=True)):
        fill = "ink" if index in sending else "soft"
        if node["gateway"]:
            yield f'<rect x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" fill="var(--{fill})"/>'
        else:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="var(--{fill})"/>'
        yield f'<text x="{x:.1f}" y="{y + 27:.1f}" text-anchor="middle">{escape(node["id"])}</text>'
    for frame in on_air:
        yield from _flight(frame, (now - frame.start) / (frame.end - frame.start), places, ranges["decode"] * scale)
    for frame in frames:
        if now - _AFTERGLOW_NS <= frame.end <= now:
            for node, cause in frame.losses:
                yield _shape("bad", _LOSSES[cause], places[node][0], places[node][1], 9)
    yield "</g>"
    yield from _lanes(nodes, frames, now, place)


def _flight(
    frame: _Frame, progress: float, places: Sequence[tuple[float, float]], reach: float
) -> Iterator[str]:  # fmt: skip
    (x, y), (_, colour, shape) = places[frame.source], _KINDS[frame.kind]
    if frame.target is None:
        r = 8 + progress * reach
        ring = f'stroke="var(--{colour})" stroke-width="2"' if frame.channel is None else _line(frame.channel)
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="none" {ring}/>'
        return
    tx, ty = places[frame.target]
    length = math.hypot(tx - x, ty - y) or 1
    # Each direction has its own side of the line between the nodes.
    sx, sy = x + 13 * (ty - y) / length, y - 13 * (tx - x) / length
    hx, hy = sx + progress * (tx - x), sy + progress * (ty - y)
    look = f'stroke="var(--{colour})" stroke-width="2" opacity="0.5"' if frame.channel is None else _line(frame.channel)
    yield f'<line x1="{sx:.1f}" y1="{sy:.1f}" x2="{hx:.1f}" y2="{hy:.1f}" {look}/>'
    yield _shape(colour, shape, hx, hy, 6, math.degrees(math.atan2(ty - y, tx - x)))


def _lanes(nodes: Sequence[dict[str, Any]], frames: Sequence[_Frame], now: float, place: int) -> Iterator[str]:
    scale, begin = (_WIDTH - _LABEL) / _WINDOW_NS, now - _PAST * _WINDOW_NS
    top, bottom = _MESH + 8, _MESH + 8 + len(nodes) * _LANE

    def x(time: float) -> float:
        return _LABEL + (time - begin) * scale

    def y(node: int) -> float:
        return top + (node + 0.5) * _LANE

    for index, node in enumerate(nodes):
        yield f'<rect x="{_LABEL}" y="{y(index):.1f}" width="{_WIDTH - _LABEL}" height="1" fill="var(--rule)"/>'
        yield f'<text x="{_LABEL - 6}" y="{y(index) + 4:.1f}" text-anchor="end">{escape(node["id"])}</text>'
    yield f'<g clip-path="url(#l{place})">'
    for frame in frames:
        if frame.end < begin or frame.start > begin + _WINDOW_NS:
            continue
        (_, colour, shape), wide = _KINDS[frame.kind], (frame.end - frame.start) * scale
        later = frame.start > now
        yield (
            f'<g opacity="{0.4 if later else 1}"><rect x="{x(frame.start):.1f}" y="{y(frame.source) - 6:.1f}" '
            f'width="{wide:.1f}" height="12" fill="var(--{colour})" opacity="0.4"/>'
            f"{_shape(colour, shape, x(frame.start) + wide / 2, y(frame.source), 4.5)}"
            f"{_underline(frame, x(frame.start), wide, y(frame.source) + 7)}</g>"
        )
        if frame.end <= now:
            yield from (_shape("bad", _LOSSES[cause], x(frame.end), y(node), 5) for node, cause in frame.losses)
    yield f'<rect x="{x(now):.1f}" y="{top - 4}" width="1.5" height="{bottom - top + 6}" fill="var(--ink)"/></g>'
    tick = math.ceil(begin / 2e6) * 2e6
    while tick <= begin + _WINDOW_NS:
        if x(tick) <= _WIDTH - 14:
            yield f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick / 1e6:g} ms</text>'
        tick += 2e6


def _underline(frame: _Frame, x: float, wide: float, y: float) -> str:
    """The channel's line below a frame in its lane."""
    if frame.channel is None:
        return ""
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x + wide:.1f}" y2="{y:.1f}" {_line(frame.channel)}/>'


def _shape(colour: str, shape: str, x: float, y: float, r: float, turn: float = 0) -> str:
    path = {
        "triangle": f"M{r:g} 0L{-0.8 * r:g} {0.9 * r:g}L{-0.8 * r:g} {-0.9 * r:g}Z",
        "diamond": f"M{r:g} 0L0 {r:g}L{-r:g} 0L0 {-r:g}Z",
        "bar": f"M{-1.5 * r:g} {-0.75 * r:g}h{3 * r:g}v{1.5 * r:g}h{-3 * r:g}Z",
        "frame": f"M{-1.2 * r:g} {-0.65 * r:g}h{2.4 * r:g}v{1.3 * r:g}h{-2.4 * r:g}Z",
        "circle": _round(0.8 * r), "ring": _round(0.8 * r),
        "cross": f"M{-r:g} {-r:g}L{r:g} {r:g}M{r:g} {-r:g}L{-r:g} {r:g}",
        "slash": f"{_round(r)}M{-0.7 * r:g} {0.7 * r:g}L{0.7 * r:g} {-0.7 * r:g}",
        "barred": f"M{-r:g} {-r:g}H{r:g}V{r:g}H{-r:g}ZM{-r:g} 0H{r:g}",
    }[shape]  # fmt: skip
    paint = f"var(--{colour})"
    how = (
        f'fill="none" stroke="{paint}" stroke-width="{max(1.6, r / 3.6):.1f}"'
        if shape in _OUTLINES
        else f'fill="{paint}"'
    )
    rotated = f" rotate({turn:.0f})" if shape == "triangle" and turn else ""
    return f'<path transform="translate({x:.1f} {y:.1f}){rotated}" d="{path}" {how}/>'


def _round(r: float) -> str:
    return f"M{-r:g} 0a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0"
