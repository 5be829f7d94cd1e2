"""``meshpace import`` as a command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from meshpace.cli.declared import Argument, Option
from meshpace.cli.failure import InputError, reports_failure


@reports_failure
def import_mesh(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE", help="The output of another tool about a mesh; several files may belong together."),
    ],
    output: Annotated[Path, Option("--output", "-o", help="The scenario file to write.")] = Path("scenario.toml"),
    gateway: Annotated[
        str | None,
        Option(
            metavar="A,B",
            help="Which nodes are gateways; by default those that the file marks, or the node with most neighbours.",
        ),
    ] = None,
    standard: Annotated[
        str | None, Option(metavar="802.11...", help="Of the radio, where the file has none; 802.11b by default.")
    ] = None,
    rate: Annotated[
        str | None, Option(help="Data rate of the radio where the file tells none; by default the highest.")
    ] = None,
    routing: Annotated[
        str,
        Option(
            metavar="static|hops|aodv|babel",
            help="Routes that stay, by the daemon's metric (static) or by hops; or AODV (RFC 3561), or Babel.",
        ),
    ] = "static",
) -> None:
    """Make a scenario of a mesh: NetJSON, meshviewer, batadv-vis, OLSR, babeld, 802.11s, CSV."""
    from meshpace.engine import Job, complaints
    from meshpace.files import distinct, replacing
    from meshpace.meshes.read import read
    from meshpace.meshes.write import scenario

    distinct({"--output": output}, files)
    mesh = read(files)
    text = scenario(mesh, output.stem, gateway=gateway, standard=standard, rate=rate, routing=routing)
    found = complaints(Job(str(output), text.encode()))
    for message in found:
        for option in ("standard", "rate"):
            _, of_option, what = message.partition(f" radio.{option}: ")
            if of_option:
                raise InputError(f"--{option}: {what}")
    with replacing(output) as draft:
        draft.write_text(text, encoding="utf-8")
    told = f"{mesh.form}, {len(mesh.nodes)} nodes, {len(mesh.links)} links"
    print(f"{output}: {told}; its first lines say what was left out and what is assumed")
    for message in found:
        print(f"It cannot be run as it is: {message}", file=sys.stderr)
