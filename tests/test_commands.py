"""The other commands, and interrupts."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commanding import Cli, wait_until_simulating
from meshpace.cli import COMMANDS, find
from meshpace.cli.declared import values
from meshpace.cli.failure import reports_failure
from meshpace.cli.parsing import parsed

NAMES = {
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
    listed = re.findall(r"^ {4}(\w+)", listed, re.MULTILINE)
    assert set(listed) == NAMES
    for command in NAMES:
        assert cli(command, "--help").returncode == 0


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("meshpace sw", "sweep"), ("meshpace sweep --prec", "--precision"), ("meshpace study run --bud", "--budget")],
)
def test_the_shell_completes(cli: Cli, typed: str, offered: str) -> None:
    # As bash asks: the function is what --show-completion prints, and `meshpace` is this Python's.
    script = f"""
        meshpace() {{ {sys.executable} -m meshpace "$@"; }}
        {cli("--show-completion", "bash").stdout}
        COMP_LINE={shlex.quote(typed)} COMP_POINT={len(typed)} COMP_TYPE=9 IFS=$'\\013'
        COMP_WORDS=({typed}) COMP_CWORD={typed.count(" ")}
        _python_argcomplete meshpace
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [offered], done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["swep"], "meshpace: no such command: swep; did you mean sweep?"),
        (["study", "lst"], "meshpace study: no such command: lst; did you mean list?"),
        (["run", "x.toml", "--sed", "3"], "meshpace run: no such option: --sed; did you mean --seed?"),
        (["run", "x.toml", "--seeds=0"], "meshpace run: --seeds: found '0'; allowed: a whole number 1 to 100,000"),
        (
            ["run", "x.toml", "--seed", "one"],
            "meshpace run: --seed: found 'one'; allowed: a whole number 0 to 18,446,744,073,709,551,615",
        ),
        (["run"], "meshpace run: the following arguments are required: SCENARIO.toml"),
        (["--show-completion", "csh"], "meshpace: --show-completion: found 'csh'; allowed: bash, zsh, fish"),
    ],
)
def test_a_wrong_word_is_named_in_one_line(cli: Cli, words: list[str], said: str) -> None:
    done = cli(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{said}\n")


def test_options_and_files_stand_in_any_order() -> None:
    command, parser, left = find(["compare", "a.toml", "--seeds", "3", "b.toml", "--set", "x=1", "--set", "y=2"])
    values = parsed(parser, left)
    assert command is COMMANDS.commands["compare"]
    assert values["things"] == [Path("a.toml"), Path("b.toml")]
    assert (values["seeds"], values["settings"], values["json"]) == (3, ["x=1", "y=2"], False)


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("x.toml --json --scheme a --scheme b,c --seed 3 --pcap y.pcapng", True),
        ("--set=radio.rate=2Mbps --set a=b= x.toml --seeds=1 --seeds 2", True),
        ("--threads 1024 x.toml --why", True),
        ("--seed -1 x.toml", False),
        ("--threads 1025 x.toml", False),
        ("--json=1 x.toml", False),
        ("x.toml --seed", False),
        ("x.toml y.toml", False),
        ("x.toml -- --json", False),
        ("--no-such x.toml", False),
        ("--json", False),
    ],
)
def test_a_plain_line_is_read_without_argparse_as_with_it(line: str, plain: bool) -> None:
    command, parser, words = find(["run", *line.split()])
    read = values(command, words)
    assert (read is not None) == plain
    if plain:
        assert read == parsed(parser, words)


def test_a_command_for_a_host_keeps_its_own_options() -> None:
    _, parser, left = find(["emulate", "exec", "--name", "one", "gw", "--", "ip", "--json", "addr"])
    values = parsed(parser, left)
    assert values == {"host": "gw", "command": ["ip", "--json", "addr"], "name": "one"}


def test_emulate_alone_runs() -> None:
    command, _, left = find(["emulate", "mesh.toml", "--json"])
    assert command is find(["emulate", "run", "mesh.toml"])[0]
    assert left == ["mesh.toml", "--json"]


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


def test_an_interrupt_while_a_lock_is_waited_for_is_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    """``threading`` releases what it does not hold yet, if Ctrl-C comes then: the error is about the lock."""
    lock = threading.Lock()

    @reports_failure
    def waits(*, interrupted: bool) -> None:
        with lock:
            lock.release()
            if interrupted:
                raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        waits(interrupted=True)
    assert (ended.value.code, capsys.readouterr().err) == (130, "interrupted\n")
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        waits(interrupted=False)


def test_a_closed_pipe_is_no_error(chain: Path) -> None:
    words = f"{sys.executable} -m meshpace schema | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert chain.exists()
