"""Charts as SVG, light or dark as its reader likes it: for a README, a slide, a notebook, a page without scripts."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from xml.etree import ElementTree

from meshpace.report.embedded import chart_json
from meshpace.report.model import Chart, View
from meshpace.report.panels import Look, figure, require_matplotlib
from meshpace.report.templates import beside, colours

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_TEXT = "system-ui, sans-serif"
_DATA = "meshpace"
"""The element that carries what a picture was made of."""


def picture(title: str, charts: Sequence[Chart], made: Mapping[str, str]) -> str:
    """Title, legend, and the charts two in a row, all to one scale, as a file that stands alone.

    It contains its numbers and the command that ``made`` it, so that a test can tell whether it is up to date.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    return of_view(View(title, tuple(charts), shared=True), made)


def of_view(view: View, made: Mapping[str, str]) -> str:
    """One view as :func:`picture` draws charts."""
    charts = _shortened(view.name, view.charts)
    root = _drawn(dataclasses.replace(view, charts=charts), view.name)
    width, height = root.attrib["width"], root.attrib["height"]
    style = ElementTree.Element(f"{_SVG}style")
    style.text = colours()
    ground = ElementTree.Element(f"{_SVG}rect", width=width, height=height, style="fill: var(--paper)")
    data = ElementTree.Element(f"{_SVG}metadata", id=_DATA)
    commands = list(dict.fromkeys(command for chart in charts for one in chart.series for command in one.commands))
    lines = {command: line for line, command in enumerate(commands)}
    drawn = [chart_json(chart, lines) for chart in charts]
    data.text = json.dumps({**made, "charts": drawn, "commands": commands}, ensure_ascii=False)
    root[:0] = [data, style, ground]
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _shortened(title: str, charts: Sequence[Chart]) -> tuple[Chart, ...]:
    """Charts titled by what tells them apart, one alone not at all where the picture's title says it."""
    if len(charts) == 1 and charts[0].title.lower() == title.lower():
        return (dataclasses.replace(charts[0], title=""),)
    heads = {chart.title.partition(", ")[0] for chart in charts}
    cut = len(charts) > 1 and len(heads) == 1 and all(", " in chart.title for chart in charts)
    return tuple(dataclasses.replace(one, title=one.title.partition(", ")[2]) if cut else one for one in charts)


def inline(view: View) -> str:
    """One view with its legend, for a page that has the style sheet.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    root = _drawn(view, "")
    return ElementTree.tostring(root, encoding="unicode").replace(' xmlns="http://www.w3.org/2000/svg"', "")


def _drawn(view: View, title: str) -> ElementTree.Element:
    """Matplotlib's SVG with colours by name, so that the reader's style decides."""
    require_matplotlib("a chart as SVG")
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text, look = io.StringIO(), _look()
    with mpl.rc_context(look.style):
        drawn = figure(view, look, title)
        FigureCanvasSVG(drawn)
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        drawn.savefig(text, format="svg", transparent=True, metadata=nothing)
    ElementTree.register_namespace("", _SVG[1:-1])
    root = ElementTree.fromstring(text.getvalue())  # noqa: S314 - made here
    _tidy(root)
    width, height = (f"{float(side):.0f}" for side in root.attrib["viewBox"].split()[2:])
    label = title or view.name
    root.attrib.update(width=width, height=height, role="img", style=f"width:{width}px;max-width:100%;height:auto")
    root.attrib["aria-label"] = label
    return root


def _tidy(root: ElementTree.Element) -> None:
    """Colours by name, the reader's own fonts, no line ends within paths, no names that nothing asks for."""
    named = {code: f"var(--{name})" for name, code in _palette().items()}
    asked = set(re.findall(r'(?:url\(|href=")#([^)"]+)', ElementTree.tostring(root, encoding="unicode")))
    colours = re.compile("|".join(named))
    for element in root.iter():
        if element.get("id") not in asked:
            element.attrib.pop("id", None)
        if _HREF in element.attrib:
            element.attrib["href"] = element.attrib.pop(_HREF)
        if "style" in element.attrib:
            plain = re.sub(
                r"font-family: [^;]*|(?<=px) '[^;]*(?=;|$)", f"font-family: {_TEXT}", element.attrib["style"]
            )
            element.attrib["style"] = colours.sub(lambda found: named[found[0]], plain)
        if "d" in element.attrib:
            element.attrib["d"] = " ".join(element.attrib["d"].split())
        if "rotate(-0 " in element.get("transform", ""):
            del element.attrib["transform"]
        if element.tag != f"{_SVG}text":
            element.text = element.text if element.tag == f"{_SVG}style" else None
        element.tail = None


@cache
def _palette() -> dict[str, str]:
    """What the style sheet calls colours, where it is light."""
    light = str(beside("style.css")).partition("}")[0]
    found = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", light))
    return {name: found[name] for name in ("paper", "ink", "soft", "rule", "s0", "s1", "s2", "s3", "s4", "s5")}


def _look() -> Look:
    colours = _palette()
    style: dict[str, Any] = {
        "figure.constrained_layout.h_pad": 0.1,
        "figure.constrained_layout.w_pad": 0.1,
        "font.size": 11.0,
        "font.family": "DejaVu Sans",  # wider than what readers have: there is room for theirs
        "svg.fonttype": "none",
        "svg.hashsalt": "meshpace",  # the same names each time
        "text.color": colours["ink"],
        "axes.labelcolor": colours["soft"],
        "axes.edgecolor": colours["soft"],
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.titlesize": 11.0,
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "xtick.color": colours["soft"],
        "ytick.color": colours["soft"],
        "ytick.left": False,
        "grid.color": colours["rule"],
        "legend.title_fontsize": 14.0,
        "lines.markersize": 5.0,
        "lines.linewidth": 1.8,
        "hatch.color": colours["paper"],
    }
    return Look(
        style,
        panel=(6.2, 3.7),
        columns=2,
        key=1.6,
        key_high=0.24,
        above=True,
        grid=True,
        paper=colours["paper"],
    )
