"""A scenario with the routes that a daemon found: what was emulated over them, simulated."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from meshpace import engine
from meshpace.emulation.record import EmulationError
from meshpace.emulation.routes import Route, ways
from meshpace.engine import Job
from meshpace.files import replacing
from meshpace.keyed import bare, inline

_PACKET = {"segment": 1460, "window": 4000, "start_jitter": 0}
"""Packets of 1,500 bytes, and windows that do not bind (docs/emulation.md, twins)."""


def save(path: Path, job: Job, result: dict[str, Any], routes: Iterable[Route]) -> None:
    """Writes the scenario of an emulation with its transfers as flows whose packets take the routes.

    Transfers are those that iperf3 measured, and the flows of the scenario itself. Each takes the way of its data, and
    what comes back its own one, as ``flow.path`` and ``flow.path_back`` have it.

    Raises:
        EmulationError: there is none, or the routes do not lead from one end to the other.
        OSError: the file cannot be written.
    """
    scenario = _changed(tomllib.loads(job.text.decode("utf-8")), job.overrides)
    scenario.pop("emulate", None)
    mesh = {node["id"] for node in engine.resolve(job)["mesh"]}
    found = ways(list(routes))
    flows = [*scenario.pop("flow", []), *map(_transfer, (row for row in result["flows"] if row["app"] == "iperf3"))]
    if not flows:
        raise EmulationError(
            '--save-routes: found no transfer; allowed: an iperf3 with collect = "iperf3", or a [[flow]]'
        )
    for flow in flows:
        there, back = (
            [node for node in _way(found, *ends) if node in mesh]
            for ends in ((flow["from"], flow["to"]), (flow["to"], flow["from"]))
        )
        flow["path"] = there
        if back != there[::-1]:
            flow["path_back"] = back
    scenario["routing"] = {"protocol": "static"}
    for scheme in {flow["scheme"] for flow in flows if flow.get("scheme", "").startswith("linux-")}:
        # The kernel's small queues never fill behind a TAP device, which takes a packet out of its sender's count.
        scenario.setdefault("scheme", {}).setdefault(scheme, {}).setdefault("small_queue", False)
    text = "".join(_table(key, value) for key, value in sorted(scenario.items(), key=_goes_last)) + "".join(
        f"\n[[flow]]\n{_lines(flow)}" for flow in flows
    )
    engine.resolve(Job(str(path), text.encode()))
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def _way(found: Mapping[tuple[str, str], list[str] | None], start: str, goal: str) -> list[str]:
    way = found.get((start, goal))
    if way is None:
        raise EmulationError(f"--save-routes: found no way from {start} to {goal} by the routes of then")
    return way


def _transfer(row: dict[str, Any]) -> dict[str, Any]:
    return {"from": row["from"], "to": row["to"], "scheme": row["scheme"].replace("kernel-", "linux-"), **_PACKET}


def _changed(scenario: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """The scenario with what was set differently in it (``key.path=value``; a value that is no TOML is a text)."""
    for assignment in overrides:
        names, _, given = assignment.partition("=")
        *within, last = names.split(".")
        at: Any = scenario
        for name in within:
            at = at[int(name)] if isinstance(at, list) else at.setdefault(name, {})
        try:
            value = tomllib.loads(f"value = {given}")["value"]
        except tomllib.TOMLDecodeError:
            value = given
        at[int(last) if isinstance(at, list) else last] = value
    return scenario


def _table(key: str, value: Any) -> str:
    """A key of the scenario's first level."""
    if isinstance(value, dict):
        return f"\n[{bare(key)}]\n{_lines(value)}"
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "".join(f"\n[[{bare(key)}]]\n{_lines(item)}" for item in value)
    return f"{bare(key)} = {inline(value)}\n"


def _goes_last(item: tuple[str, Any]) -> bool:
    """What stands behind a table's name is in that table."""
    return isinstance(item[1], dict | list)


def _lines(table: dict[str, Any]) -> str:
    return "".join(f"{bare(key)} = {inline(value)}\n" for key, value in table.items())
