"""``meshpace run`` as a command, in a file of its own: what it loads is what a run waits for."""

from __future__ import annotations

from meshpace.bounds import MAX_SEED, MAX_SEEDS
from meshpace.cli.arguments import Json, Scheme, Settings, Threads, one_scheme_or_formula
from meshpace.cli.declared import Annotated, Argument, Option, Path
from meshpace.cli.failure import reports_failure


@reports_failure
def run(
    scenario: Annotated[str, Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    scheme: Scheme = None,
    seed: Annotated[int | None, Option(min=0, max=MAX_SEED, help="Seed of the one run; 1 by default.")] = None,
    seeds: Annotated[int | None, Option(min=1, max=MAX_SEEDS, help="Run the seeds 1 to this.")] = None,
    settings: Settings = None,
    json: Json = False,
    pcap: Annotated[Path | None, Option(help="Write a pcapng capture with radiotap headers.")] = None,
    pcap_node: Annotated[
        list[str] | None, Option(metavar="A,B", help="Of the capture: frames that these nodes send or are meant for.")
    ] = None,
    pcap_flow: Annotated[
        list[str] | None, Option(metavar="A,B", help="Of the capture: frames that carry packets of these flows.")
    ] = None,
    trace: Annotated[Path | None, Option(help="Write the time series as Parquet.")] = None,
    threads: Threads = None,
    why: Annotated[bool, Option("--why", help="Tell what each flow lost, where, and what held it back.")] = False,
    film: Annotated[Path | None, Option(help="Write a film of the air: one HTML file.")] = None,
    report: Annotated[Path | None, Option(help="Write flows, losses, network and film: one HTML file.")] = None,
) -> None:
    """Simulate a scenario."""
    from meshpace.cli.simulate import Captured, names_of, simulate

    chosen = one_scheme_or_formula(scheme, "run")
    captured = Captured(pcap, names_of("--pcap-node", pcap_node), names_of("--pcap-flow", pcap_flow))
    simulate(scenario, chosen, seed, seeds, settings, json, captured, trace, threads, why, film, report)
