"""ARCHITECTURE.md draws the crates as they are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from documents import ROOT


def drawn() -> list[str]:
    """The crates of the drawing, from above to below."""
    rooms = (ROOT / "ARCHITECTURE.md").read_text().partition("\n## The rooms\n")[2].split("```")[1]
    found = []
    for line in rooms.splitlines():
        if room := re.match(r"[\s│├└─┤]*([a-z, ]+?)(?: \(|  |$)", line):
            found += [name for name in room[1].split(", ") if (ROOT / "crates" / name).is_dir()]
    return found


def used(crate: str) -> set[str]:
    """The crates that one is built from, tests aside."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    tables = [manifest, *manifest.get("target", {}).values()]
    names = {name for table in tables for name in table.get("dependencies", {})}
    return {name.removeprefix("meshpace-") for name in names if name.startswith("meshpace-")}


def test_every_crate_is_drawn_once() -> None:
    # It reads the sources of all others, and is linked into none (the text below the drawing).
    aside = {"fingerprint"}
    assert sorted(drawn()) == sorted({crate.parent.name for crate in ROOT.glob("crates/*/Cargo.toml")} - aside)


def test_a_crate_uses_only_crates_below_it() -> None:
    order = drawn()
    upwards = [(crate, other) for at, crate in enumerate(order) for other in used(crate) - set(order[at + 1 :])]
    assert upwards == []


def rooms(crate: str) -> dict[str, set[str]]:
    """The modules at the top of a crate, `lib.rs` aside, and which others each uses, tests aside."""
    source = ROOT / "crates" / crate / "src"
    shown = shown_by(source / "lib.rs")
    found: dict[str, set[str]] = {}
    for file in sorted(source.rglob("*.rs")):
        inside = file.relative_to(source)
        room = inside.with_suffix("").parts[0]
        if room != "lib" and "tests" not in inside.with_suffix("").parts:
            names = paths_from_the_top(file, len(inside.parts))
            found.setdefault(room, set()).update(shown.get(name, name) for name in names)
    return {room: (used & found.keys()) - {room} for room, used in found.items()}


def shown_by(library: Path) -> dict[str, str]:
    """The names that a crate shows at its top, and the room that each is of."""
    used = re.findall(r"pub use (\w+)::(?:(\w+)|\{([^}]*)\});", library.read_text())
    return {name: room for room, one, several in used for name in re.findall(r"\w+", one or several)}


def paths_from_the_top(file: Path, depth: int) -> set[str]:
    """The first names of paths that begin at the crate or, so deep in it, climb to its top."""
    code = re.sub(r"//.*", "", file.read_text().partition("#[cfg(test)]")[0])
    # A file of a folder is as deep as the folder's own: `mod.rs` climbs one step less.
    climb = "super::" * (depth - (file.name == "mod.rs"))
    tops = "|".join(["crate::", rf"(?<!super::){climb}"] if climb else ["crate::"])
    found: set[str] = set()
    for path in re.finditer(rf"\b(?:{tops})(\w+|\{{)", code):
        found |= set(grouped(code[path.end() :])) if path[1] == "{" else {path[1]}
    return found


def grouped(code: str) -> Iterator[str]:
    """The first names of the paths in a group, up to its closing brace."""
    depth, name = 0, ""
    for word in re.findall(r"\w+|\S", code):
        if word in "{}":
            depth += 1 if word == "{" else -1
        if depth < 0:
            return
        if depth == 0 and name in {"", ","} and word.isidentifier():
            yield word
        name = "" if depth == 0 and word == "," else word


def circle(uses: dict[str, set[str]]) -> list[str]:
    """Rooms that use each other in a ring, the first again at the end; empty if there are none."""

    def search(way: list[str]) -> list[str]:
        for other in sorted(uses[way[-1]]):
            if other in way:
                return [*way[way.index(other) :], other]
            if other not in through and (ring := search([*way, other])):
                return ring
        through.add(way[-1])
        return []

    through: set[str] = set()
    return next((ring for room in sorted(uses) if room not in through and (ring := search([room]))), [])


def test_the_rooms_of_the_network_use_each_other_one_way() -> None:
    uses = rooms("network")
    assert {"air", "event", "gateway", "measure", "network", "node", "routing", "watch", "wired"} <= uses.keys()
    # What joins them uses them all, and none of them uses it.
    assert {"air", "event", "gateway", "measure", "node", "routing", "watch", "wired"} <= uses["network"]
    assert circle(uses) == []


def test_the_rooms_of_a_crate_use_each_other_one_way() -> None:
    crates = sorted(crate.parent.name for crate in ROOT.glob("crates/*/Cargo.toml"))
    rings = {crate: ring for crate in crates if (ring := circle(rooms(crate)))}
    assert rings == {}


def test_circles_and_paths_are_found(tmp_path: Path) -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []
    file = tmp_path / "inner.rs"
    file.write_text(
        "use crate::air::{Air, Far};\nuse crate::{event::{self, Alarm}, node};\nuse super::super::wired::Link;\n"
        "use super::beside::Thing; // crate::comment\nfn at() -> crate::watch::Time {}\n"
        "#[cfg(test)]\nuse crate::tests;\n"
    )
    assert paths_from_the_top(file, 2) == {"air", "event", "node", "wired", "watch"}
    folder = tmp_path / "mod.rs"
    folder.write_text("use super::wired::Link;\nuse self::inner::Thing;\n")
    assert paths_from_the_top(folder, 2) == {"wired"}
    library = tmp_path / "lib.rs"
    library.write_text("mod air;\npub use air::Air;\npub use event::{\n    Alarm,\n    Event,\n};\n")
    assert shown_by(library) == {"Air": "air", "Alarm": "event", "Event": "event"}


def joints() -> dict[str, list[str]]:
    """The parts that the table of joints names, by the table of the sources that has them."""
    text = (ROOT / "ARCHITECTURE.md").read_text().partition("\n## The joints")[2].partition("\n## ")[0]
    named = re.findall(r"`([A-Z_]+)`: ([\w .,+()-]+)", text)
    return {
        name: re.split(r", ", re.sub(r" \([^)]*\)|, most of them.*| beside .*", "", parts)) for name, parts in named
    }


def test_the_table_of_joints_names_every_part() -> None:
    sources = "\n".join(file.read_text() for file in sorted(ROOT.glob("crates/*/src/**/*.rs")))
    for name, parts in joints().items():
        table = re.search(rf"^ +pub static {name}: \w+ = \[([^\]]*)\]", sources, re.MULTILINE)
        assert table is not None, name
        assert len(parts) == len(re.findall(r"[\w:]+", table[1])), (name, parts, table[1])
    assert len(joints()) == 13


def test_files_that_are_named_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = re.findall(r"`((?:crates|python|bpf|papers|tests|docs)/[\w./-]+)`", text)
    assert len(paths) > 100
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_crate_has_one_binary_of_integration_tests_and_every_file_is_in_it() -> None:
    several = {}
    for crate in sorted(path.parent for path in ROOT.glob("crates/*/tests")):
        tests = crate / "tests"
        roots = [*tests.glob("*.rs"), *tests.glob("*/main.rs")]
        if tests / "main.rs" in roots:
            # tests/main.rs is the one that Cargo.toml names; a file that it does not declare would never run.
            assert tomllib.loads((crate / "Cargo.toml").read_text())["package"]["autotests"] is False, crate.name
            declared = set(re.findall(r"^mod (\w+);$", (tests / "main.rs").read_text(), re.MULTILINE))
            there = {path.stem for path in tests.iterdir() if path.suffix == ".rs" or (path / "mod.rs").exists()}
            assert declared == there - {"main"}, crate.name
        elif len(roots) > 1:
            several[crate.name] = sorted(path.name for path in roots)
    assert several == {}
