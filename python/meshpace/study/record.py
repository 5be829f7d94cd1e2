"""A stored run: what repeats it, and what came out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshpace import engine
from meshpace.engine import Columns, Job
from meshpace.results import RunResult

BIN_S = 1.0
"""Width of the bins of a stored time series."""


def key_of(job: Job, *, series: bool = False, version: str | None = None) -> str:
    """SHA-256 over what a result depends on: engine version, scenario text, overrides, scheme, seed.

    A run with a time series has a key of its own. ``version`` is the running engine's unless given.
    """
    parts = {
        "engine": version or engine.version(),
        "scenario": job.text.decode("utf-8", "surrogateescape"),
        "overrides": job.overrides,
        "scheme": job.scheme,
        "seed": job.seed,
        "series": series,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """A row of the store."""

    key: str
    job: Job
    version: str
    """Of the engine."""
    result: str
    """The result's JSON without ``wall_s``: the same bytes on every machine."""
    series: str | None
    """Goodput of every flow in bins of a second as JSON: ``{"bin_s": 1.0, "goodput_bps": {"1": [...]}}``."""
    wall_s: float

    def run(self) -> RunResult:
        """The result, as the engine gave it."""
        decoded: RunResult = json.loads(self.result)
        decoded["wall_s"] = self.wall_s
        return decoded

    def goodput_series(self) -> dict[str, list[float]]:
        """Goodput in bit/s by flow, one value a second from time 0; empty if none was kept."""
        if self.series is None:
            return {}
        bins: dict[str, list[float]] = json.loads(self.series)["goodput_bps"]
        return bins


def simulate(job: Job, *, series: bool = False, heartbeat: Any = None) -> Record:
    """Runs a job in the calling thread.

    ``heartbeat`` is called with the number of finished runs about ten times a second; what it raises ends the run.

    Raises:
        ScenarioError: the job cannot be run.
    """
    kept = None
    if series:
        text, columns = engine.run_watched(job, series=True, capture=None, progress=heartbeat)
        assert columns is not None
        kept = _binned(columns)
    else:
        text = engine.run_many_json([job], 1, heartbeat)[0]
    return of_result(job, text, kept)


def of_result(job: Job, text: str, series: str | None = None) -> Record:
    """The record of a job whose result, as the engine gave it, is ``text``."""
    decoded = json.loads(text)
    wall_s = decoded.pop("wall_s")
    compact = json.dumps(decoded, separators=(",", ":"))
    return Record(key_of(job, series=series is not None), job, decoded["engine"], compact, series, wall_s)


def _binned(columns: Columns) -> str:
    """Samples of 0.25 s as bins of a second."""
    kinds, names = np.array(columns["kind"]), np.array(columns["name"])
    times = np.frombuffer(columns["t_s"], dtype="<f8")  # type: ignore[arg-type]
    goodput = np.frombuffer(columns["goodput_bps"], dtype="<f8")  # type: ignore[arg-type]
    bins = {}
    for name in dict.fromkeys(names[kinds == "flow"].tolist()):
        mine = (kinds == "flow") & (names == name)
        # A sample at t covers the quarter of a second that ends there.
        index = np.ceil(times[mine] / BIN_S - 1e-9).astype(int) - 1
        sums, counts = np.bincount(index, weights=goodput[mine]), np.bincount(index)
        bins[name] = (sums / np.maximum(counts, 1)).tolist()
    return json.dumps({"bin_s": BIN_S, "goodput_bps": bins}, separators=(",", ":"))
