"""The OpenWrt package's Makefile under a stand-in for the SDK: `meshpaced top` is the user's choice, off by default.

What lands where, and the UCI mapping, are tested beside the daemon (crates/daemon/tests/packaging.rs).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HELP = "Show the flows live"


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
    ],
)
def test_what_is_built_of_the_sources_follows_the_menu(
    settings: tuple[str, ...], words: list[str], tmp_path: Path
) -> None:
    status, said, program = package(tmp_path, "MESHPACED_BINARY=", *settings)
    assert status == 0, said
    assert program.split() == ["crates/daemon", *words], "what the stand-in for cargo was given"


@pytest.mark.parametrize("help_text", [HELP, "List the flows"])
@pytest.mark.parametrize("asked", [False, True])
def test_a_binary_built_outside_is_looked_at(help_text: str, asked: bool, tmp_path: Path) -> None:
    binary = tmp_path / "meshpaced"
    binary.write_text(help_text)
    status, said, program = package(
        tmp_path, f"MESHPACED_BINARY={binary}", *(["CONFIG_MESHPACED_TOP=y"] if asked else [])
    )
    if asked and help_text != HELP:
        assert status != 0
        assert "was built without --features top" in said
        assert program == "", "no package of something else"
    else:
        assert (status, program) == (0, help_text), said


def test_what_is_looked_for_is_in_the_help() -> None:
    assert f"/// {HELP}." in (ROOT / "crates" / "daemon" / "src" / "cli.rs").read_text()
    assert HELP in (ROOT / "packaging" / "openwrt" / "Makefile").read_text()


def test_the_menu_has_it_and_it_is_off() -> None:
    text = (ROOT / "packaging" / "openwrt" / "Makefile").read_text()
    entry = text.partition("define Package/meshpaced/config")[2].partition("endef")[0]
    assert [line.split()[0] for line in entry.splitlines() if line.startswith("\tconfig")] == ["config"]
    assert "config MESHPACED_TOP" in entry
    assert "default n" in entry
    assert "PKG_CONFIG_DEPENDS:=CONFIG_MESHPACED_TOP" in text, "another choice builds anew"
