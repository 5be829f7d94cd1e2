"""``meshpace study``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from meshpace.cli.arguments import Json, Threads, seconds_of
from meshpace.cli.declared import Argument, Group, Option
from meshpace.cli.failure import InputError, reports_failure

Store = Annotated[Path, Option(metavar="DIR", help="Where results are kept.")]
Profile = Annotated[
    str | None, Option(metavar="NAME", help="Make them once more at other readings of the papers: as-printed.")
]


@reports_failure
def list_studies(json: Annotated[bool, Option("--json", help="As one JSON object.")] = False) -> None:
    """List the studies."""
    from meshpace.study.listing import print_studies

    print_studies(json)


@reports_failure
def run(
    names: Annotated[
        list[str], Argument(metavar="NAME", help="Studies, beginnings of names (gap), files (mine.toml).")
    ],
    quick: Annotated[bool, Option("--quick", help="Few seeds, short runs; the default.")] = False,
    full: Annotated[bool, Option("--full", help="As long as in the paper.")] = False,
    store: Store = Path("store"),
    threads: Threads = None,
    executor: Annotated[str, Option(metavar="KIND", help="threads, processes or dask://HOST:PORT.")] = "threads",
    output: Annotated[Path | None, Option("--output", "-o", help="Write the verdicts as Markdown, too.")] = None,
    decide: Annotated[bool, Option("--decide", help="Add seeds where a verdict is undecided.")] = False,
    budget: Annotated[str | None, Option(metavar="TIME", help="For --decide: 90s, 20min, 2h; 1h by default.")] = None,
    profile: Profile = None,
    json: Json = False,
) -> None:
    """Make the runs that the store does not hold yet, write the tables, print the verdicts."""
    if quick and full:
        raise InputError("--quick and --full exclude each other")
    if budget is not None and not decide:
        raise InputError(f"--budget: found {budget} without --decide; allowed: both, or neither")
    budget_s = seconds_of(budget) if decide else None
    from meshpace.study.command import run_studies
    from meshpace.study.model import Effort

    effort = Effort.FULL if full else Effort.QUICK
    run_studies(names, effort, store, threads, executor, output, budget_s=budget_s, profile=profile, as_json=json)


@reports_failure
def decide(
    names: Annotated[
        list[str], Argument(metavar="NAME", help="Studies, beginnings of names (gap), files (mine.toml).")
    ],
    budget: Annotated[str | None, Option(metavar="TIME", help="For more seeds: 90s, 20min, 2h; 1h by default.")] = None,
    store: Store = Path("store"),
    threads: Threads = None,
    executor: Annotated[str, Option(metavar="KIND", help="threads, processes or dask://HOST:PORT.")] = "threads",
    profile: Profile = None,
    json: Json = False,
) -> None:
    """Go on adding seeds where a verdict is undecided, to what the store holds, short runs or long."""
    budget_s = seconds_of(budget)
    from meshpace.study.command import decide_held

    decide_held(names, store, budget_s, threads, executor, profile=profile, as_json=json)


@reports_failure
def table(
    names: Annotated[
        list[str], Argument(metavar="NAME", help="Studies, beginnings of names (gap), files (mine.toml).")
    ],
    full: Annotated[bool, Option("--full", help="Of the plan as long as the paper's; the quick one's if not.")] = False,
    store: Store = Path("store"),
    profile: Profile = None,
) -> None:
    """Print the quantities of studies that the store holds, as Markdown tables."""
    from meshpace.study.model import Effort
    from meshpace.study.table import print_tables

    print_tables(names, Effort.FULL if full else Effort.QUICK, store, profile)


@reports_failure
def claims(
    names: Annotated[
        list[str], Argument(metavar="NAME", help="Studies, beginnings of names (gap), files (mine.toml).")
    ],
    write: Annotated[
        Path | None, Option(metavar="DIR", help="Put their papers' tables at the end of the catalogues in this folder.")
    ] = None,
    profile: Profile = None,
) -> None:
    """Print what is printed and what is asked, claim by claim, as a Markdown table."""
    from meshpace.study.stated import print_claims, write_claims

    if write is not None:
        write_claims(names, write)
    else:
        print_claims(names, profile)


@reports_failure
def screen(
    names: Annotated[
        list[str], Argument(metavar="NAME", help="Screens, beginnings of names (we), folders of papers, all.")
    ],
    quick: Annotated[bool, Option("--quick", help="Few seeds, short runs; the default.")] = False,
    full: Annotated[bool, Option("--full", help="As long as in the paper.")] = False,
    store: Store = Path("store"),
    threads: Threads = None,
    executor: Annotated[str, Option(metavar="KIND", help="threads, processes or dask://HOST:PORT.")] = "threads",
    write: Annotated[
        Path | None, Option(metavar="DIR", help="Put the tables on the papers' pages in this folder.")
    ] = None,
) -> None:
    """Try a paper's open decisions together, and print what each does and what holds in no combination."""
    if quick and full:
        raise InputError("--quick and --full exclude each other")
    from meshpace.study.model import Effort
    from meshpace.study.screened import run_screens

    run_screens(names, Effort.FULL if full else Effort.QUICK, store, threads, executor, write)


@reports_failure
def reproduce(
    papers: Annotated[list[str], Argument(metavar="PAPER", help="gap, llap, throttle, byu, we, or all.")],
    quick: Annotated[bool, Option("--quick", help="Few seeds, short runs; the default.")] = False,
    full: Annotated[bool, Option("--full", help="As long as in the papers.")] = False,
    hours: Annotated[
        float | None, Option(metavar="H", help="Ends after so many hours; the same command goes on then.")
    ] = None,
    budget: Annotated[
        str | None, Option(metavar="TIME", help="For more seeds, of each paper: 90s, 20min, 2h; 1h by default.")
    ] = None,
    pages: Annotated[Path, Option(metavar="DIR", help="The folder of the papers' pages and their manifest.")] = Path(
        "docs/reproduction"
    ),
    store: Store = Path("store"),
    threads: Threads = None,
    executor: Annotated[str, Option(metavar="KIND", help="threads, processes or dask://HOST:PORT.")] = "threads",
) -> None:
    """Make the papers' pages, all from this engine: runs, seeds that decide, tables, the manifest."""
    if quick and full:
        raise InputError("--quick and --full exclude each other")
    if hours is not None and not 0 <= hours < float("inf"):
        raise InputError(f"--hours: found {hours}; allowed: a number from 0 on")
    budget_s = seconds_of(budget)
    from meshpace.study.model import Effort
    from meshpace.study.reproduce import Campaign
    from meshpace.study.reproduce import reproduce as make_pages

    effort = Effort.FULL if full else Effort.QUICK
    if not make_pages(papers, Campaign(effort, store, pages, hours, budget_s), threads, executor):
        raise SystemExit(1)


@reports_failure
def check_pages(
    pages: Annotated[Path, Option(metavar="DIR", help="The folder of the papers' pages and their manifest.")] = Path(
        "docs/reproduction"
    ),
    release: Annotated[bool, Option("--release", help="Fail also where a page is an older engine's.")] = False,
) -> None:
    """Hold the papers' pages against their manifest, and their engines against this one."""
    from meshpace.study.manifest import print_checked
    from meshpace.study.record import running

    if not print_checked(pages, running(), release=release):
        raise SystemExit(1)


GROUP = Group(
    "study",
    "Run the papers' experiments figure by figure and judge their claims.",
    {
        "list": list_studies,
        "run": run,
        "decide": decide,
        "table": table,
        "claims": claims,
        "screen": screen,
        "reproduce": reproduce,
        "pages": check_pages,
    },
)
