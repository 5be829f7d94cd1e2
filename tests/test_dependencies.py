"""deny.toml is held against what the program is built from."""

from __future__ import annotations

from typing import Any

import pytest

from dependencies import Graph, allowed_licence, problems

RULES: dict[str, Any] = {
    "licenses": {"allow": ["MIT", "Apache-2.0 WITH LLVM-exception"]},
    "bans": {"multiple-versions": "deny", "skip": [], "deny": []},
    "sources": {"unknown-registry": "deny", "unknown-git": "deny", "allow-registry": ["https://registry"]},
}


def package(name: str, version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    made = {
        "name": name,
        "version": version,
        "license": "MIT",
        "source": "registry+https://registry",
        "rust_version": None,
    }
    return {**made, "id": f"{name} {version}", **more}


def graph(packages: list[dict[str, Any]], uses: dict[str, list[str]]) -> Graph:
    """Of packages, by name, where the first is ours and `uses` names what each builds on."""
    ids = {each["name"]: each["id"] for each in packages}
    packages[0]["source"] = None
    normal = [{"kind": None}]
    nodes = [
        {"id": each["id"], "deps": [{"pkg": ids[used], "dep_kinds": normal} for used in uses.get(each["name"], [])]}
        for each in packages
    ]
    return Graph({"packages": packages, "resolve": {"nodes": nodes}, "workspace_members": [packages[0]["id"]]})


def found(made: Graph, **bans: Any) -> list[str]:
    return list(problems(made, {**RULES, "bans": {**RULES["bans"], **bans}}))


OURS = {"rust_version": "1.85"}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(GPL-3.0-only OR MIT) AND MIT", True),
        ("MIT AND (Zlib OR BSD-2-Clause)", False),
        ("Zlib/MIT", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH LLVM-exception AND MIT", True),
        ("Apache-2.0", False),
    ],
)
def test_licences_are_read_as_spdx_has_them(expression: str, allowed: bool) -> None:
    assert allowed_licence(expression, set(RULES["licenses"]["allow"])) is allowed


def test_a_graph_as_it_should_be() -> None:
    assert found(graph([package("ours", **OURS), package("a")], {"ours": ["a"]})) == []


def test_licence_source_and_missing_licence_are_told_by_name() -> None:
    made = graph(
        [
            package("ours", **OURS),
            package("a", license="SSPL-1.0"),
            package("b", license=None),
            package("c", source="git+x"),
        ],
        {},
    )
    said = found(made)
    assert len(said) == 3
    assert said[0].startswith("a 1.0.0: its licence is SSPL-1.0; allowed:")
    assert said[1] == "b 1.0.0: it names no licence"
    assert said[2].startswith("c 1.0.0: it comes from git+x")


def test_two_versions_need_a_row_and_a_row_needs_two_versions() -> None:
    made = graph([package("ours", **OURS), package("a"), package("a", "2.0.0")], {})
    assert found(made) == ["a: 1.0.0 and 2.0.0 at once, and deny.toml's bans.skip does not name it"]
    rows = [{"crate": "a", "reason": "r"}, {"crate": "b", "reason": "r"}]
    assert found(made, skip=rows) == ["deny.toml: bans.skip: b has one version now: the row can go"]


def test_bans_name_the_user_and_wrappers_may() -> None:
    made = graph([package("ours", **OURS), package("a"), package("b")], {"ours": ["a", "b"], "a": ["b"]})
    row = {"crate": "b", "reason": "why"}
    assert found(made, deny=[row]) == ["b: banned (why); used by a, ours"]
    assert found(made, deny=[{**row, "wrappers": ["a"]}]) == ["ours: it uses b, which only a may (why)"]
    assert found(made, deny=[{**row, "crate": "absent"}]) == []


def test_a_compiler_older_than_a_dependency_needs_is_not_promised() -> None:
    made = graph(
        [package("ours", **OURS), package("a"), package("b", rust_version="1.86.0")], {"ours": ["a"], "a": ["b"]}
    )
    assert found(made) == ["ours: rust-version 1.85, but it is built from b 1.0.0, which needs 1.86.0"]


def test_a_key_that_is_not_read_is_refused() -> None:
    made = graph([package("ours", **OURS)], {})
    assert found(made, wildcards="deny")[0].startswith("deny.toml: bans.wildcards: not read")
