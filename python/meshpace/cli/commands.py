"""Commands that have no file of their own. Each imports what it needs when called, so that it starts at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from meshpace.bounds import MAX_SEEDS
from meshpace.cli.arguments import Json, Scenario, Scheme, Settings, Threads, one_scheme
from meshpace.cli.declared import Argument, Option
from meshpace.cli.failure import reports_failure


@reports_failure
def schemes(json: Annotated[bool, Option("--json", help="With every parameter, as JSON.")] = False) -> None:
    """List the schemes: what each puts at sender, receiver, relay and gateway."""
    from meshpace.cli.lists import print_schemes

    print_schemes(json)


@reports_failure
def scenarios() -> None:
    """List the scenarios that come with the project."""
    from meshpace.cli.lists import print_scenarios

    print_scenarios()


@reports_failure
def schema() -> None:
    """Print the JSON Schema of the scenario file."""
    from meshpace import engine

    print(engine.schema())


@reports_failure
def demo(
    output: Annotated[Path, Option("--output", "-o", help="Where the report goes.")] = Path("report.html"),
    seeds: Annotated[int, Option(min=2, max=1000, help="Runs of each point, for its confidence interval.")] = 5,
    threads: Threads = None,
    picture: Annotated[Path | None, Option(help="Write the main chart as SVG, too.")] = None,
    film: Annotated[
        Path | None, Option(help="Write a moment of the film as SVG, and the film beside it (.html).")
    ] = None,
) -> None:
    """Run NewReno against TCP-AP and TCP-GAP on the papers' topologies; print a table, write a report."""
    from meshpace.demo.command import demo as run_demo

    run_demo(output, seeds, threads, picture, film)


@reports_failure
def crosscheck(
    scenario: Scenario,
    seeds: Annotated[int, Option(min=1, max=MAX_SEEDS, help="Run the seeds 1 to this in both.")] = 5,
    scheme: Scheme = None,
    settings: Settings = None,
    judge: Annotated[
        str, Option("--with", metavar="JUDGE", help="The other simulator: ns2 (ns-2.35) or ns3 (ns-3.37).")
    ] = "ns2",
    script: Annotated[Path | None, Option(help="Only write the other simulator's input of seed 1 here.")] = None,
    json: Json = False,
    threads: Threads = None,
) -> None:
    """Run a scenario here and in ns-2.35 or ns-3.37, and show both results side by side."""
    from meshpace.cli.judge import crosscheck as run_crosscheck

    run_crosscheck(scenario, judge, seeds, one_scheme(scheme, "crosscheck"), settings, script, json, threads)


@reports_failure
def validate(
    family: Annotated[list[str] | None, Option(help="Only this family; may be repeated.")] = None,
    seeds: Annotated[int | None, Option(min=1, max=1000, help="Runs a row; the reference's own number.")] = None,
    quick: Annotated[bool, Option("--quick", help="Two seeds a row, every other hop count.")] = False,
    output: Annotated[Path | None, Option("--output", "-o", help="Where the table goes.")] = None,
    threads: Threads = None,
) -> None:
    """Compare the engine with ns-2.35 and ns-3.37; exit status 1 if a row misses its tolerance unexplained."""
    from meshpace.validation.command import validate as run_validation

    run_validation(family, seeds, quick, output, threads)


@reports_failure
def winf(
    capture: Annotated[
        Path, Argument(metavar="CAPTURE", help="pcap or pcapng, in monitor mode, or gzip of it; - is standard input.")
    ],
    window: Annotated[
        float, Option(min=0.001, max=1e6, help="Seconds over which busy time counts, and between rows.")
    ] = 1.0,
    min_bytes: Annotated[int, Option(min=0, max=65_535, help="Packets shorter than this tell no capacity.")] = 500,
    json: Json = False,
    series: Annotated[
        bool, Option("--series", help="Print what the links were at the end of each window, too.")
    ] = False,
    parquet: Annotated[Path | None, Option(help="Write capacity and available bandwidth over time here.")] = None,
    pdf: Annotated[Path | None, Option(help="Plot them here.")] = None,
) -> None:
    """Measure the links in a capture by rt-Winf: how much each can carry, and how much of that is free."""
    from meshpace.cli.winf import Outputs
    from meshpace.cli.winf import winf as measure

    measure(capture, window, min_bytes, Outputs(json, series, parquet, pdf))


@reports_failure
def calibrate(
    what: Annotated[str, Argument(metavar="throttle", help="The part that goes by the tables.")],
    hops: Annotated[str, Option(help="Path lengths: numbers and ranges.")] = "1-9",
    segments: Annotated[str, Option(help="Segments, bytes.")] = "200,400,600,800,1000",
    flows: Annotated[str, Option(help="Flows side by side.")] = "2-9",
    seeds: Annotated[int, Option(min=1, max=MAX_SEEDS, help="Runs of each critical load.")] = 30,
    alpha_seeds: Annotated[int, Option(min=1, max=1000, help="Runs of each factor and round.")] = 5,
    rounds: Annotated[int, Option(min=1, max=100, help="Rounds at the most.")] = 10,
    duration: Annotated[int, Option(min=13, max=100_000, help="Seconds of a run, 12 of them warm-up.")] = 132,
    directory: Annotated[Path, Option("--store", metavar="DIR", help="Where runs are kept.")] = Path("store"),
    output: Annotated[Path, Option("--output", "-o", metavar="DIR", help="Where the tables go.")] = Path("calibration"),
    threads: Threads = None,
) -> None:
    """Make the tables of critical loads and correction factors that ingress throttling goes by."""
    from meshpace.cli.calibration import Plan, calibrate_throttle
    from meshpace.cli.failure import InputError

    if what != "throttle":
        raise InputError(f"calibrate: found {what!r}; allowed: throttle")
    plan = Plan(hops, segments, flows, seeds, alpha_seeds, rounds, duration)
    calibrate_throttle(plan, directory, output, threads)


@reports_failure
def report(
    store: Annotated[Path, Option(metavar="DIR", help="Where `meshpace study run` keeps results.")] = Path("store"),
    output: Annotated[Path, Option("--output", "-o", help="Where the report goes.")] = Path("report.html"),
    figures: Annotated[Path | None, Option(metavar="DIR", help="Write every figure as PDF here too.")] = None,
    engine: Annotated[
        str | None,
        Option(metavar="FINGERPRINT", help="Show what this engine made; `meshpace store` lists them."),
    ] = None,
    verdicts: Annotated[
        Path | None, Option(metavar="DIR", help="Write the verdicts on each paper into DIR/<paper>.md, too.")
    ] = None,
    study: Annotated[
        list[str] | None, Option(metavar="NAME", help="Only this study, or a file with one; may be repeated.")
    ] = None,
    profile: Annotated[
        str | None, Option(metavar="NAME", help="With the same again at other readings of the papers: as-printed.")
    ] = None,
) -> None:
    """Write what the store holds as one HTML file: verdicts, figures, an animation, the data."""
    from meshpace.report.command import report as write_report

    write_report(store, output, figures, engine, verdicts, study or (), profile)


@reports_failure
def store(
    directory: Annotated[
        Path, Option("--store", metavar="DIR", help="Where `meshpace study run` keeps results.")
    ] = Path("store"),
    json: Json = False,
) -> None:
    """List the engines that made what a store holds."""
    from meshpace.study.engines import print_store

    print_store(directory, json)
