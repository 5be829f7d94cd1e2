"""What a page carries beside its text: the plotting library, data for scripts, files. Nothing is fetched."""

from __future__ import annotations

import base64
import gzip
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from meshpace.report.errors import MissingPackageError
from meshpace.report.looks import colour, dash, pattern
from meshpace.report.model import Chart, Download

Json = dict[str, Any]


def pack(file: Download) -> tuple[str, str]:
    """A file that the page holds, compressed, as text; and how many kilobytes it has."""
    content = file.text.encode()
    return base64.b64encode(_gzip(content)).decode(), f"{len(content) / 1000:,.0f}"


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


def has_plotly() -> bool:
    """Whether the plotting library is installed."""
    return importlib.util.find_spec("plotly") is not None


@cache
def plotly() -> str:
    """The plotting library, compressed, as text.

    Raises:
        MissingPackageError: it is not installed.
    """
    found = importlib.util.find_spec("plotly")
    if found is None or found.origin is None:
        raise MissingPackageError("the report", "plotly", "report")
    library = Path(found.origin).parent / "package_data" / "plotly.min.js"
    return base64.b64encode(_gzip(library.read_bytes())).decode()


def _gzip(content: bytes) -> bytes:
    # Without a time of day: equal reports are equal bytes.
    return gzip.compress(content, compresslevel=9, mtime=0)
