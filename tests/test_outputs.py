"""Where results go: pipes and devices are written to, links stay links, a full disk is told with the file's name."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commanding import Cli
from test_bad_input import expect_refusal


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A device of one's own on which nothing fits: a broken command would put a file in its place."""
    path = tmp_path / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        path.open("wb").close()
    except PermissionError:
        pytest.skip("only root makes devices, and not in every container")
    return path


@pytest.mark.parametrize("option", ["--report", "--trace", "--pcap"])
def test_a_full_disk_is_named_and_a_device_stays_one(option: str, cli: Cli, chain: Path, full: Path) -> None:
    assert expect_refusal(cli, "run", chain, option, full) == f"{full}: No space left on device"
    assert full.is_char_device()


def test_a_draft_that_does_not_fit(chain: Path, tmp_path: Path) -> None:
    """A limit on the size of files does to drafts what a full disk does."""

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for option in ("--report", "--trace", "--pcap"):
        words = [sys.executable, "-m", "meshpace", "run", chain, option, "out"]
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, preexec_fn=small
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "out: File too large\n")
    assert [path.name for path in tmp_path.iterdir()] == [chain.name]


def test_a_pipe_gets_what_a_file_would(cli: Cli, chain: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert cli("run", chain, "--pcap", pipe).returncode == 0
    reader.join(60)
    assert cli("run", chain, "--pcap", "file").returncode == 0
    assert read == [(tmp_path / "file").read_bytes()]
    assert pipe.is_fifo()


def test_a_link_stays_one(cli: Cli, chain: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/file")
    assert cli("run", chain, "--trace", "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "file").read_bytes()[:4] == b"PAR1"
    assert len(list(tmp_path.rglob("*"))) == 4


def test_a_scenario_without_end(cli: Cli, tmp_path: Path) -> None:
    """As ``/dev/zero``, in whose place a reader without a limit would fill this machine's memory."""
    with (tmp_path / "endless.toml").open("wb") as file:
        file.truncate(2**40)
    for command in ("run", "check", "sweep", "advise"):
        words = ["--vary", "topology.hops=1"] if command == "sweep" else []
        line = expect_refusal(cli, command, "endless.toml", *words)
        assert line == "endless.toml:1: file: found 67108864 bytes; allowed: at most 4194304 bytes"


def test_what_is_read_is_not_written_over(cli: Cli, chain: Path) -> None:
    text = chain.read_text()
    line = expect_refusal(cli, "crosscheck", chain, "--script", chain)
    assert line == f"--script: found {chain}, which this command reads; allowed: another file"
    assert cli("run", chain, "--pcap", "air.pcapng").returncode == 0
    line = expect_refusal(cli, "winf", "air.pcapng", "--parquet", "air.pcapng")
    assert line == "--parquet: found air.pcapng, which this command reads; allowed: another file"
    line = expect_refusal(cli, "winf", "air.pcapng", "--parquet", "a", "--pdf", "a")
    assert line == "--pdf: found a, which --parquet writes; allowed: another file"
    assert chain.read_text() == text


@pytest.mark.parametrize(
    "words", ["demo --output", "demo --picture", "demo --film", "validate --output", "study run gap --output"]
)
def test_a_place_that_is_none_is_told_before_anything_is_run(words: str, cli: Cli, tmp_path: Path) -> None:
    place = "no/where.svg"
    assert expect_refusal(cli, *words.split(), place) == f"{place}: No such file or directory"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["study list", "schemes", "schema", "run chain.toml", "run chain.toml --json"])
def test_a_reader_that_has_seen_enough(words: str, chain: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "meshpace", *words.split()]
    done = subprocess.run(
        command, cwd=chain.parent, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, check=False
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_standard_output_at_all(chain: Path) -> None:
    command = f"exec {sys.executable} -m meshpace run {chain} --pcap air.pcapng >&-"
    done = subprocess.run(command, shell=True, cwd=chain.parent, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "standard output is closed; allowed: a file, a pipe, a terminal\n"
    assert [path.name for path in chain.parent.iterdir()] == [chain.name]
