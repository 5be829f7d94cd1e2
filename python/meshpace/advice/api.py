"""``meshpace advise`` from Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshpace import shown
from meshpace.advice.errors import AdviceError
from meshpace.advice.make import Advice, Question
from meshpace.advice.where import BASELINE, DEPLOYABLE
from meshpace.api import Scenario, Scheme, named
from meshpace.files import replacing
from meshpace.frames import data_frame

if TYPE_CHECKING:
    import pyarrow as pa


class AdviceResult:
    """The answer whether pacing would help a mesh; a notebook shows it in sentences and tables."""

    def __init__(self, advice: Advice) -> None:
        self.advice = advice

    @property
    def answer(self) -> str:
        """Whether the best scheme helps, over all patterns of traffic (docs/cli.md has the meaning of each answer).

        ``yes``, ``yes, for fairness``, ``a trade``, ``undecided``, ``no, or a trade``, ``no``.
        """
        return str(self.advice.scheme(self.best).answer)

    @property
    def best(self) -> str:
        """The scheme that helps most; if the mesh's operators can switch some schemes on, it is one of these."""
        return self.advice.best()

    @property
    def unknown(self) -> list[str]:
        """The facts about the mesh that no simulation of this file can know, in sentences."""
        from meshpace.advice.show import unknown

        return unknown(self.advice)

    @property
    def told(self) -> list[str]:
        """The answer in sentences."""
        from meshpace.advice.show import told

        return told(self.advice)

    def as_json(self) -> dict[str, Any]:
        """The object of ``meshpace advise --json`` (docs/cli.md)."""
        from meshpace.advice.show import as_json

        return as_json(self.advice)

    def table(self) -> pa.Table:
        """The changes as an Arrow table, a row a pattern of traffic and scheme.

        ``goodput``, ``median_flow`` and ``delay`` are changes as parts of the baseline's value (0.1 is 10 % more);
        ``jain`` is a difference. Each has the ends of its 95 % interval (``_low``, ``_high``); None: nothing can be
        said. The pattern None is over all patterns.
        """
        import pyarrow as pa

        found = self.advice
        cells = [
            (pattern, scheme, found.of_scheme(pattern, scheme))
            for pattern in found.patterns for scheme in found.question.schemes
        ] + [(None, scheme, found.scheme(scheme)) for scheme in found.question.schemes]  # fmt: skip
        rows = []
        for pattern, scheme, effect in cells:
            row: dict[str, Any] = {"pattern": None if pattern is None else pattern.name, "scheme": scheme}
            weighed = {
                "goodput": effect.goodput, "median_flow": effect.median_flow, "jain": effect.fairness,
                "delay": effect.delay,
            }  # fmt: skip
            for name, change in ((name, one.change()) for name, one in weighed.items()):
                row[name] = None if change is None else change.mean
                row[f"{name}_low"] = None if change is None else change.low
                row[f"{name}_high"] = None if change is None else change.high
            rows.append({**row, "answer": str(effect.answer)})
        names = ("goodput", "median_flow", "jain", "delay")
        numbers = [(f"{name}{end}", pa.float64()) for name in names for end in ("", "_low", "_high")]
        text = [("pattern", pa.string()), ("scheme", pa.string())]
        return pa.Table.from_pylist(rows, pa.schema([*text, *numbers, ("answer", pa.string())]))

    def to_pandas(self) -> Any:
        """:meth:`table` as a pandas data frame; needs pandas."""
        return data_frame(self.table())

    def save(self, path: str | Path) -> None:
        """Writes ``.html`` (the report) or ``.json``, whole or not at all.

        Raises:
            AdviceError: the name has another ending.
            OSError: the file cannot be written.
        """
        target = Path(path)
        if target.suffix not in (".html", ".json"):
            raise AdviceError(f"{path}: found {target.suffix!r}; allowed: .html, .json")
        with replacing(target) as draft:
            draft.write_text(self._page() if target.suffix == ".html" else json.dumps(self.as_json()), encoding="utf-8")

    def _page(self) -> str:
        from meshpace.advice.page import report
        from meshpace.report.page import render

        return render(report(self.advice))

    def __repr__(self) -> str:
        return f"AdviceResult({self.advice.resolved['name']}: {self.best}, {self.answer})"

    def _repr_html_(self) -> str:
        from meshpace.advice.show import OVER_ALL, OVERALL_HEADS, PATTERN_HEADS, overall_rows, pattern_rows, title

        told = "".join(f"<p>{escape(line)}</p>" for line in (*self.unknown, *self.told))
        overall = shown.table(OVERALL_HEADS, overall_rows(self.advice))
        patterns = shown.table(PATTERN_HEADS, pattern_rows(self.advice))
        return f"{told}<p><b>{escape(OVER_ALL)}</b></p>{overall}<p><b>{escape(title(self.advice))}</b></p>{patterns}"


def advise(
    mesh: Scenario | str | Path | Sequence[str | Path], *, scheme: Scheme | Sequence[Scheme] = DEPLOYABLE,
    baseline: str = BASELINE, nodes: int | Sequence[str] = 3, seeds: int = 5, precision: str = "3%",
    budget_s: float = 3600.0, gateway: str | None = None,
    standard: str | None = None, rate: str | None = None, routing: str | None = None,
    store: str | Path = "store", threads: int | None = None, executor: str = "threads",
) -> AdviceResult:  # fmt: skip
    """Would pacing help this mesh? It asks as ``meshpace advise`` does (docs/cli.md).

    ``mesh`` is a scenario whose mesh has a gateway, or the file or files of another tool; ``gateway``, ``standard``,
    ``rate`` and ``routing`` are for files of other tools. ``nodes`` is how many nodes stand for all of them, or their
    names. ``seeds`` are the first runs of each case; more are added until the mean change of goodput is known to
    ``precision``, for at most ``budget_s`` seconds over the workers. ``store`` keeps the runs.

    Raises:
        ScenarioError: the mesh cannot be simulated.
        MendableError: the arguments contradict each other, or a file cannot be imported.
        OSError: a file or the store cannot be read or written.
    """
    from meshpace.advice.command import nodes_of, parts, source
    from meshpace.advice.make import advise as made
    from meshpace.study.executors import workers
    from meshpace.study.store import Store

    if isinstance(mesh, Scenario):
        if (gateway, standard, rate, routing) != (None, None, None, None):
            raise AdviceError(
                f"{mesh.name}: found gateway, standard, rate or routing; allowed with a scenario: its settings"
            )
        asked, settings = mesh.source(), mesh.settings
    else:
        files = [Path(mesh)] if isinstance(mesh, (str, Path)) else [Path(one) for one in mesh]
        asked, settings = source(files, gateway, standard, rate, routing), ()
    schemes = [named(one) for one in ([scheme] if isinstance(scheme, (str, type)) else scheme)]
    question = Question(
        asked, tuple(str(name) for name, _ in schemes), baseline,
        nodes_of(str(nodes)) if isinstance(nodes, int) else tuple(nodes), seeds, parts(precision), budget_s, settings,
        tuple(formula for _, formulas in schemes for formula in formulas),
    )  # fmt: skip
    with workers(executor, threads) as hands:
        return AdviceResult(made(question, Store(Path(store)), hands))
