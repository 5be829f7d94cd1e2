"""``meshpace emulate``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

from meshpace.bounds import MAX_SEED
from meshpace.cli.arguments import Json, Scenario, Scheme, Settings
from meshpace.cli.declared import Argument, Group, Option
from meshpace.cli.failure import InputError, reports_failure

CHECK_FAILED = 1


Name = Annotated[str | None, Option(help="Which emulation; without it the only one that runs.")]


@reports_failure
def run(
    scenario: Scenario,
    duration: Annotated[
        str | None, Option(metavar="TIME", help="So long, all of it measured: measure.duration, and no warmup.")
    ] = None,
    host: Annotated[
        list[str] | None, Option(metavar="NODE", help="A real host beside those of [[emulate.host]].")
    ] = None,
    daemon: Annotated[
        str | None,
        Option(
            metavar="babeld|bird", help="This routing daemon at all mesh nodes that are no hosts; commands wait for it."
        ),
    ] = None,
    daemon_line: Annotated[
        list[str] | None, Option(metavar="LINE", help="A line that its configuration begins with at every node.")
    ] = None,
    save_routes: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write a scenario with the transfers, over the daemon's routes."),
    ] = None,
    dilate: Annotated[
        float, Option(min=1.0, max=1000.0, help="Each simulated second takes so many: for what cannot keep up.")
    ] = 1.0,
    scheme: Scheme = None,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed.")] = 1,
    settings: Settings = None,
    json: Json = False,
    pcap: Annotated[Path | None, Option(help="Write a pcapng capture of the air.")] = None,
    name: Annotated[str | None, Option(help="What it is called; by default as the scenario.")] = None,
    view: Annotated[bool, Option(help="Show it in a browser while it runs; standard error says where.")] = False,
    view_port: Annotated[
        int | None, Option(metavar="PORT", min=1, max=65535, help="The same on that port of 127.0.0.1.")
    ] = None,
) -> None:
    """Emulate a scenario. The word run may be left out."""
    from meshpace.cli.arguments import job, one_scheme
    from meshpace.emulation.daemons import DAEMONS
    from meshpace.emulation.session import Plan, emulate
    from meshpace.notes import tell

    if daemon is not None and daemon not in DAEMONS:
        raise InputError(f"--daemon: found {daemon!r}; allowed: {', '.join(DAEMONS)}")
    for option, given in (("--daemon-line", daemon_line), ("--save-routes", save_routes)):
        if given and daemon is None:
            raise InputError(f"{option}: found without --daemon; allowed: beside it")
    length = [] if duration is None else [f"measure.duration={duration}", "measure.warmup=0s"]
    one = job(scenario, [*length, *(settings or ())], one_scheme(scheme, "emulate"), seed)
    tell([one])
    plan = Plan(
        one,
        name=name,
        extra_hosts=tuple(host or ()),
        daemon=daemon,
        daemon_lines=tuple(daemon_line or ()),
        save_routes=save_routes,
        dilation=dilate,
        pcap=pcap,
        view=view or view_port is not None,
        view_port=view_port,
    )
    emulated = emulate(plan)
    _show(emulated.result, json)
    for complaint in emulated.complaints:
        print(complaint, file=sys.stderr)
    if emulated.complaints:
        raise SystemExit(CHECK_FAILED)


def _show(result: dict[str, Any], as_json: bool) -> None:
    """The result; its verdict stands in the JSON, and on standard error if it says more than that all is well."""
    lines = result["verdict"]
    if as_json:
        import json

        print(json.dumps(result))
        if result["lateness"]["valid"] is not True or len(lines) > 1:
            print("\n".join(lines), file=sys.stderr)
        return
    from meshpace.cli.emulated import print_emulation

    print_emulation(result)
    print("\n".join(lines))


@reports_failure
def execute(
    host: Annotated[str, Argument(metavar="HOST", help="The node that the host is.")],
    command: Annotated[list[str], Argument(metavar="-- COMMAND", help="What runs there.", rest=True)],
    name: Name = None,
) -> None:
    """Run a command on a host of a running emulation; its exit status is this one's."""
    from meshpace.emulation.session import execute as become

    # Behind an argument that ends the options, -- is a word like others.
    words = command[1:] if command[:1] == ["--"] else command
    if not words:
        raise InputError("emulate exec: nothing behind --; allowed: a command")
    become(host, words, name)


@reports_failure
def shell(host: Annotated[str, Argument(metavar="HOST", help="The node that the host is.")], name: Name = None) -> None:
    """A shell on a host of a running emulation."""
    from meshpace.emulation.session import execute as become

    become(host, [os.environ.get("SHELL", "/bin/sh")], name)


@reports_failure
def clean() -> None:
    """Remove what emulations that were killed have left: processes, network namespaces, files."""
    from meshpace.emulation.session import clean as remove

    removed, left = remove()
    for line in left:
        print(f"{line}: left alone")
    print(f"removed: {', '.join(removed)}" if removed else "nothing to remove")


@reports_failure
def routes(name: Name = None, json: Json = False) -> None:
    """Show the present routes of the nodes whose kernels forward."""
    from meshpace.emulation.session import routes as found

    rows = found(name)
    if json:
        import json as writes
        from dataclasses import asdict

        print(writes.dumps([asdict(row) for row in rows]))
        return
    from meshpace.cli.emulated import print_routes

    print_routes(rows)


GROUP = Group(
    "emulate",
    "Let real Linux hosts talk across a scenario's mesh in real time; as root.",
    {"run": run, "exec": execute, "shell": shell, "routes": routes, "clean": clean},
    default="run",
)
