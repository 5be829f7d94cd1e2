"""The other commands, and interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commanding import Cli, wait_until_simulating

COMMANDS = {
    "advise",
    "run",
    "sweep",
    "compare",
    "check",
    "import",
    "winf",
    "emulate",
    "study",
    "report",
    "schemes",
    "scenarios",
    "schema",
    "demo",
    "crosscheck",
    "validate",
    "calibrate",
    "store",
}


def test_version_and_help(cli: Cli) -> None:
    version = cli("--version").stdout
    assert version.startswith("meshpace ")
    listed = cli("--help").stdout.split("Commands:")[1]
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == COMMANDS
    for command in COMMANDS:
        assert cli(command, "--help").returncode == 0


@pytest.mark.parametrize(("typed", "offered"), [("meshpace sw", "sweep"), ("meshpace sweep --prec", "--precision")])
def test_the_shell_completes(typed: str, offered: str) -> None:
    program = "import sys; sys.argv = ['meshpace']; from meshpace.cli import main; main()"
    asked = {"_MESHPACE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [offered]


def test_schemes(cli: Cli) -> None:
    table = cli("schemes").stdout
    assert "tcp-gap" in table
    rows = json.loads(cli("schemes", "--json").stdout)["schemes"]
    names = {row["name"] for row in rows}
    assert {"newreno", "tahoe", "tcp-ap", "tcp-gap"} <= names
    gap = next(row for row in rows if row["name"] == "tcp-gap")
    assert gap["parameters"]["congestion"] == "newreno"
    assert gap["parameters"]["alpha"] == 0.7


def test_every_listed_scenario_resolves(cli: Cli) -> None:
    from meshpace import engine
    from meshpace.project import scenario_directory

    listed = cli("scenarios").stdout
    files = sorted(scenario_directory().glob("*.toml"))
    assert files
    for path in files:
        assert path.name in listed
        resolved = engine.resolve(engine.Job(str(path), path.read_bytes()))
        assert resolved["flows"], path


def test_schema_is_json_and_knows_scheme_parameters(cli: Cli) -> None:
    schema = json.loads(cli("schema").stdout)
    assert {"measure", "radio", "topology", "flow", "scheme"} <= set(schema["properties"])
    assert "alpha" in schema["properties"]["scheme"]["additionalProperties"]["properties"]


@pytest.mark.parametrize("options", [[], ["--seeds", "9"], ["--pcap", "c.pcapng", "--trace", "t.parquet"]])
def test_an_interrupt_ends_at_once_and_leaves_nothing(options: list[str], chain: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "meshpace", "run", str(chain), "--set", "measure.duration=90000s", *options]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until_simulating(running)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    *_, last = err.splitlines()  # a busy machine may have come to tell its progress
    assert (running.returncode, out, last) == (130, "", "interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["chain.toml"]


def test_a_closed_pipe_is_no_error(chain: Path) -> None:
    words = f"{sys.executable} -m meshpace schema | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert chain.exists()
