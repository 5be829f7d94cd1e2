"""``meshpace schemes`` and ``meshpace scenarios``."""

from __future__ import annotations

import json
import tomllib

from rich import box
from rich.table import Table

from meshpace import engine
from meshpace.cli.terminal import console
from meshpace.project import scenario_directory, shown

_PARTS = (
    ("sender", "congestion"),
    ("its profile", "tcp_profile"),
    ("its pacing", "pacing"),
    ("receiver's ACKs", "ack_policy"),
    ("relays", "relay"),
    ("gateway", "gateway"),
)


def print_schemes(as_json: bool) -> None:
    """One row a scheme with its parts by place; as JSON with every parameter."""
    rows = engine.schemes()
    if as_json:
        print(json.dumps({"schema": 1, "schemes": rows}))
        return
    table = Table("scheme", *(title for title, _ in _PARTS), "what it is", box=box.SIMPLE_HEAD)
    for row in rows:
        parts = (str(row["parameters"].get(key, "")) for _, key in _PARTS)
        table.add_row(row["name"], *parts, row["summary"])
    console().print(table)


def print_scenarios() -> None:
    """One row a file: path, description, source."""
    table = Table("file", "what it shows", "source", box=box.SIMPLE_HEAD)
    for path in sorted(scenario_directory().glob("*.toml")):
        head = tomllib.loads(path.read_text()).get("scenario", {})
        table.add_row(shown(path), head.get("description", ""), head.get("source", ""))
    console().print(table)
