"""``meshpace advise`` as a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from meshpace.cli.arguments import Json, Schemes, Settings, Threads, seconds_of
from meshpace.cli.declared import Argument, Option
from meshpace.cli.failure import reports_failure
from meshpace.cli.sweeping import Budget, Executor, Kept, ReportFile, Seeds


@reports_failure
def advise(
    mesh: Annotated[
        list[Path],
        Argument(metavar="MESH", help="A scenario (.toml), or what import reads."),
    ],
    scheme: Schemes = None,
    baseline: Annotated[
        str, Option(metavar="S", help="The scheme that the others are compared with.")
    ] = "cubic-fq-codel",
    nodes: Annotated[str, Option(metavar="K|A,B", help="How many nodes stand for all, or their names.")] = "3",
    seeds: Seeds = 5,
    precision: Annotated[
        str, Option(metavar="N%", help="Add seeds until the mean change of goodput is known to ± N %.")
    ] = "3%",
    budget: Budget = None,
    settings: Settings = None,
    gateway: Annotated[str | None, Option(metavar="A,B", help="Which nodes are gateways, as for import.")] = None,
    standard: Annotated[str | None, Option(metavar="802.11...", help="Of the radio, as for import.")] = None,
    rate: Annotated[str | None, Option(help="Data rate of the radio, as for import.")] = None,
    routing: Annotated[str | None, Option(metavar="static|hops|aodv|babel", help="Routes, as for import.")] = None,
    store: Kept = Path("store"),
    threads: Threads = None,
    executor: Executor = "threads",
    report: ReportFile = None,
    json: Json = False,
) -> None:
    """Tell whether pacing would help a mesh: where, how much, at what cost, and what else would help."""
    from meshpace.advice.command import advise, nodes_of, parts, source
    from meshpace.advice.make import Question
    from meshpace.advice.where import DEPLOYABLE
    from meshpace.sweeps.model import schemes_of

    chosen = schemes_of(scheme)
    asked = tuple(name for name in chosen.names if name is not None) or DEPLOYABLE
    question = Question(
        source(mesh, gateway, standard, rate, routing), asked, baseline, nodes_of(nodes), seeds, parts(precision),
        seconds_of(budget), tuple(settings or ()), chosen.formulas,
    )  # fmt: skip
    advise(question, store, threads, executor, report, json)
