"""The simulator from Python: scenarios, runs, sweeps, results as Arrow tables."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from meshpace import engine, shown
from meshpace.bounds import MAX_SEED, MAX_SEEDS, MAX_THREADS
from meshpace.engine import Job, ScenarioError
from meshpace.errors import MendableError
from meshpace.files import replacing
from meshpace.formula import Formula
from meshpace.frames import data_frame
from meshpace.keyed import written as _written
from meshpace.results import RunResult
from meshpace.scenario_files import contents
from meshpace.words import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from meshpace.report.model import Topology
    from meshpace.sweeps.make import Swept
    from meshpace.sweeps.model import Source
    from meshpace.sweeps.vary import Vary

Scheme = str | type[Formula]
"""A scheme's name, or a formula of your own: a class, or ``FILE.py:CLASS``."""
Values = Mapping[str | tuple[str, ...], Sequence[Any]]
"""What varies: a list of values for each key; keys in a tuple move together, and have tuples as values."""


class Scenario:
    """A scenario: the text of a file, and settings that replace its values. Nothing is checked until it is used."""

    def __init__(self, text: str, name: str = "scenario.toml", settings: Sequence[str] = ()) -> None:
        """``text`` is TOML; messages call it ``name``; each of ``settings`` is ``key.path=value``."""
        self.text = text
        self.name = name
        self.settings: tuple[str, ...] = tuple(settings)
        self._in_memory = True

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a scenario file; ``scenarios/NAME.toml`` is found from any folder.

        Raises:
            OSError: the file cannot be read.
        """
        loaded = cls(contents(Path(path)).decode("utf-8", "surrogateescape"), str(path))
        loaded._in_memory = False
        return loaded

    def set(self, key: str, value: object) -> Self:
        """Replaces a value, as ``--set`` does: ``scenario.set("flow.0.scheme", "tcp-ap")``; returns itself."""
        kept = (setting for setting in self.settings if setting.partition("=")[0] != key)
        self.settings = (*kept, f"{key}={_written(value)}")
        return self

    def copy(self) -> Self:
        """A copy with the same text and settings, which can be set apart."""
        copied = type(self)(self.text, self.name, self.settings)
        copied._in_memory = self._in_memory
        return copied

    def complaints(self) -> list[str]:
        """The scenario's mistakes, a message each (file, line, key, found, allowed); empty if it can be run."""
        return engine.complaints(self.job())

    def validate(self) -> Self:
        """Returns the scenario if it can be run.

        Raises:
            ScenarioError: it cannot be run; the message has a line for each mistake.
        """
        if found := self.complaints():
            raise ScenarioError("\n".join(found))
        return self

    def resolve(self, seed: int = 1) -> dict[str, Any]:
        """The scenario with every default filled in and every draw of the seed made.

        Seconds, bit/s, bytes and metres; the keys end in ``_s``, ``_bps``, ``_bytes`` and ``_m``.

        Raises:
            ScenarioError: it cannot be run.
        """
        return engine.resolve(self.job(seed=seed))

    def draw(self, seed: int = 1) -> Drawing:
        """The network drawn: nodes, both ranges around the first sender, wired links, flows.

        Raises:
            ScenarioError: it cannot be run.
        """
        from meshpace.sweeps.page import drawn

        return Drawing.of(drawn(self.resolve(seed)))

    def job(self, scheme: Scheme | None = None, seed: int = 1) -> Job:
        """One run of the scenario, as the engine takes it.

        Raises:
            ArgumentError: the seed is out of bounds.
        """
        _whole("seed", seed, 0, MAX_SEED)
        name, formulas = named(scheme)
        source = self.source()
        return Job(
            source.name, source.text, self.settings, name, seed, formulas, in_memory=source.in_memory
        )  # fmt: skip

    def source(self) -> Source:
        """The scenario's name and text, without the settings."""
        from meshpace.sweeps.model import Source

        return Source(self.name, self.text.encode("utf-8", "surrogateescape"), self._in_memory)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, settings={list(self.settings)})"

    def _repr_html_(self) -> str:
        try:
            picture = self.draw()._repr_html_()
        except ScenarioError as error:
            picture = f"<pre>{escape(str(error))}</pre>"
        settings = "".join(f"<li><code>{escape(setting)}</code></li>" for setting in self.settings)
        return f"<p><b>{escape(self.name)}</b></p><ul>{settings}</ul>{picture}"


class Drawing:
    """A picture as SVG, which notebooks show; it is light or dark as its reader's system is."""

    def __init__(self, svg: str, title: str) -> None:
        self.svg = svg
        self.title = title

    @classmethod
    def of(cls, topology: Topology) -> Self:
        """The drawing of a topology, as the report has it."""
        from meshpace.report.topology import alone

        return cls(alone(topology), topology.caption)

    def save(self, path: str | Path) -> None:
        """Writes the SVG.

        Raises:
            OSError: the file cannot be written.
        """
        with replacing(Path(path)) as draft:
            draft.write_text(self.svg, encoding="utf-8")

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Drawing({self.title!r})"

    def _repr_html_(self) -> str:
        return shown.picture(self.svg, self.title)


class Run(dict[str, Any]):
    """One run: the object of ``meshpace run --json`` (docs/result-fields.md), with tables."""

    @property
    def result(self) -> RunResult:
        """The result as a typed dictionary (:class:`meshpace.results.RunResult`)."""
        return cast(RunResult, dict(self))

    def table(self) -> pa.Table:
        """The flows as an Arrow table, a row a flow; columns are the fields of docs/result-fields.md."""
        return Runs([self]).table()

    def links(self) -> pa.Table:
        """The directed links as an Arrow table, a row a link; columns are the fields of docs/result-fields.md."""
        import pyarrow as pa

        return pa.Table.from_pylist(self["links"])

    def to_pandas(self) -> Any:
        """The flows as a pandas data frame; needs pandas."""
        return data_frame(self.table())

    def __repr__(self) -> str:
        return f"Run({_of_run(self)}, seed {self['seed']}: {_got([self])})"

    def _repr_html_(self) -> str:
        return _told(repr(self), [self.result])


class Runs(Sequence[Run]):
    """Runs of several seeds, in their order."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)

    def __getitem__(self, index: Any) -> Any:
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def table(self) -> pa.Table:
        """The flows of every run as an Arrow table: a row a run and flow."""
        from meshpace.sweeps.table import flows_table

        return flows_table((run["scenario"], (), run.result) for run in self._runs)

    def flows(self) -> pa.Table:
        """Means over the runs, a row a flow, with half the width of each 95 % confidence interval (``_ci95``)."""
        import pyarrow as pa

        from meshpace.sweeps.by_flow import frame

        runs = [run.result for run in self._runs]
        return pa.Table.from_pylist(list(frame({"scenario": runs[0]["scenario"], "scheme": runs[0]["scheme"]}, runs)))

    def to_pandas(self) -> Any:
        """The flows of every run as a pandas data frame; needs pandas."""
        return data_frame(self.table())

    def __repr__(self) -> str:
        if not self._runs:
            return "Runs(none)"
        return f"Runs({_of_run(self._runs[0])}, {counted(len(self._runs), 'seed')}: {_got(self._runs)})"

    def _repr_html_(self) -> str:
        return _told(repr(self), [run.result for run in self._runs])


def _told(head: str, runs: Sequence[RunResult]) -> str:
    """The table that ``meshpace run`` prints."""
    from meshpace.cli.tables import FLOW_HEADS, flow_rows, without_flows

    rows = flow_rows(runs) if runs else []
    said = f"<p>{without_flows(runs[0])}</p>" if runs else ""
    return f"<p>{escape(head)}</p>{shown.table(FLOW_HEADS, rows) if rows else said}"


def _of_run(run: Run) -> str:
    """The scenario and the schemes of its flows."""
    schemes = dict.fromkeys(flow["scheme"] for flow in run["flows"]) or {run["scheme"]: None}
    return f"{run['scenario']}, {', '.join(schemes)}"


def _got(runs: Sequence[Run]) -> str:
    """How many flows there are, and their goodput together."""
    from meshpace.cli.tables import over_runs, show

    goodput = over_runs([run.result for run in runs], lambda run: run["aggregate_goodput_bps"])
    return f"{counted(len(runs[0]['flows']), 'flow')}, {show(goodput, (1e-3, 1))} kbit/s"


def run(
    scenario: Scenario | str | Path, scheme: Scheme | None = None, seed: int = 1, *, seeds: int | None = None,
    threads: int | None = None,
) -> Any:  # fmt: skip
    """Simulates a scenario, or a scenario file.

    ``scheme`` replaces the flows' schemes. Returns the :class:`Run` of ``seed``, or with ``seeds`` the :class:`Runs` of
    the seeds 1 to ``seeds``, ``threads`` at a time (by default as many as there are processors).

    Raises:
        ScenarioError: the scenario cannot be run.
        ArgumentError: a number is out of bounds.
        OSError: the file cannot be read.
    """
    which = _loaded(scenario)
    _whole("seeds", 1 if seeds is None else seeds, 1, MAX_SEEDS)
    _whole("threads", 1 if threads is None else threads, 1, MAX_THREADS)
    chosen = [seed] if seeds is None else range(1, seeds + 1)
    texts = engine.run_many_json([which.job(scheme, one) for one in chosen], threads)
    found = [Run(json.loads(text)) for text in texts]
    return found[0] if seeds is None else Runs(found)


class SweepResult:
    """The runs of a sweep, and what they come to; a notebook shows the first figure and the means."""

    def __init__(self, swept: Swept) -> None:
        self.swept = swept

    def table(self) -> pa.Table:
        """Every run as an Arrow table, a row a run and flow: the table of ``meshpace sweep --parquet``."""
        from meshpace.sweeps.table import table

        return table(self.swept)

    def means(self) -> pa.Table:
        """Means over the seeds, with half the width of each 95 % confidence interval (``ci95``).

        A row a point, scheme and quantity, in the units of the results: seconds, bit/s, bytes.
        """
        import pyarrow as pa

        return pa.Table.from_pylist(self._means())

    def flows(self) -> pa.Table:
        """Means over the seeds, a row a point, scheme and flow, with half-widths of 95 % intervals (``_ci95``)."""
        import pyarrow as pa

        from meshpace.sweeps.by_flow import frame

        names = self.swept.scenario_names()
        return pa.Table.from_pylist(
            [
                row
                for cell, runs in self.swept.runs.items()
                for row in frame({"scenario": names[cell.source], "scheme": cell.scheme_name, **dict(cell.point)}, runs)
            ]
        )

    def _means(self) -> list[dict[str, Any]]:
        from meshpace.sweeps.figures import shown

        swept, names = self.swept, self.swept.scenario_names()
        return [
            {
                "scenario": names[cell.source], "scheme": cell.scheme_name, **dict(cell.point),
                "quantity": quantity.name,
                "mean": None if value is None else value.mean, "ci95": None if value is None else value.half_width,
                "seeds": len(runs),
            }
            for cell, runs in swept.runs.items()
            for quantity in shown(swept)
            for value in (swept.estimate(cell, quantity),)
        ]  # fmt: skip

    def to_pandas(self) -> Any:
        """:meth:`table` as a data frame; needs pandas."""
        return data_frame(self.table())

    def save(self, path: str | Path) -> None:
        """Writes a file, whole or not at all. The ending of its name chooses the form.

        ``.csv`` and ``.parquet``: :meth:`table`; ``.pdf``: the figures; ``.svg``: the first one; ``.html``: a report.

        Raises:
            OutputError: the name has another ending.
            MissingPackageError: a package that the form needs is not installed.
            OSError: the file cannot be written.
        """
        from meshpace.sweeps.command import Outputs, write

        target = Path(path)
        kinds = {".csv": "csv", ".parquet": "parquet", ".pdf": "pdf", ".svg": "svg", ".html": "report"}
        if target.suffix not in kinds:
            raise OutputError(f"{path}: found {target.suffix!r}; allowed: {', '.join(kinds)}")
        with replacing(target) as draft:
            write(self.swept, Outputs(**{kinds[target.suffix]: draft}))

    def __repr__(self) -> str:
        swept = self.swept
        names = ", ".join(swept.scenario_names().values())
        runs = sum(map(len, swept.runs.values()))
        return f"SweepResult({names}: {counted(len(swept.runs), 'point')}, {counted(runs, 'run')})"

    def _repr_html_(self) -> str:
        from meshpace.cli.tables import show
        from meshpace.sweeps.figures import shown as quantities_of
        from meshpace.sweeps.figures import written

        swept = self.swept
        quantities = quantities_of(swept)
        heads = (*swept.sweep.keys, "scheme", "seeds", *(f"{q.title} {q.unit}" for q in quantities))
        rows = [
            (
                *(value for _, value in cell.point), written(cell.scheme), str(len(runs)),
                *(show(swept.estimate(cell, q), (q.factor, q.decimals)) for q in quantities),
            )
            for cell, runs in swept.runs.items()
        ]  # fmt: skip
        return self._figure() + shown.table(heads, rows)

    def _figure(self) -> str:
        """The first figure, or the packages that it needs."""
        from meshpace.report.errors import MissingPackageError
        from meshpace.report.picture import of_view
        from meshpace.sweeps.over_time import stills

        first = stills(self.swept)[0]
        try:
            return shown.picture(of_view(first, {"made": self.swept.sweep.command()}), first.name)
        except MissingPackageError as error:
            return f"<p>{escape(str(error))}</p>"


class ArgumentError(MendableError, ValueError):
    """An argument is no number, or none that is allowed."""


def _whole(name: str, value: object, least: int, most: int) -> None:
    try:
        whole = operator.index(value)  # type: ignore[arg-type] # numpy's, too
    except TypeError:
        whole = least - 1
    if not least <= whole <= most:
        raise ArgumentError(f"{name}: found {value!r}; allowed: a whole number {least:,} to {most:,}")


class OutputError(MendableError):
    """A file of that kind cannot be written."""


def sweep(
    scenario: Scenario | str | Path | Sequence[Scenario | str | Path], vary: Values | Sequence[str] = (), *,
    scheme: Scheme | Sequence[Scheme] | None = None, seeds: int = 5, precision: str | None = None,
    budget_s: float = 3600.0, store: str | Path = "store", threads: int | None = None, executor: str = "threads",
) -> SweepResult:  # fmt: skip
    """Runs a scenario, or several, for every combination of values and schemes, as ``meshpace sweep`` does.

    ``vary`` is a dictionary, or a list of words as ``--vary`` takes them:
    ``vary={"radio.rate": ["2Mbps", "11Mbps"], ("topology.hops", "flow.0.to"): [(2, "n2"), (4, "n4")]}``

    Each point gets the seeds 1 to ``seeds``. With ``precision`` (``"5%"``) seeds are added until the goodput's 95 %
    intervals are so narrow, for at most ``budget_s`` seconds over the workers. ``store`` keeps the runs: none is made
    twice.

    Raises:
        ScenarioError: a run cannot be made.
        MendableError: the arguments contradict each other.
        OSError: the store cannot be read or written.
    """
    from meshpace.study.executors import workers
    from meshpace.study.store import Store
    from meshpace.sweeps import precision as precisions
    from meshpace.sweeps.errors import by_vary, naming
    from meshpace.sweeps.make import run_sweep
    from meshpace.sweeps.model import Sweep, schemes_in

    _whole("seeds", seeds, 1, MAX_SEEDS)
    _whole("threads", 1 if threads is None else threads, 1, MAX_THREADS)
    several = [scenario] if isinstance(scenario, (Scenario, str, Path)) else list(scenario)
    loaded = [_loaded(one) for one in several]
    given = [scheme] if scheme is None or isinstance(scheme, (str, type)) else list(scheme)
    schemes = schemes_in(map(_scheme, given))
    varies = _varies(vary)
    varied = {key for one in varies for key in one.keys}
    # What varies takes the place of what the scenario was set to.
    kept = (setting for setting in loaded[0].settings if setting.partition("=")[0] not in varied)
    asked = Sweep(
        tuple(one.source() for one in loaded), seeds, varies, schemes.names, tuple(kept), schemes.formulas
    )  # fmt: skip
    if any(one.settings != loaded[0].settings for one in loaded):
        raise OutputError("several scenarios in one sweep: found different settings; allowed: the same for all")
    narrow = None if precision is None else precisions.parse(precision)
    with workers(executor, threads) as hands, naming(by_vary(asked.keys)):
        return SweepResult(run_sweep(asked, Store(Path(store)), hands, narrow, budget_s))


def _varies(vary: Values | Sequence[str]) -> tuple[Vary, ...]:
    from meshpace.sweeps.vary import Vary, parse

    if not isinstance(vary, Mapping):
        return tuple(map(parse, vary))
    for key, values in vary.items():
        if (
            isinstance(values, str)
            or not isinstance(values, Iterable)
            or (isinstance(values, Sized) and not len(values))
        ):
            raise ArgumentError(f"vary, {key!r}: found {values!r}; allowed: a list of values")
    return tuple(
        Vary((key,), tuple((_written(value),) for value in values)) if isinstance(key, str)
        else Vary(key, tuple(tuple(map(_written, value)) for value in values))
        for key, values in vary.items()
    )  # fmt: skip


def _loaded(scenario: Scenario | str | Path) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)


def named(scheme: Scheme | None) -> tuple[str | None, tuple[type[Formula], ...]]:
    """A scheme's name, and the formula that it is."""
    found = _scheme(scheme)
    return (found.scheme_name(), (found,)) if isinstance(found, type) else (found, ())


def _scheme(scheme: Scheme | None) -> Scheme | None:
    """A name that means a file with a formula is that formula."""
    if not isinstance(scheme, str):
        return scheme
    from meshpace.formula_files import scheme_of

    return scheme_of(scheme)
