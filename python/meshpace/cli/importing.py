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
        Argument(metavar="FILE", help="What another tool says of a mesh; those that belong together."),
    ],
    output: Annotated[Path, Option("--output", "-o", help="Where the scenario goes.")] = Path("scenario.toml"),
    gateway: Annotated[
        str | None, Option(help="Which node it is; the one that the file marks, or with most neighbours.")
    ] = None,
    rate: Annotated[str, Option(help="Data rate of the radio where the file tells none.")] = "11Mbps",
    routing: Annotated[
        str, Option(metavar="static|aodv", help="Shortest paths that stay, or AODV (RFC 3561).")
    ] = "static",
) -> None:
    """Make a scenario of a mesh: NetJSON, meshviewer, batadv-vis, OLSR, babeld, 802.11s, CSV."""
    from meshpace.engine import Job, complaints
    from meshpace.files import distinct, replacing
    from meshpace.meshes.read import read
    from meshpace.meshes.write import scenario

    distinct({"--output": output}, files)
    mesh = read(files)
    text = scenario(mesh, output.stem, gateway=gateway, rate=rate, routing=routing)
    found = complaints(Job(str(output), text.encode()))
    for message in found:
        _, of_rate, what = message.partition(" radio.rate: ")
        if of_rate:
            raise InputError(f"--rate: {what}")
    with replacing(output) as draft:
        draft.write_text(text, encoding="utf-8")
    print(f"{output}: {mesh.form}, {len(mesh.nodes)} nodes, {len(mesh.links)} links; assumptions stand at its top")
    for message in found:
        print(f"It cannot be run as it is: {message}", file=sys.stderr)
