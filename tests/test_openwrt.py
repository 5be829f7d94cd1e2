"""The OpenWrt package's Makefile under a stand-in for the SDK: `meshpaced top` and eBPF are choices, off by default.

What lands where, and the UCI mapping, are tested beside the daemon (crates/daemon/tests/packaging.rs).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HELP = "Show hosts and flows live"
# What a binary with the part has in it, by the part's choice in the menu.
MARKS = {"TOP": HELP, "EBPF": "meshpace_edge"}


def package(folder: Path, *settings: str) -> tuple[int, str, str]:
    """The exit status, what make says, and the program in the package."""
    stand_in = ROOT / "packaging" / "openwrt" / "test" / "sdk"
    places = (f"TOPDIR={stand_in}", f"BUILD_DIR={folder / 'build'}", f"DESTINATION={folder / 'root'}")
    command = ["make", "-C", ROOT / "packaging" / "openwrt", *places, *settings]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    program = folder / "root" / "usr" / "sbin" / "meshpaced"
    return done.returncode, done.stdout + done.stderr, program.read_text() if program.exists() else ""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ((), ["--no-default-features"]),
        (("CONFIG_MESHPACED_TOP=",), ["--no-default-features"]),
        (("CONFIG_MESHPACED_TOP=y",), ["--no-default-features", "--features", "top"]),
        (("CONFIG_MESHPACED_EBPF=y",), ["--no-default-features", "--features", "ebpf"]),
    ],
)
def test_what_is_built_of_the_sources_follows_the_menu(
    settings: tuple[str, ...], words: list[str], tmp_path: Path
) -> None:
    status, said, program = package(tmp_path, "MESHPACED_BINARY=", *settings)
    assert status == 0, said
    assert program.split() == ["crates/daemon", *words], "what the stand-in for cargo was given"


@pytest.mark.parametrize("part", MARKS)
@pytest.mark.parametrize("has", [False, True])
@pytest.mark.parametrize("asked", [False, True])
def test_a_binary_built_outside_is_looked_at(part: str, has: bool, asked: bool, tmp_path: Path) -> None:
    binary = tmp_path / "meshpaced"
    text = MARKS[part] if has else "List the flows"
    binary.write_text(text)
    choice = [f"CONFIG_MESHPACED_{part}=y"] if asked else []
    status, said, program = package(tmp_path, f"MESHPACED_BINARY={binary}", *choice)
    if asked and not has:
        assert status != 0
        assert f"was built without --features {part.lower()}" in said
        assert program == "", "no package of something else"
    else:
        assert (status, program) == (0, text), said


def test_what_is_looked_for_is_in_the_binary() -> None:
    assert f"/// {HELP}." in (ROOT / "crates" / "daemon" / "src" / "cli.rs").read_text()
    program = (ROOT / "crates" / "daemon" / "src" / "edge" / "kernel.rs").read_text()
    assert f'const PROGRAM: &str = "{MARKS["EBPF"]}";' in program
    makefile = (ROOT / "packaging" / "openwrt" / "Makefile").read_text()
    assert all(f"grep -q '{mark}'" in makefile or f"grep -q {mark} " in makefile for mark in MARKS.values())


def test_the_menu_has_it_and_it_is_off() -> None:
    text = (ROOT / "packaging" / "openwrt" / "Makefile").read_text()
    entry = text.partition("define Package/meshpaced/config")[2].partition("endef")[0]
    choices = [line.split()[1] for line in entry.splitlines() if line.startswith("\tconfig")]
    assert choices == [f"MESHPACED_{part}" for part in MARKS]
    assert entry.count("default n") == len(choices)
    anew = " ".join(f"CONFIG_{choice}" for choice in choices)
    assert f"PKG_CONFIG_DEPENDS:={anew}\n" in text, "another choice builds anew"
