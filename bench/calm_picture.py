"""Goodput over delay, a point a scheme: two downloads over two chains of five hops behind one gateway and a wire.

    .venv/bin/python bench/calm_picture.py docs/pictures/calm.svg [--seeds K]

What all flows get, and their mean one-way delay: the runs of `bench/calm.py comparators`, last column. Light or
dark as the reader's system is.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from xml.sax.saxutils import escape

from calm_runs import got, pair

POINTS: tuple[tuple[str, str, dict[str, float | str]], ...] = (
    ("calm", "calm", {}), ("BBR, thin", "linux-bbr-thin", {}), ("CUBIC, thin", "cubic-thin", {}),
    ("TCP-GAP, thin", "tcp-gap", {"ack_policy": "thin"}), ("TCP-GAP", "tcp-gap", {}), ("BBR", "linux-bbr", {}),
    ("CUBIC", "linux-cubic", {}), ("CUBIC, CAKE's filter", "cubic-cake-acks", {}), ("BBR, TACK", "linux-bbr-tack", {}),
    ("Copa", "copa", {}), ("Vegas", "vegas", {}), ("LEDBAT++", "ledbat", {}), ("NewReno", "newreno", {}),
    ("NewReno, dynamic ACKs", "newreno-dynack", {}), ("TCP-AP", "tcp-ap", {}),
)  # fmt: skip
WIDTH, HEIGHT = 760, 600
LEFT, RIGHT, TOP, BOTTOM = 60, 130, 56, 52
DELAYS, GOODPUTS = (120.0, 3_000.0), (150.0, 850.0)
STYLE = (
    "svg{color-scheme:light dark}.paper{fill:#fff}text{font:12px system-ui,sans-serif;fill:#333}.rule{stroke:#ddd}"
    ".other{fill:#5b7a99}.calm{fill:#c0392b}.title{font-size:14px;font-weight:bold}"
    "@media(prefers-color-scheme:dark){.paper{fill:#181818}text{fill:#ddd}.rule{stroke:#333}.other{fill:#8fb0d0}"
    ".calm{fill:#ff7a6b}}"
)


def across(delay: float) -> float:
    """Where a delay lies, ms: by its logarithm."""
    low, high = map(math.log, DELAYS)
    return LEFT + (math.log(delay) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def up(goodput: float) -> float:
    """Where a goodput lies, kbit/s."""
    low, high = GOODPUTS
    return HEIGHT - BOTTOM - (goodput - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def placed(points: list[tuple[str, float, float]]) -> list[float]:
    """Heights of the labels, each at its point or as little beside it as keeps it clear of the others near it."""
    found: list[tuple[float, float, float]] = []
    heights = dict.fromkeys(range(len(points)), 0.0)
    for place in sorted(range(len(points)), key=lambda n: up(points[n][2])):
        x, y = across(points[place][1]), up(points[place][2]) + 4
        width = 7.0 * len(points[place][0]) + 10
        while any(abs(other - y) < 13 and x < end and start < x + width for start, end, other in found):
            y += 1
        found.append((x, x + width, y))
        heights[place] = y
    return [heights[place] for place in range(len(points))]


def drawn(points: list[tuple[str, float, float]], command: str) -> str:
    """The picture."""
    title = "Two downloads over two chains: goodput of both over one-way delay"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f"<metadata>made by {escape(command)}</metadata><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/><text class="title" x="{LEFT}" y="24">{title}</text>',
        f'<text x="{LEFT}" y="44">kbit/s</text><text x="{WIDTH - RIGHT}" y="{HEIGHT - 12}" text-anchor="end">ms</text>',
    ]
    for goodput in range(200, 801, 100):
        y = up(goodput)
        lines.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{goodput}</text>')
    lines += [
        f'<text x="{across(delay):.1f}" y="{HEIGHT - 30}" text-anchor="middle">{delay}</text>'
        for delay in (150, 200, 300, 500, 1_000, 2_000)
    ]
    for (name, delay, goodput), label in zip(points, placed(points), strict=True):
        kind = "calm" if name == "calm" else "other"
        lines.append(f'<circle class="{kind}" cx="{across(delay):.1f}" cy="{up(goodput):.1f}" r="5"/>')
        lines.append(f'<text x="{across(delay) + 9:.1f}" y="{label:.1f}">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    points = []
    for name, scheme, keys in POINTS:
        one = got(pair("down"), scheme, asked.seeds, **keys)
        print(f"{name}: {one}, Jain's index {one.jain:.3f}", flush=True)
        points.append((name, one.delay, one.goodput))
    asked.file.write_text(drawn(points, f"bench/calm_picture.py {asked.file} --seeds {asked.seeds}"), encoding="utf-8")


if __name__ == "__main__":
    main()
