"""A stored run: its job, the engine that made it, and its result."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from meshpace import engine
from meshpace.engine import Job
from meshpace.results import RunResult
from meshpace.study import bins
from meshpace.study.code import code_of

Kind = Literal["goodput_bps", "cwnd"]
"""Time series that are kept of flows."""


Formulas = tuple[tuple[str, str], ...]
"""Names of formulas in Python, and the SHA-256 of their code."""


class StoppedError(Exception):
    """A run was broken off."""


@dataclass(frozen=True, slots=True)
class Maker:
    """An engine that makes results."""

    version: str
    fingerprint: str | None
    """Of its sources; None of results from before engines had one."""

    @property
    def name(self) -> str:
        """What ``meshpace report --engine`` takes."""
        return self.fingerprint or self.version

    def __str__(self) -> str:
        return f"{self.version} ({self.fingerprint or 'without a fingerprint'})"


def running() -> Maker:
    """The engine that runs here."""
    return Maker(engine.version(), engine.fingerprint())


def key_of(job: Job, *, series: bool = False, fingerprint: str | None = None) -> str:
    """SHA-256 over what a result depends on: engine, scenario, overrides, schemes, seed.

    The engine is its fingerprint (the running one's unless given), a scheme is its name and every parameter as it acts.
    A run with a time series has a key of its own, which holds the code that bins it.

    Raises:
        ScenarioError: the job cannot be run.
    """
    parts = {
        **_asked(job),
        "engine": fingerprint or engine.fingerprint(),
        "schemes": _parameters(job._replace(seed=1)),
        "series": code_of(bins) if series else None,
    }
    return _digest(parts)


def question_of(job: Job, *, series: bool = False) -> str:
    """SHA-256 over what was asked, by whatever engine: scenario, overrides, scheme, seed, if with a time series."""
    return _digest({**_asked(job), "series": series})


def _asked(job: Job) -> dict[str, Any]:
    # Only where there are any: the keys of all other runs stay what they are.
    formulas = dict(formulas_of(job))
    return {
        **({"formulas": formulas} if formulas else {}),
        **({"emulated": True} if job.emulated else {}),
        "scenario": job.text.decode("utf-8", "surrogateescape"),
        "overrides": job.overrides,
        "scheme": job.scheme,
        "seed": job.seed,
    }


def formulas_of(job: Job) -> Formulas:
    """The formulas in Python that a job uses."""
    return tuple(
        (formula.scheme_name(), hashlib.sha256(formula.source().encode()).hexdigest()) for formula in job.formulas
    )


def _digest(parts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@functools.lru_cache(maxsize=4096)
def _parameters(job: Job) -> dict[str, Any]:
    """Of every scheme that the job uses; the same for every seed."""
    return engine.schemes_in_use(job)


@dataclass(frozen=True, slots=True)
class Record:
    """A row of the store."""

    key: str
    job: Job
    maker: Maker
    result: str
    """The result's JSON without ``wall_s``: the same bytes on every machine, if the run was simulated."""
    series: str | None
    """What :func:`meshpace.study.bins.binned` made of the run's time series."""
    wall_s: float
    formulas: Formulas = ()
    """Of the job, which comes from a store without their classes."""

    def run(self) -> RunResult:
        """The result, as the engine gave it."""
        decoded: RunResult = json.loads(self.result)
        decoded["wall_s"] = self.wall_s
        return decoded

    def goodput_series(self) -> dict[str, list[float]]:
        """Goodput in bit/s by flow, one value a second from time 0; empty if none was kept."""
        return self.of_flows("goodput_bps")

    def of_flows(self, kind: Kind) -> dict[str, list[float]]:
        """A time series by flow from time 0; empty if none was kept. Windows are segments, four values a second."""
        if self.series is None:
            return {}
        by_flow: dict[str, list[float]] = json.loads(self.series)[kind]
        return by_flow


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
        kept = bins.binned(columns)
    else:
        text = engine.run_many_json([job], 1, heartbeat)[0]
    return of_result(job, text, kept)


def of_result(job: Job, text: str, series: str | None = None) -> Record:
    """The record of a job whose result, as the engine gave it, is ``text``."""
    decoded = json.loads(text)
    wall_s = decoded.pop("wall_s")
    maker = Maker(decoded["engine"], decoded["engine_fingerprint"])
    compact = json.dumps(decoded, separators=(",", ":"))
    key = key_of(job, series=series is not None, fingerprint=maker.fingerprint)
    return Record(key, job, maker, compact, series, wall_s, formulas_of(job))
