"""Scenarios at random, made of the JSON Schema: every key may have any value that it is allowed, its ends above all.

What the checker blames is taken out again until it has nothing to say. So each one can be run, and all rules that the
schema does not know are asked in passing.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Sequence
from typing import Any

from meshpace import _engine

Spec = dict[str, Any]
SCHEMA: Spec = json.loads(_engine.schema())["properties"]
SCHEMES: list[str] = [scheme["name"] for scheme in json.loads(_engine.schemes())]
PARAMETERS: Spec = SCHEMA["scheme"]["additionalProperties"]["properties"]

APPS = {
    "ftp": ("segment", "window"),
    "cbr": ("udp_header",),
    "echo": ("udp_header",),
    "http": ("segment", "window", "file_mean", "file_shape", "pause_mean", "connection_per_file", "file_clock"),
    "self-similar": ("udp_header", "file_mean", "file_shape", "pause_mean"),
    "transfer": ("bytes", "segment", "window"),
}
BIG = {"nodes", "rows", "cols", "hops", "hops_short", "mobile", "wired_hosts", "wired_hops"}
"""What would make a network of thousands: chosen here, not drawn."""

Job = tuple[str, bytes, list[str], str | None, int]


def job(seed: int) -> Job:
    """A scenario that can be run, as the engine takes it."""
    rng = random.Random(seed)
    made = _scenario(rng)
    for _ in range(400):
        found: Job = ("random.toml", _toml(made).encode(), [], None, seed)
        complaints = _engine.complaints((found, []))
        if not complaints:
            return found
        for complaint in complaints:
            blamed = re.fullmatch(r"random\.toml(?::\d+)?: ([^:]+): found (.+); allowed: (.+)", complaint)
            assert blamed, complaint
            if not _mend(rng, made, blamed[1], blamed[2], blamed[3]):
                made = _scenario(rng)  # on to another one
                break
    raise AssertionError(f"seed {seed} comes to no scenario: {complaints}")


def _scenario(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(SCHEMA["topology"]["properties"]["kind"]["enum"])
    hops, rows = rng.randint(1, 6), rng.randint(1, 4)
    shape: dict[str, Any] = {"kind": kind, "wired": rng.random() < 0.5}
    ends, nodes = ["A1", "A2"], []
    if kind in {"chain", "strip", "cross", "parallel-chains", "asymmetric-chains"}:
        shape["hops"] = hops
    if kind == "strip":
        shape |= {"rows": rows, "gap": 25}
        ends = [f"f{row}n{node}" for row in range(1, rows + 1) for node in (0, hops)]
    elif kind == "chain":
        ends = [f"n{node}" for node in range(hops + 1)]
    elif kind in {"grid", "mesh-16"}:
        shape |= {"rows": rows, "cols": 3} if kind == "grid" else {}
        ends = [f"g{row}_{column}" for row in range(rows) for column in range(3)]
    elif kind == "random":
        shape |= {"nodes": rng.choice((2, 5, 15)), "width": 500, "height": rng.choice((1, 300)), "min_hops": 1}
        ends = ["n0", "n1", "random", "random"]
    elif kind == "explicit":
        ends = [f"n{node}" for node in range(hops + 1)]
        nodes = [{"id": end, "x": 200 * x, "y": rng.choice((0, 0, 300))} for x, end in enumerate(ends)]
    keys = [key for key in SCHEMA["topology"]["properties"] if key not in {*BIG, *shape}]
    shape |= _drawn(rng, SCHEMA["topology"], keys, 0.07)
    radio = [key for key in SCHEMA["radio"]["properties"] if key != "link_rates"]
    made: dict[str, Any] = {
        "measure": {"duration": rng.choice((0.3, 1.0)), "warmup": rng.choice((0, 0.1))},
        "topology": shape,
        "radio": _drawn(rng, SCHEMA["radio"], radio, 0.12),
        "routing": _drawn(rng, SCHEMA["routing"], SCHEMA["routing"]["properties"], 0.4),
        "defaults": {"scheme": rng.choice(SCHEMES), "start_jitter": 0.1},
        "flow": [_flow(rng, [*ends, "B"]) for _ in range(rng.randint(1, 4))],
    }  # fmt: skip
    if nodes:
        made["node"] = nodes
        joined = [{"from": a, "to": b} for a, b in itertools.pairwise(ends)]
        lossy = [pair | _drawn(rng, SCHEMA["radio_link"]["items"], ("loss", "burst"), 0.8) for pair in joined]
        made["radio_link"] = lossy if rng.random() < 0.4 else []
    if rng.random() < 0.15:
        keys = [key for key in SCHEMA["mobility"]["properties"] if key != "nodes"]
        made["mobility"] = {**_drawn(rng, SCHEMA["mobility"], keys, 0.4), "model": "random-waypoint"}
    if rng.random() < 0.2:
        made["measure"] = {"packets": rng.randint(2, 300), "batches": rng.randint(2, 11), "limit": 1}
    made["measure"] |= _drawn(rng, SCHEMA["measure"], ("windows", "hop_delays", "queues"), 0.3)
    scheme = made["defaults"]["scheme"]
    made["scheme"] = {scheme: _drawn(rng, {"properties": PARAMETERS}, PARAMETERS, 0.08)}
    return made


def _flow(rng: random.Random, ends: Sequence[str]) -> dict[str, Any]:
    app = rng.choice(sorted(APPS))
    flow = {"from": rng.choice(ends), "to": rng.choice(ends), "app": app}
    flow |= _drawn(rng, SCHEMA["flow"]["items"], APPS[app], 0.3)
    if app in {"cbr", "echo", "self-similar"}:
        flow["packet"] = rng.choice((100, 1000, 2276))
        flow |= {"interval": rng.choice((0.001, 0.2))} if app == "echo" else {"rate": rng.choice((1000, 1e5, 1e7))}
    if app == "transfer":
        flow.setdefault("bytes", 100_000)
    elif rng.random() < 0.3:
        flow["start" if app == "http" else "on"] = 0.2 if app == "http" else [[0, 0.2], [0.4, 0.8]]
    if rng.random() < 0.2:
        flow["scheme"] = rng.choice(SCHEMES)
    return flow


def _drawn(rng: random.Random, table: Spec, keys: Sequence[str] | Spec, share: float) -> dict[str, Any]:
    return {key: _value(rng, table["properties"][key]) for key in keys if rng.random() < share}


def _value(rng: random.Random, spec: Spec) -> Any:
    if "anyOf" in spec:  # numbers with units as text are numbers, too
        spec = rng.choice([one for one in spec["anyOf"] if "pattern" not in one])
    if "enum" in spec:
        return rng.choice(spec["enum"])
    match spec["type"]:
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [_value(rng, spec["items"]) for _ in range(max(spec.get("minItems", 0), 1))]
        case "string":
            return rng.choice(("centre", "random", "n0"))
    whole = spec["type"] == "integer"
    least = spec.get("minimum", spec.get("exclusiveMinimum", -1e6))
    most = spec.get("maximum", 1e6)
    if "exclusiveMinimum" in spec:
        least = math.nextafter(least, math.inf)
    between = math.exp(rng.uniform(math.log(max(least, 1e-9)), math.log(max(most, 1e-9))))
    number = rng.choice((least, most, between, between, between))
    return min(max(int(number), least), most) if whole else min(max(float(number), least), most)


def _mend(rng: random.Random, made: dict[str, Any], key: str, found: str, allowed: str) -> bool:
    """Takes out what is blamed, or puts something allowed in its place; false if nothing can be done here."""
    if "unknown node" in found and key.startswith("flow["):
        names = [name for name in allowed.removeprefix("one of ").split(", ") if " " not in name and name != "..."]
        table, field = made["flow"][int(key[5 : key.index("]")])], key.rpartition(".")[2]
        table[field] = rng.choice(names)
        return True
    if "cannot reach" in found or key == "radio.ack_timeout":
        made["topology"]["connected"] = False
        return True
    if key == "mesh.scheme" and "mesh" not in made:
        made["mesh"] = {"scheme": made["defaults"]["scheme"]}
        return True
    if rates := re.findall(r"[\d.]+Mbps", allowed):
        made["radio"][key.rpartition(".")[2]] = rng.choice(rates)
        return True
    if alone := re.match(r"(\w+) without ", found):
        return made["radio"].pop(alone[1], None) is not None
    where: Any = made
    *above, last = [int(name) if name.isdigit() else name for name in re.findall(r"[^.\[\]]+", key)]
    if above and above[0] == "scheme":
        *above, last = key.split(".")
    for name in above:
        where = where[name] if isinstance(where, list) or name in where else {}
    if isinstance(where, list):
        return False
    return last not in {"kind", "topology", "node", "flow"} and where.pop(last, None) is not None


def _toml(made: dict[str, Any]) -> str:
    def shown(value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(shown, value))}]"
        return repr(value) if isinstance(value, float) else json.dumps(value)

    lines = []
    for name, table in made.items():
        tables = {f"[{name}]": table}.items() if isinstance(table, dict) else [(f"[[{name}]]", row) for row in table]
        if name == "scheme":
            tables = {f"[scheme.{inner}]": row for inner, row in table.items()}.items()
        for heading, row in tables:
            lines += [heading, *(f"{key} = {shown(value)}" for key, value in row.items())]
    return "\n".join([*lines, ""])
