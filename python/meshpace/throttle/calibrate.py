"""The tables that ingress throttling goes by: critical loads and load correction factors (schemes.md 4).

A flow alone on a chain shows what its length can carry. Then N flows side by side are throttled with alpha = 1, and
alpha is multiplied by the critical load over theirs until both agree. Runs are kept in a store, so that a calibration
that was interrupted goes on where it was. The seeds are its own (1001, ...): what is judged later is not what was
calibrated on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from meshpace.engine import Job
from meshpace.project import scenario_directory, shown
from meshpace.results import RunResult
from meshpace.study.executors import Workers
from meshpace.study.model import Settings
from meshpace.study.record import key_of
from meshpace.study.runner import Task, make
from meshpace.study.store import Store
from meshpace.throttle.load import of_run
from meshpace.throttle.strip import CHAIN, STRIP, chain, strip

TOLERANCE = 0.01
"""How far the loads may differ at the end (Osipov and Tschudin 2005, section 2.5.2)."""
MOST = 3.0
"""The largest alpha that is tried."""
FIRST_SEED = 1001
"""Of the calibration of alpha."""

_CRITICAL_TELLS = (
    "What one flow alone puts on the air at 2 Mbit/s (scenarios/osipov-critical.toml), its window 3h/2, at least 2:",
    "data_bps its data segments, 34 bytes with each attempt of the MAC; data_once_bps with each packet 28 bytes,",
    "once a hop; net_bps, net_once_bps with acknowledgements; alone_bps payload delivered. Means over the seeds.",
)
_ALPHA_TELLS = (
    "Load correction factors of flows side by side (scenarios/throttle-strip.toml), serial gates, N told, attempts",
    "counted: load_ratio is their load, data and acknowledgements, over the critical one of critical.csv",
    "with alpha, load_ratio_at_1 without; converged: within 1 %. Means over the seeds.",
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TableEntry:
    """What an entry of a table is for."""

    hops: int
    segment: int


@dataclass(frozen=True, slots=True)
class Critical:
    """Loads of one flow alone, bit/s, and its goodput."""

    data: float
    data_once: float
    net: float
    net_once: float
    alone: float


@dataclass(slots=True)
class Alpha:
    """How far the search for one factor has come."""

    value: float = 1.0
    ratio: float = math.inf
    """Load over the critical one with that factor."""
    rounds: int = 0
    loads: list[tuple[float, float]] = field(default_factory=list)
    """Factor and ratio of every round."""

    @property
    def converged(self) -> bool:
        """Whether the loads agree."""
        return abs(self.ratio - 1) <= TOLERANCE


@dataclass(slots=True)
class Hands:
    """Where runs are made and kept."""

    store: Store
    workers: Workers
    made: int = 0
    """Runs made so far."""
    stored: int = 0
    """Runs that were there."""

    def runs(self, jobs: Mapping[str, Sequence[Job]]) -> dict[str, list[RunResult]]:
        """The results of jobs by name; those that the store holds are not made again."""
        keys = {name: [key_of(job) for job in mine] for name, mine in jobs.items()}
        pairs = [pair for name, mine in jobs.items() for pair in zip(keys[name], mine, strict=True)]
        tally = make([Task(key, job, False, 1.0) for key, job in dict(pairs).items()], self.store, self.workers)
        self.made, self.stored = self.made + tally.made, self.stored + tally.stored + tally.others
        found = self.store.get({key for mine in keys.values() for key in mine})
        return {name: [found[key].run() for key in mine] for name, mine in keys.items()}


def job(scenario: str, scheme: str, settings: Settings, seed: int) -> Job:
    """A run of a scenario of the checkout."""
    path = scenario_directory() / scenario
    overrides = tuple(f"{key}={value}" for key, value in sorted(dict(settings).items()))
    return Job(shown(path), path.read_bytes(), overrides, scheme, seed)


def critical(places: Iterable[TableEntry], seeds: int, measure: Settings, hands: Hands) -> dict[TableEntry, Critical]:
    """The load of one flow alone (Figs. 5 and 6), mean over the seeds from 1."""
    places = list(places)
    jobs = {
        f"{place}": [
            job(CHAIN, "newreno", (*measure, ("defaults.segment", str(place.segment)), *chain(place.hops)), seed)
            for seed in range(1, seeds + 1)
        ]
        for place in places
    }
    found = hands.runs(jobs)
    return {place: _critical(found[f"{place}"]) for place in places}


def _critical(runs: Sequence[RunResult]) -> Critical:
    def mean(take: Callable[[RunResult], float]) -> float:
        return math.fsum(map(take, runs)) / len(runs)

    return Critical(
        mean(lambda run: of_run(run).data),
        mean(lambda run: of_run(run, "once").data),
        mean(lambda run: of_run(run).net),
        mean(lambda run: of_run(run, "once").net),
        mean(lambda run: run["aggregate_goodput_bps"]),
    )


def alphas(
    wanted: Iterable[tuple[TableEntry, int]], loads: Mapping[TableEntry, Critical], seeds: int, rounds: int,
    measure: Settings, hands: Hands, say: Say,
) -> dict[tuple[TableEntry, int], Alpha]:  # fmt: skip
    """The factor of every path length and number of flows, by a fixed point over rounds of runs."""
    found = {key: Alpha() for key in wanted}
    trial = dict.fromkeys(found, 1.0)
    for number in range(1, rounds + 1):
        jobs = {
            f"{key}": [
                job(STRIP, "throttle", (*measure, *throttled(*key, loads[key[0]], trial[key])), seed)
                for seed in range(FIRST_SEED, FIRST_SEED + seeds)
            ]
            for key in trial
        }
        results = hands.runs(jobs)
        for key in list(trial):
            net = math.fsum(of_run(run).net for run in results[f"{key}"]) / seeds
            ratio = net / loads[key[0]].net
            state = found[key]
            state.loads.append((trial[key], ratio))
            state.rounds = number
            if abs(ratio - 1) < abs(state.ratio - 1):
                state.value, state.ratio = trial[key], ratio
            trial[key] = round(min(trial[key] / ratio, MOST), 4) if ratio > 0 else MOST
            if state.converged or (trial[key], MOST) == (state.loads[-1][0], MOST):
                del trial[key]
        say(f"round {number}: {sum(state.converged for state in found.values())} of {len(found)} agree to 1 %")
        if not trial:
            break
    return found


def throttled(place: TableEntry, flows: int, load: Critical, alpha: float) -> Settings:
    """A strip whose flows go by a critical load and a factor that are told."""
    return (
        ("defaults.segment", str(place.segment)),
        *strip(place.hops, flows),
        ("scheme.throttle.ot_crit", f"{round(load.data)}"),
        ("scheme.throttle.ot_alpha", f"{alpha}"),
        ("scheme.throttle.ot_N", f"{flows}"),
    )


def critical_table(found: Mapping[TableEntry, Critical], how: Sequence[str]) -> str:
    """As ``critical.csv``: whole bit/s."""
    rows = [
        f"{place.hops},{place.segment},{load.data:.0f},{load.data_once:.0f},{load.net:.0f},{load.net_once:.0f},"
        f"{load.alone:.0f}"
        for place, load in sorted(found.items(), key=lambda pair: (pair[0].hops, pair[0].segment))
    ]
    head = "hops,segment,data_bps,data_once_bps,net_bps,net_once_bps,alone_bps"
    return _table(head, rows, (*_CRITICAL_TELLS, *how))


def alpha_table(found: Mapping[tuple[TableEntry, int], Alpha], how: Sequence[str]) -> str:
    """As ``alpha.csv``: the factor, the load over the critical one with it and with 1, rounds, 1 where they agree."""
    rows = [
        f"{place.hops},{flows},{place.segment},{state.value:.4f},{state.ratio:.4f},{state.loads[0][1]:.4f},"
        f"{state.rounds},{int(state.converged)}"
        for (place, flows), state in sorted(
            found.items(), key=lambda pair: (pair[0][0].segment, pair[0][0].hops, pair[0][1])
        )
    ]
    head = "hops,flows,segment,alpha,load_ratio,load_ratio_at_1,rounds,converged"
    return _table(head, rows, (*_ALPHA_TELLS, *how))


def _table(head: str, rows: Sequence[str], how: Sequence[str]) -> str:
    return "\n".join((*(f"# {line}" for line in how), head, *rows)) + "\n"
