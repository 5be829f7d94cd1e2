"""What a study is: a scenario varied along an axis, under several conditions, with several schemes and seeds.

A study is data. Its runs follow from it alone, so a study that was interrupted, or that shares runs with another, finds
in the store what is already there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from meshpace.engine import Job, routings
from meshpace.errors import MendableError
from meshpace.precedence import replaced
from meshpace.project import scenario_directory, shown
from meshpace.scenario_files import contents
from meshpace.study.quantities import Quantity

if TYPE_CHECKING:
    from meshpace.study.claims import Claim

Settings = tuple[tuple[str, str], ...]
"""Pairs of a key path and its value, as ``--set`` takes them; a later one replaces an earlier one."""


def timed(duration: int, warmup: int) -> Settings:
    """So many seconds, the first of them discarded."""
    return (("measure.duration", f"{duration}s"), ("measure.warmup", f"{warmup}s"))


class ReplacedSchemeError(MendableError):
    """A study's scheme would replace one that the scenario names for a flow, and the study does not say so."""

    def __init__(self, study: str, job: Job, key: str, found: str) -> None:
        self.key = key
        self.found = f"{job.scheme!r}, which would replace {key} = {found!r} of {job.name}"
        super().__init__(
            f"study {study}: schemes: found {self.found}; allowed: {key} in its settings, or replaces_schemes"
        )


class Effort(StrEnum):
    """How much a study runs."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a claim is judged under: a routing protocol and a model of reception."""

    routing: str
    """``aodv`` (ns-2.35's), ``rfc3561`` (AODV after the RFC), ``static``, ``dsdv`` (ns-2.35's), any other word of
    ``engine.routings``, or ``as written``: the scenario's own."""
    reception: str
    """``ns2-capture`` or ``sinr``; or a word of a study's own for a whole radio (``Study.receptions``)."""

    @property
    def name(self) -> str:
        """For readers: ``AODV as in ns-2, ns-2 capture``."""
        if self.routing == _WRITTEN:
            return self.reception
        return f"{ROUTING_NAMES[self.routing]}, {RECEPTION_NAMES.get(self.reception, self.reception)}"

    @property
    def short(self) -> str:
        """For the heads of columns: ``aodv sinr``."""
        if self.routing == _WRITTEN:
            return self.reception
        return self.routing if self.reception == "ns2-capture" else f"{self.routing} {self.reception}"

    @property
    def settings(self) -> Settings:
        """The settings of the scenario; a study's own word for reception brings its own settings."""
        if self.routing == _WRITTEN:
            return ()
        return (*_ROUTING_SETTINGS[self.routing], ("radio.reception", self.reception))


_WRITTEN = "as written"
"""Of routing: what the scenario says, and what the word for reception sets."""
_ROUTINGS = {row["word"]: row for row in routings()}
ROUTING_NAMES: dict[str, str] = {**{word: row["title"] for word, row in _ROUTINGS.items()}, _WRITTEN: _WRITTEN}
RECEPTION_NAMES = {"ns2-capture": "ns-2 capture", "sinr": "SINR"}
_ROUTING_SETTINGS: dict[str, Settings] = {
    word: tuple((f"routing.{key}", row[key]) for key in ("protocol", "profile") if row[key] is not None)
    for word, row in _ROUTINGS.items()
}

AODV = Condition("aodv", "ns2-capture")
STATIC = Condition("static", "ns2-capture")
DSDV = Condition("dsdv", "ns2-capture")
RFC3561 = Condition("rfc3561", "ns2-capture")
"""A sensitivity: an AODV without ns-2's local-repair defect, which still takes lost frames for broken links."""

AS_WRITTEN = Condition(_WRITTEN, _WRITTEN)
"""What the scenario's file says."""

CONDITIONS = tuple(Condition(routing, reception) for reception in RECEPTION_NAMES for routing in _ROUTINGS)
"""Every routing with every model of reception."""

_PRINTED = {
    "newreno": "NewReno", "tcp-ap": "TCP-AP", "tcp-gap": "TCP-GAP", "tcp-gap-nogc": "TCP-GAP without goodput control",
    "fixed-rate": "fixed interval", "tahoe": "Tahoe", "few": "FeW", "newreno-dynack": "dynamic delayed ACKs",
    "dynack-ap": "TCP-AP with dynamic delayed ACKs", "llap": "LLAP", "llap-letter": "LLAP to the letter",
    "xcp": "XCP", "rcp": "RCP", "tcp-ap-winf": "TCP-AP with rt-Winf", "we-tcp-ap": "WE TCP-AP", "xcp-b": "XCP-b",
    "xcp-winf": "XCP-Winf", "rcp-winf": "RCP-Winf", "wcp": "WCP", "wcpcap": "wcpcap-airtime",
    "kernel-reno": "this kernel's Reno", "kernel-cubic": "this kernel's CUBIC", "kernel-bbr": "this kernel's BBR",
    "linux-reno": "Linux's Reno", "linux-cubic": "Linux's CUBIC", "linux-bbr": "Linux's BBR",
    "vegas": "Vegas", "westwood": "Westwood+", "copa": "Copa", "ledbat": "LEDBAT++", "bbr": "BBR", "bbr3": "BBR 3",
    "calm": "calm", "calm-gateway": "calm at the gateway", "calm-edge": "calm at gateway and edge",
    "cubic-thin": "Linux's CUBIC, thin ACKs", "linux-bbr-thin": "Linux's BBR, thin ACKs",
    "cubic": "CUBIC", "cubic-fq-codel": "CUBIC over FQ-CoDel", "cubic-gap": "CUBIC with TCP-GAP",
}  # fmt: skip
"""How the papers print the names of schemes."""


def scheme_name(scheme: str) -> str:
    """A scheme's name for readers: as the papers print it, else as the engine's catalogue or the scenario calls it."""
    return _PRINTED.get(scheme, scheme)


@dataclass(frozen=True, slots=True)
class Point:
    """One place on the axis; ``value`` is None where the axis counts nothing."""

    label: str
    settings: Settings = ()
    value: float | None = None
    routing: str | None = None
    """Replaces the condition's."""
    reception: str | None = None
    """Replaces the condition's."""
    decisions: tuple[str, ...] = ()
    """The open decisions that it turns (:attr:`Study.decisions`)."""

    def condition(self, under: Condition) -> Condition:
        """The condition at this point of a study run ``under`` another."""
        return Condition(self.routing or under.routing, self.reception or under.reception)


@dataclass(frozen=True, slots=True)
class Axis:
    """What varies within a figure."""

    title: str
    unit: str
    points: tuple[Point, ...]
    logarithmic: bool = False
    factors: tuple[Point, ...] = ()
    """Of a screening design, what its points combine (:mod:`meshpace.study.screening`)."""


ONLY_POINT = Point("")
AS_IS = "as it is"
"""The point of a study of switches at which nothing is switched."""
NO_AXIS = Axis("", "", (ONLY_POINT,))
"""Of a study that compares schemes at one point."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of a study to run, and how long each run is."""

    seeds: int
    """Runs the seeds 1 to this."""
    measure: Settings
    points: tuple[str, ...] | None = None
    """Labels of the points run; all if None."""
    core_s: float = 1.0
    """Processor time of a run, roughly; weighs runs for the time left, nothing else."""
    conditions: tuple[Condition, ...] | None = None
    """Those run, of the study's; all if None."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a figure: what the seeds are averaged over."""

    condition: Condition
    scheme: str
    point: str
    """The point's label."""


More = Mapping[tuple[str, Cell], int]
"""Seeds beyond the plan by study and cell."""
NOTHING_MORE: More = {}


@dataclass(frozen=True, slots=True)
class Study:
    """A figure or table of a paper, or a question beyond it."""

    name: str
    title: str
    figures: tuple[str, ...]
    """``Fig. 8``; empty for what no paper shows."""
    source: str
    shows: str
    """What the figure shows, in a sentence."""
    scenario: str
    """File name in ``scenarios/``."""
    axis: Axis
    schemes: tuple[str, ...]
    conditions: tuple[Condition, ...]
    quick: Plan
    full: Plan
    quantities: tuple[Quantity, ...]
    """The quantities to draw and tabulate, the most important first."""
    settings: Settings = ()
    """Of every run."""
    level: tuple[str, ...] = ()
    """Schemes that the axis does not concern: run once, the same at every point."""
    series: bool = False
    """Whether the goodput of every flow second by second is kept."""
    paper: str = ""
    """Its catalogue's name in docs/experiments, if it is one of a paper's."""
    notes: str = ""
    """Assumptions where the paper does not say."""
    receptions: tuple[tuple[str, Settings], ...] = ()
    """Words that its conditions and points have for reception beside the engine's, and what they set."""
    reads: tuple[str, ...] = ()
    """Studies whose runs its claims are about, beside its own."""
    claims: tuple[Claim, ...] = ()
    """Of a study that a user wrote as a file; those of the papers stand in modules of their own."""
    replaces_schemes: bool = False
    """Whether its schemes replace also those that the scenario names for flows (``[[flow]] scheme``). Without it such a
    flow has to be given its scheme by the settings (``flow.0.scheme``); else the study is refused: what is compared
    with a flow's scheme would be compared with itself."""
    hosts: Callable[[str, Mapping[str, str]], Settings | None] | None = None
    """What real hosts do in the runs of a scheme with these settings: such runs are emulated, and the scheme is a name
    of the study's own. None of those that are simulated; it has the last word over settings."""
    decisions: tuple[str, ...] = ()
    """The open decisions that it turns as a whole: names of its catalogue's section 5 (``O12b``), numbers of the
    register of docs/schemes.md 19 (``10``), or what somebody's own study calls one."""
    drawn: Callable[[Point, int], Settings] | None = None
    """What a seed sets at a point beside the run's own draws: patterns that the study draws by their number. What
    receptions and points set goes before it."""
    profile: str = ""
    """Of a study that is run again at other readings of what the paper leaves open: what these are called together
    (``as printed``). Such studies are asked for by it alone."""
    again_of: str = ""
    """The study that it is again."""

    def plan(self, effort: Effort) -> Plan:
        """How much ``effort`` runs."""
        return self.quick if effort is Effort.QUICK else self.full

    def points(self, effort: Effort) -> tuple[Point, ...]:
        """The points that ``effort`` runs, in the order of the axis."""
        chosen = self.plan(effort).points
        return tuple(point for point in self.axis.points if chosen is None or point.label in chosen)

    def point(self, label: str) -> Point:
        """The point of that label.

        Raises:
            KeyError: there is none.
        """
        for point in self.axis.points:
            if point.label == label:
                return point
        raise KeyError(label)

    def turned(self) -> dict[str, tuple[str, ...]]:
        """The open decisions that it turns, each with the labels of the points that do; none: all of it."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(self.decisions, ())
        for point in self.axis.points:
            for one in point.decisions:
                if one not in self.decisions:
                    found[one] = (*found.get(one, ()), point.label)
        return found

    def cells(self, effort: Effort) -> Iterator[Cell]:
        """Every value of the figure."""
        for condition in self.plan(effort).conditions or self.conditions:
            for scheme in self.schemes:
                for point in self.points(effort):
                    yield Cell(condition, scheme, point.label)

    def text(self) -> bytes:
        """Its scenario file's."""
        return _source(self.scenario)[1]

    def job(self, cell: Cell, seed: int, effort: Effort) -> Job:
        """One run of a cell. Cells of a ``level`` scheme that differ in their point only give the same job.

        Raises:
            ReplacedSchemeError: the scenario names a scheme for a flow, and the study does not say what becomes of it.
        """
        scheme, settings = self._asked(cell, seed, effort)
        name, text = _source(self.scenario)
        overrides = tuple(f"{key}={value}" for key, value in sorted(settings.items()))
        if scheme is None:
            return Job(name, text, overrides, None, seed, emulated=True)
        job = Job(name, text, overrides, scheme, seed)
        if not self.replaces_schemes:
            for key, found in replaced(job).items():
                raise ReplacedSchemeError(self.name, job, key, found)
        return job

    def runs(self, effort: Effort) -> int:
        """How many different runs that is, without a job, which would take the scenario's text and the engine."""
        asked = (self._asked(cell, 1, effort) for cell in self.cells(effort))
        return len({(scheme, frozenset(settings.items())) for scheme, settings in asked}) * self.plan(effort).seeds

    def _asked(self, cell: Cell, seed: int, effort: Effort) -> tuple[str | None, dict[str, str]]:
        """What a run of a cell asks of its scenario: the scheme, None where real hosts take its place, and settings."""
        settings = dict(self.plan(effort).measure)
        settings.update(self.settings)
        point = ONLY_POINT if cell.scheme in self.level else self.point(cell.point)
        condition = point.condition(cell.condition)
        settings.update(condition.settings)
        if self.drawn is not None:
            settings.update(self.drawn(point, seed))
        settings.update(dict(self.receptions).get(condition.reception, ()))
        settings.update(point.settings)
        settings = {key: value for key, value in settings.items() if not self._of_another(key, cell.scheme)}
        real = None if self.hosts is None else self.hosts(cell.scheme, settings)
        if real is None:
            return cell.scheme, settings
        # A list that is set whole has no use for what is set in it.
        within = tuple(f"{key}." for key, _ in real)
        return None, {key: value for key, value in settings.items() if not key.startswith(within)} | dict(real)

    def _of_another(self, key: str, scheme: str) -> bool:
        """Whether a key is a parameter of a scheme that is run beside this one: it concerns none of its runs."""
        table, _, rest = key.partition(".")
        owner = rest.rpartition(".")[0]
        return table == "scheme" and owner != scheme and owner in self.schemes

    def jobs(self, effort: Effort, more: More = NOTHING_MORE) -> Iterator[tuple[Cell, Job]]:
        """Every run, with ``more`` seeds than planned for some; those of ``level`` schemes for each point anew."""
        for cell in self.cells(effort):
            first = self.job(cell, 1, effort)
            for seed in range(1, self.plan(effort).seeds + more.get((self.name, cell), 0) + 1):
                # Where seeds draw nothing of their own a cell's jobs differ in the seed alone: there are 300,000.
                yield cell, first._replace(seed=seed) if self.drawn is None else self.job(cell, seed, effort)


@functools.cache
def _source(scenario: str) -> tuple[str, bytes]:
    """What a scenario file is called in commands, and its text."""
    path = scenario_directory() / scenario
    return shown(path), contents(path)
