"""Latency under load over time, as flent draws its test rrul: what bulk flows get each way, and round trips of echoes.

Source: T. Høiland-Jørgensen and others, Flent: The FLExible Network Tester (VALUETOOLS 2017), and its plots of "rrul".
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from meshpace import engine
from meshpace.engine import Columns, Job
from meshpace.report.model import Chart, Series, View
from meshpace.results import FlowResult
from meshpace.stats import Estimate
from meshpace.study.bins import BIN_S, binned
from meshpace.sweeps.delays import GREEDY
from meshpace.sweeps.figures import place_name, views
from meshpace.sweeps.make import Swept

NAME = "Latency under load, over time"
_WAYS = ("up", "down", "within the mesh")


def stills(swept: Swept) -> tuple[View, ...]:
    """The figures of files and notebooks: over time where there are echoes, then a view for each quantity."""
    first = view(swept)
    return (*(() if first is None else (first,)), *views(swept))


def view(swept: Swept) -> View | None:
    """The first seed of everything that stands side by side, once more, watched.

    None where keys vary or nobody asks for echoes.
    """
    echoes = any(flow["app"] == "echo" for runs in swept.runs.values() for flow in runs[0]["flows"])
    if swept.sweep.varies or not echoes:
        return None
    charts = [chart for cell in swept.runs for chart in _charts(swept.sweep.job(cell, 1), place_name(swept, cell))]
    return View(NAME, tuple(charts), shared=True, over=2)


def _charts(job: Job, name: str) -> tuple[Chart, Chart]:
    """Goodput of the bulk flows by where they go, and round trips of echoes, over the measured time."""
    resolved = engine.resolve(job)
    text, columns = engine.run_watched(job, series=True, capture=None)
    assert columns is not None
    flows: list[FlowResult] = json.loads(text)["flows"]
    begin = resolved["measure"].get("warmup_s", 0.0)
    wired = {node["id"] for node in resolved["wired"]}
    got = json.loads(binned(columns))["goodput_bps"]
    ways: dict[str, list[list[float]]] = {way: [] for way in _WAYS}
    for flow in flows:
        if flow["app"] in GREEDY:
            ways[_WAYS[0 if flow["to"] in wired else 1 if flow["from"] in wired else 2]].append(got[flow["id"]])
    # A bin's number stands where it ends.
    ends = BIN_S * np.arange(1, 1 + max(map(len, got.values()), default=0))
    goodput = _chart(
        f"{name}: goodput" if name else "goodput", ends, begin, "kbit/s", 1e-3, 0,
        [(way, np.sum(_even(mine, len(ends)), axis=0)) for way, mine in ways.items() if mine],
        place=0, command=job.command(),
    )  # fmt: skip
    times, found = _round_trips(columns, [flow["id"] for flow in flows if flow["app"] == "echo"])
    latency = _chart(
        f"{name}: round trips" if name else "round trips", times, begin, "ms", 1e3, 0, found,
        place=len(_WAYS), command=job.command(),
    )  # fmt: skip
    return goodput, latency


def _even(rows: Sequence[Sequence[float]], length: int) -> list[list[float]]:
    """Rows of one length: a flow that has ended gets nothing."""
    return [[*row, *[0.0] * (length - len(row))] for row in rows]


def _round_trips(columns: Columns, names: Sequence[str]) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """The latest round trip of each flow at every sample."""
    whose = np.array(columns["name"])
    times, trips = (np.frombuffer(columns[name], dtype="<f8") for name in ("t_s", "rtt_s"))  # type: ignore[arg-type]
    mine = [(whose == name) & (np.array(columns["kind"]) == "flow") for name in names]
    words = names if len(names) > 1 else ["echoes"]
    return times[mine[0]], [(word, trips[one]) for word, one in zip(words, mine, strict=True)]


def _chart(
    title: str, times: np.ndarray, begin: float, unit: str, factor: float, decimals: int,
    lines: Sequence[tuple[str, np.ndarray]], place: int, command: str,
) -> Chart:  # fmt: skip
    seen = times > begin + 1e-9
    return Chart(
        title=title,
        axis=tuple(f"{time:g} s" for time in times[seen]),
        axis_title="time, s",
        unit=unit,
        series=tuple(
            Series(
                name,
                tuple(None if np.isnan(value) else Estimate(round(float(value), 6), None, 1) for value in values[seen]),
                (command,),
                place + number,
            )
            for number, (name, values) in enumerate(lines)
        ),
        factor=factor,
        decimals=decimals,
        x=tuple(map(float, times[seen])),
        over_time=True,
    )
