"""``meshpace demo``."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from meshpace.cli.terminal import console
from meshpace.cli.verdicts import print_verdicts
from meshpace.demo.claims import CLAIMS, HEADLINES
from meshpace.demo.plan import CONDITIONS, MOST_SEEDS, studies
from meshpace.demo.sections import chain_section, gain_section, parallel_section
from meshpace.errors import MendableError
from meshpace.files import replacing, try_out
from meshpace.progress import Progress
from meshpace.report import embedded
from meshpace.report.films import film_section
from meshpace.report.model import Report, Section
from meshpace.report.page import render
from meshpace.report.panels import require_matplotlib
from meshpace.report.picture import picture
from meshpace.report.still import still
from meshpace.study.decide import decide
from meshpace.study.executors import workers
from meshpace.study.model import Effort, Study
from meshpace.study.outcome import Outcome, by_name, load
from meshpace.study.record import running
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store
from meshpace.study.verdicts import judge_all

_MAIN = "TCP-GAP's goodput against NewReno's, one flow over a chain"


class OutputError(MendableError):
    """A file of that kind cannot be written."""


def demo(
    output: Path, seeds: int, threads: int | None, drawing: Path | None = None, film: Path | None = None
) -> None:  # fmt: skip
    """Runs everything, prints the tables and the verdicts, writes the report, and its chart to ``drawing``.

    A moment of the film goes to ``film``, and the film to a page of the same name.

    Raises:
        OutputError: ``drawing`` or ``film`` is no SVG.
        MissingPackageError: what draws ``drawing`` is not installed.
        OSError: a file cannot be made; said before anything is run.
    """
    for option, path in (("--picture", drawing), ("--film", film)):
        if path is not None and path.suffix != ".svg":
            raise OutputError(f"{option} {path}: found {path.suffix!r}; allowed: .svg")
    if drawing is not None:
        require_matplotlib("the main chart as SVG")
    try_out(output, drawing, film)
    show(studies(seeds), output, seeds, threads, drawing=drawing)
    if film is not None:
        write_film(film)


def write_film(still_at: Path) -> None:
    """A moment of the film as SVG, and beside it the page that plays it."""
    section = film_section()
    page = Report(
        title="A chain under NewReno and TCP-GAP", lead="", facts=(("made by", f"meshpace demo --film {still_at}"),),
        claims=(), sections=(section,), notes=(),
    )  # fmt: skip
    with replacing(still_at) as draft:
        draft.write_text(still(page.title, section.films), encoding="utf-8")
    with replacing(still_at.with_suffix(".html")) as draft:
        draft.write_text(render(page), encoding="utf-8")


def show(
    chosen: Sequence[Study],
    output: Path,
    seeds: int,
    threads: int | None,
    most_seeds: int = MOST_SEEDS,
    drawing: Path | None = None,
) -> None:
    """The demo of these studies; headlines get so many seeds at most."""
    began = time.monotonic()
    wanted = tasks(chosen, Effort.QUICK)
    with (
        tempfile.TemporaryDirectory(prefix="meshpace-demo-") as folder,
        workers("threads", threads) as hands,
        Progress("demo", len(wanted)) as progress,
    ):
        store = Store(Path(folder))
        make(wanted, store, hands, progress)
        outcomes = load(store, chosen, Effort.QUICK)
        decide(by_name(outcomes), HEADLINES, store, hands, most=most_seeds)
    wall = time.monotonic() - began
    by_study = judge_all(by_name(outcomes), CLAIMS)
    main = gain_section(by_name(outcomes))
    sections = (main, chain_section(by_name(outcomes), by_study), parallel_section(by_name(outcomes), by_study))
    with replacing(output) as draft:
        draft.write_text(render(_report(outcomes, seeds, wall, (film_section(), *sections))), encoding="utf-8")
    if drawing is not None:
        with replacing(drawing) as draft:
            made = {"made by": f"meshpace demo --seeds {seeds} --picture {drawing}", "engine": str(running())}
            draft.write_text(picture(_MAIN, main.views[0].charts, made), encoding="utf-8")
    terminal = console()
    for section in sections:
        _print_tables(terminal, section)
    print_verdicts(terminal, by_study, CONDITIONS)
    terminal.print(f"Report: {output}", highlight=False)


def _report(outcomes: Sequence[Outcome], seeds: int, wall: float, sections: tuple[Section, ...]) -> Report:
    runs = [record.run() for outcome in outcomes for record in outcome.all_records()]
    simulated = sum(run["simulated_s"] for run in runs)
    return Report(
        title="NewReno against adaptive pacing",
        lead="TCP over an 802.11 mesh with a gateway to the Internet: plain NewReno, TCP-AP (the sender spaces its "
        "packets) and TCP-GAP (sender and gateway do). Every number comes from this engine; every run can be repeated.",
        facts=(
            ("engine", str(running())),
            ("runs", f"{len(runs):,}"),
            ("seeds a point", str(seeds)),
            ("simulated", f"{simulated / 3600:,.1f} hours"),
            ("wall time", f"{wall:,.0f} s"),
            ("made by", f"meshpace demo --seeds {seeds}"),
        ),
        claims=(),
        sections=sections,
        interactive=embedded.has_plotly(),
        notes=(
            "A verdict needs a 95 % confidence interval (Student's t, differences paired by seed) that leaves no "
            'doubt. "Up to x %" is judged on both sides, at a point chosen on the odd seeds and estimated on all '
            "others, at least eight, which are added there, more where those do not decide: ten points more than x are "
            "beyond it, ten less short of it. Where the intervals allow both, a claim is undecided: more seeds are "
            "needed, and nothing is refuted. That a claim holds at some of several points only is judged with "
            "intervals corrected for their number (Bonferroni). × is ours over the paper's number.",
            "Calm is no paper's: a sender that holds a rate by delay alone, with receivers that acknowledge thinly "
            "(docs/law.md). It stands beside them for what else could be done.",
            "TCP-AP was made for paths without a wired part: it takes the whole round-trip time, 240 ms of it wired "
            "here, for wireless, and so paces far too slowly. It is shown for what the gateway adds, not as a fair "
            "contest.",
            "Delay runs from the first hand-over to the network layer until the first arrival at the receiver: the "
            "wait in the sender's own pacing queue is outside, that in the gateway's is inside.",
            "Charts by plotly.js (MIT licence), which this page carries; nothing is fetched."
            if embedded.has_plotly()
            else "Charts that answer to the mouse need plotly: pip install 'meshpace[report]'.",
        ),
    )


def _print_tables(terminal: Console, section: Section) -> None:
    for table in section.tables:
        grid = Grid(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
        for index, name in enumerate(table.head):
            grid.add_column(name, justify="left" if index < table.keys else "right")
        for row in table.rows:
            grid.add_row(*row)
        terminal.print(grid)
