"""What a page carries beside its text: styles, scripts, data. Nothing is fetched."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from meshpace.report.errors import MissingPackageError
from meshpace.report.looks import colour, dash, pattern
from meshpace.report.model import Chart, Download

Json = dict[str, Any]


def style() -> str:
    """The page's style sheet as an element."""
    return f"<style>{_text('style.css')}</style>"


def script(*names: str) -> str:
    """Scripts of this folder as one element."""
    return f"<script>{''.join(map(_text, names))}</script>"


def data(name: str, value: object) -> str:
    """A value as an element that no browser runs; scripts find it by its ``id``."""
    # `</script>` and `<!--` inside would end or change the element.
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{escape(name, quote=True)}">{text}</script>'


def plotly() -> str:
    """The plotting library, compressed: it is a third of its size so, and is unpacked when a chart comes into sight.

    Raises:
        MissingPackageError: it is not installed.
    """
    return f'<script type="application/octet-stream" id="plotly" data-encoding="gzip">{_plotly()}</script>'


def download(file: Download) -> str:
    """A link that saves a file which the page holds, compressed."""
    packed = base64.b64encode(_gzip(file.text.encode())).decode()
    size = len(file.text.encode()) / 1000
    name = escape(f"{file.name}.gz", quote=True)
    return (
        f'<a class="download" download="{name}" href="data:application/gzip;base64,{packed}">{escape(file.title)}'
        f" <small>({size:,.0f} kB)</small></a>"
    )


def chart_json(chart: Chart, commands: Mapping[str, int]) -> Json:
    """A chart for the plotting script: values in the unit of the results, all their digits; commands by number."""
    return {
        "title": chart.title,
        "axis": chart.axis,
        "axisTitle": chart.axis_title,
        "unit": chart.unit,
        "factor": chart.factor,
        "decimals": chart.decimals,
        "bars": chart.bars,
        "top": chart.top,
        "x": chart.x,
        "log": chart.log,
        "series": [
            {
                "name": series.name,
                "colour": colour(place),
                "pattern": pattern(place),
                "dash": dash(place),
                "mean": [None if v is None else v.mean for v in series.values],
                "half": [None if v is None else v.half_width for v in series.values],
                "runs": [None if v is None else v.count for v in series.values],
                "commands": [commands[command] for command in series.commands],
            }
            for series, place in zip(chart.series, chart.places(), strict=True)
        ],
        "dense": chart.dense,
    }


@cache
def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    found = importlib.util.find_spec("plotly")
    if found is None or found.origin is None:
        raise MissingPackageError("the report", "plotly", "report")
    library = Path(found.origin).parent / "package_data" / "plotly.min.js"
    return base64.b64encode(_gzip(library.read_bytes())).decode()


def _gzip(content: bytes) -> bytes:
    # Without a time of day: equal reports are equal bytes.
    return gzip.compress(content, compresslevel=9, mtime=0)
