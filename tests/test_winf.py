"""`meshpace winf`: captures of the simulator, whose truth is known, of Linux's simulated radios, and broken ones."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commanding import Cli

HWSIM = Path(__file__).parent / "fixtures" / "monitor" / "hwsim-mesh.pcap.gz"

# schemes.md 17.2: 802.11b at 11 Mbit/s with long preambles, RTS and CTS, and 34 bytes around an IP packet.
CONTROL_US, SIFS_US, RTS_US = 304.0, 10.0, 352.0
MPDU_BYTES = 1028 + 34
DATA_US = 192.0 + MPDU_BYTES * 8 / 11.0
CAPACITY = MPDU_BYTES * 8 / (DATA_US + CONTROL_US) * 1e6
EXCHANGE_US = RTS_US + CONTROL_US + DATA_US + CONTROL_US + 3 * SIFS_US

SCENARIO = """\
[measure]
duration = "10s"
warmup = 0
[radio]
rate = "11Mbps"
rts = "{rts}"
arp = false
[topology]
kind = "chain"
hops = 1
[routing]
protocol = "static"
[[flow]]
from = "n0"
to = "n1"
app = "cbr"
rate = {load}
packet = 1000
scheme = "newreno"
start_jitter = 0
"""


def captured(cli: Cli, folder: Path, load_bps: int, rts: str = "always") -> Path:
    scenario, capture = folder / "one-hop.toml", folder / "air.pcapng"
    scenario.write_text(SCENARIO.format(load=load_bps, rts=rts))
    done = cli("run", scenario, "--pcap", capture)
    assert done.returncode == 0, done.stderr
    return capture


def measured(cli: Cli, capture: Path, *options: object) -> dict[str, Any]:
    done = cli("winf", capture, "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("load_bps", [400_000, 1_600_000])
def test_a_simulated_link_is_measured_as_the_closed_forms_have_it(cli: Cli, tmp_path: Path, load_bps: int) -> None:
    found = measured(cli, captured(cli, tmp_path, load_bps))
    (link,) = found["links"]
    assert (link["from"], link["to"]) == ("02:6d:70:00:00:01", "02:6d:70:00:00:02")
    assert link["samples"] == pytest.approx(load_bps / 8000 * 10, abs=2)
    assert link["capacity_bps"] == pytest.approx(CAPACITY, rel=0.003)
    busy = load_bps / 8000 * EXCHANGE_US / 1e6
    assert found["busy_share"] == pytest.approx(busy, rel=0.01)
    assert link["available_bps"] == pytest.approx(CAPACITY * (1 - busy), rel=0.01)
    assert (found["schema"], found["partial"], found["clock"]) == (1, None, "file")


def test_without_rts_the_capacity_is_the_same(cli: Cli, tmp_path: Path) -> None:
    (link,) = measured(cli, captured(cli, tmp_path, 400_000, rts="never"))["links"]
    assert link["capacity_bps"] == pytest.approx(CAPACITY, rel=0.003)


def test_over_time_and_as_files(cli: Cli, tmp_path: Path) -> None:
    capture = captured(cli, tmp_path, 400_000)
    parquet, pdf = tmp_path / "links.parquet", tmp_path / "links.pdf"
    done = cli("winf", capture, "--window", 2, "--parquet", parquet, "--pdf", pdf)
    assert (done.returncode, done.stderr) == (0, "")
    assert "02:6d:70:00:00:02" in done.stdout
    table = pq.read_table(parquet)
    assert table["samples"].to_pylist() == pytest.approx([100] * 5, abs=2)
    assert table["time_s"].to_pylist()[:4] == [2.0, 4.0, 6.0, 8.0]
    assert json.loads(table.schema.metadata[b"meshpace"])["window_s"] == 2.0
    assert pdf.read_bytes().startswith(b"%PDF")
    again = tmp_path / "again.pdf"
    cli("winf", capture, "--window", 2, "--pdf", again)
    assert again.read_bytes() == pdf.read_bytes()


def test_linux_radios(cli: Cli, tmp_path: Path) -> None:
    """They send neither RTS nor CTS and have no air time: capacities are by rate and size, exactly equation 1."""
    found = measured(cli, HWSIM)
    assert (found["frames"], found["clock"], found["partial"]) == (318, "file", None)
    (link,) = found["links"]
    assert (link["from"], link["to"], link["samples"]) == ("02:00:00:00:00:00", "02:00:00:00:01:00", 53)
    assert 6e6 < link["capacity_bps"] < 9e6  # rates of 1 to 54 Mbit/s, acknowledgements at 1 Mbit/s and more
    with gzip.open(HWSIM) as packed:
        plain = tmp_path / "plain.pcap"
        plain.write_bytes(packed.read())
    assert measured(cli, plain)["links"] == found["links"]


def test_a_file_that_breaks_off_is_partial(cli: Cli, tmp_path: Path) -> None:
    capture = captured(cli, tmp_path, 400_000)
    whole = capture.read_bytes()
    capture.write_bytes(whole[: len(whole) // 2 + 7])
    done = cli("winf", capture, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["partial"].startswith("the file ends within a frame, after ")
    assert done.stderr == f"{capture}: partial: {found['partial']}\n"
    assert found["links"][0]["samples"] == pytest.approx(250, rel=0.05)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"this is a text and no capture at all", "found no capture; allowed: a pcap or pcapng file"),
        (b"", "found no whole frame; allowed: a capture with frames"),
        (b"\x1f\x8b\x08\x00broken", "found broken gzip"),
        (
            b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(8) + b"\xff\xff\x00\x00\x01\x00\x00\x00" + bytes(16),
            "found link type 1; allowed: 127, radiotap (a capture in monitor mode)",
        ),
    ],
)
def test_what_is_no_capture_is_refused_in_one_line(cli: Cli, tmp_path: Path, content: bytes, told: str) -> None:
    capture, out = tmp_path / "x.pcap", tmp_path / "out.parquet"
    capture.write_bytes(content)
    done = cli("winf", capture, "--parquet", out)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"{capture}: {told}")
    assert not out.exists()
    missing = cli("winf", tmp_path / "none.pcap")
    assert (missing.returncode, missing.stderr) == (2, f"{tmp_path / 'none.pcap'}: No such file or directory\n")


def test_through_a_pipe_and_from_standard_input(cli: Cli, tmp_path: Path) -> None:
    capture = captured(cli, tmp_path, 400_000)
    expected = measured(cli, capture)
    for name, content in (
        ("-", capture.read_bytes()),
        ("-", gzip.compress(capture.read_bytes())),
        ("/dev/stdin", capture.read_bytes()),
    ):
        words = [sys.executable, "-m", "meshpace", "winf", name, "--json"]
        done = subprocess.run(words, input=content, capture_output=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout) == {**expected, "capture": name}
    assert cli("winf", tmp_path).stderr == f"{tmp_path}: Is a directory\n"


def test_table_json_and_parquet_tell_the_same_over_time(cli: Cli, tmp_path: Path) -> None:
    capture, parquet = captured(cli, tmp_path, 400_000), tmp_path / "links.parquet"
    found = measured(cli, capture, "--window", 2, "--parquet", parquet)
    assert pq.read_table(parquet).to_pylist() == found["series"]
    assert sum(row["samples"] for row in found["series"]) == found["links"][0]["samples"]
    assert found["channels_mhz"] == [2412]
    printed = cli("winf", capture, "--window", 2, "--series").stdout
    for row in found["series"]:
        rates = [f"{row[key] / 1e6:.3f}" for key in ("capacity_bps", "available_bps")]
        cells = [f"{row['time_s']:.3f}", row["from"], row["to"], *rates, str(row["samples"])]
        assert cells in [line.split() for line in printed.splitlines()]
    assert f"{found['series'][0]['time_s']:.3f}" not in cli("winf", capture, "--window", 2).stdout.split()


def test_the_capture_is_not_written_over(cli: Cli, tmp_path: Path) -> None:
    capture = captured(cli, tmp_path, 400_000)
    before = capture.read_bytes()
    for option in ("--parquet", "--pdf"):
        done = cli("winf", capture, option, capture)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith(f"{option}: found {capture}, which this command reads; allowed: another file\n")
    assert capture.read_bytes() == before
    both = cli("winf", capture, "--parquet", tmp_path / "x", "--pdf", tmp_path / "x")
    assert both.returncode == 2
    assert "which --parquet writes" in both.stderr


def test_gzip_that_breaks_off_or_is_damaged_is_partial(cli: Cli, tmp_path: Path) -> None:
    capture = captured(cli, tmp_path, 400_000)
    packed = gzip.compress(capture.read_bytes())
    whole = measured(cli, capture)
    broken = tmp_path / "broken.gz"
    damaged = bytearray(packed)
    damaged[len(packed) // 2 : len(packed) // 2 + 64] = b"\xff" * 64
    for content in (packed[: len(packed) // 2], bytes(damaged)):
        broken.write_bytes(content)
        found = measured(cli, broken)
        assert found["partial"].startswith("the gzip around it is broken (")
        assert 0 < found["frames"] < whole["frames"]
    # All frames are there; the check sequence at the end is not.
    broken.write_bytes(packed[:-8])
    found = measured(cli, broken)
    assert (found["frames"], found["partial"]) == (whole["frames"], "the gzip around it is broken (it ends too early)")
    # Members after one another, and zeros behind them, are one file.
    half = len(capture.read_bytes()) // 2
    parts = gzip.compress(capture.read_bytes()[:half]), gzip.compress(capture.read_bytes()[half:])
    broken.write_bytes(b"".join(parts) + bytes(512))
    assert measured(cli, broken)["links"] == whole["links"]
    for content in (b"\x1f\x8b", packed[:15], b"\x1f\x8b\x08\x00" + b"\xff" * 40):
        broken.write_bytes(content)
        done = cli("winf", broken)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith(f"{broken}: found broken gzip (")
