"""Holds what the program is built from against deny.toml: licences, bans, versions at once, sources, oldest compilers.

`cargo metadata` tells the graph of Cargo.lock for Linux. The keys of deny.toml are cargo-deny's; any other than those
read here is an error, so that nobody relies on one that is not checked.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "Cargo.toml"
PLATFORM = "x86_64-unknown-linux-gnu"
KEYS = {
    "licenses": {"allow"},
    "bans": {"multiple-versions", "skip", "deny"},
    "sources": {"unknown-registry", "unknown-git", "allow-registry"},
}


def allowed_licence(expression: str, allow: set[str]) -> bool:
    """Whether an SPDX expression (or the older `A/B`) can be met with these licences: OR is a choice, AND is not."""
    words = re.findall(r"[()]|[^\s()/]+|/", expression)
    tokens: list[str] = []
    for word in words:
        if tokens[-2:-1] and tokens[-1] == "WITH":
            tokens[-2:] = [f"{tokens[-2]} WITH {word}"]
        else:
            tokens.append("OR" if word == "/" else word)

    def either() -> bool:
        met = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = both() or met
        return met

    def both() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        if not tokens:
            raise ValueError(f"{expression!r} ends too soon")
        token = tokens.pop(0)
        if token != "(":
            return token in allow
        met = either()
        if not tokens or tokens.pop(0) != ")":
            raise ValueError(f"{expression!r} lacks a parenthesis")
        return met

    met = either()
    if tokens:
        raise ValueError(f"{expression!r}: {tokens[0]!r} is unexpected")
    return met


class Graph:
    """The packages that `cargo metadata` found, and who uses whom."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        by_id = {package["id"]: package for package in metadata["packages"]}
        nodes = metadata["resolve"]["nodes"]
        self.packages: list[dict[str, Any]] = [by_id[node["id"]] for node in nodes]
        self.uses: dict[str, list[dict[str, Any]]] = {
            node["id"]: [by_id[dep["pkg"]] for dep in node["deps"]] for node in nodes
        }
        # What users of a package compile: not what its tests need.
        self.builds_on: dict[str, list[str]] = {
            node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
            for node in nodes
        }
        self.by_id = by_id
        self.members = [by_id[member] for member in metadata["workspace_members"] if member in self.uses]

    def users(self, name: str) -> set[str]:
        """The packages that depend on one of that name."""
        return {
            self.by_id[user]["name"]
            for user, used in self.uses.items()
            if any(package["name"] == name for package in used)
        }

    def built_from(self, package: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Everything that is compiled when somebody uses it."""
        seen: dict[str, None] = {}
        waiting = [package["id"]]
        while waiting:
            for used in self.builds_on[waiting.pop()]:
                if used not in seen:
                    seen[used] = None
                    waiting.append(used)
        return [self.by_id[used] for used in seen]


def version(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2]) if text else (0, 0)


def problems(graph: Graph, rules: Mapping[str, Any]) -> Iterator[str]:
    """What is not as deny.toml wants it, a line each."""
    for section, keys in rules.items():
        for key in keys if section in KEYS else [None]:
            if key is None or key not in KEYS[section]:
                yield (
                    f"deny.toml: {section}.{key}: not read; allowed: {KEYS}"
                    if key
                    else f"deny.toml: [{section}]: not read"
                )
                return
    yield from _packages(graph, rules)
    yield from _versions(graph, rules["bans"])
    yield from _users(graph, rules["bans"])
    yield from _compilers(graph)


def _packages(graph: Graph, rules: Mapping[str, Any]) -> Iterator[str]:
    allow = set(rules["licenses"]["allow"])
    registries = {f"registry+{url}" for url in rules["sources"]["allow-registry"]}
    for package in graph.packages:
        name = f"{package['name']} {package['version']}"
        if package["license"] is None:
            yield f"{name}: it names no licence"
        elif not allowed_licence(package["license"], allow):
            yield f"{name}: its licence is {package['license']}; allowed: {', '.join(sorted(allow))}"
        if package["source"] is not None and package["source"] not in registries:
            yield f"{name}: it comes from {package['source']}; allowed: {', '.join(sorted(registries))}"


def _versions(graph: Graph, bans: Mapping[str, Any]) -> Iterator[str]:
    skipped = {row["crate"] for row in bans["skip"]}
    needed = set()
    found = defaultdict(list)
    for package in graph.packages:
        found[package["name"]].append(package["version"])
    for name, versions in found.items():
        if len(versions) > 1:
            needed.add(name)
            if name not in skipped:
                both = " and ".join(sorted(versions))
                yield f"{name}: {both} at once, and deny.toml's bans.skip does not name it"
    for name in sorted(skipped - needed):
        yield f"deny.toml: bans.skip: {name} has one version now: the row can go"


def _users(graph: Graph, bans: Mapping[str, Any]) -> Iterator[str]:
    for row in bans["deny"]:
        if not any(package["name"] == row["crate"] for package in graph.packages):
            continue
        wrappers, users = row.get("wrappers"), sorted(graph.users(row["crate"]))
        if wrappers is None:
            yield f"{row['crate']}: banned ({row['reason']}); used by {', '.join(users)}"
            continue
        for user in sorted(set(users) - set(wrappers)):
            yield f"{user}: it uses {row['crate']}, which only {', '.join(wrappers)} may ({row['reason']})"


def _compilers(graph: Graph) -> Iterator[str]:
    for package in graph.members:
        oldest = version(package["rust_version"])
        if oldest == (0, 0):
            yield f"{package['name']}: it names no rust-version"
        for used in graph.built_from(package):
            if version(used["rust_version"]) > oldest:
                yield (
                    f"{package['name']}: rust-version {package['rust_version']}, but it is built from"
                    f" {used['name']} {used['version']}, which needs {used['rust_version']}"
                )


def metadata(manifest: Path) -> dict[str, Any]:
    """The graph of a workspace as cargo resolved it."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM]
    done = subprocess.run([*words, "--manifest-path", str(manifest)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return dict(json.loads(done.stdout))


def main() -> int:
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    graph = Graph(metadata(MANIFEST))
    found = list(problems(graph, rules))
    for problem in found:
        print(problem)
    print(f"{len(graph.packages)} packages held against deny.toml: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
