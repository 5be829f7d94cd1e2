"""`meshpace winf`: captures of the simulator, whose truth is known, of Linux's simulated radios, and broken ones."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commanding import Cli

HWSIM = Path(__file__).parent / "fixtures" / "monitor" / "hwsim-mesh.pcap.gz"

PACKET_BYTES = 1028
"""Of a datagram of 1,000 bytes."""


@dataclass(frozen=True)
class Air:
    """Times on the air by closed forms, microseconds: schemes.md 17.2 (802.11b, long preambles) and 17.3 (802.11a)."""

    standard: str
    mbps: float

    def frame(self, size: int, mbps: float) -> float:
        if self.standard == "802.11b":
            return 192 + 8 * size / mbps
        return 20 + 4 * math.ceil((16 + 8 * size + 6) / (4 * mbps))

    @property
    def sifs(self) -> float:
        return 10 if self.standard == "802.11b" else 16

    @property
    def control(self) -> float:
        """Rate of RTS, CTS and acknowledgement."""
        return 1 if self.standard == "802.11b" else max(rate for rate in (6, 12, 24) if rate <= self.mbps)

    @property
    def mpdu(self) -> int:
        """34 bytes around the packet as in ns-2, 28 with OFDM; a capture's data frames have 36."""
        return PACKET_BYTES + (34 if self.standard == "802.11b" else 28)

    @property
    def capacity(self) -> float:
        return self.mpdu * 8 / (self.frame(self.mpdu, self.mbps) + self.frame(14, self.control)) * 1e6

    @property
    def exchange(self) -> float:
        """RTS, CTS, data, acknowledgement, and between them pauses and the way of 200 m."""
        control = self.frame(20, self.control) + 2 * self.frame(14, self.control)
        return control + self.frame(self.mpdu, self.mbps) + 3 * (self.sifs + 200 / 299.792458)


B11 = Air("802.11b", 11)

SCENARIO = """\
[measure]
duration = "10s"
warmup = 0
[radio]
standard = "{standard}"
rate = "{rate}Mbps"
basic_rate = "{basic}Mbps"
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


def captured(cli: Cli, folder: Path, load_bps: int, rts: str = "always", air: Air = B11) -> Path:
    scenario, capture = folder / "one-hop.toml", folder / "air.pcapng"
    rates = {"standard": air.standard, "rate": air.mbps, "basic": air.control}
    scenario.write_text(SCENARIO.format(load=load_bps, rts=rts, **rates))
    done = cli("run", scenario, "--pcap", capture)
    assert done.returncode == 0, done.stderr
    return capture


def measured(cli: Cli, capture: Path, *options: object) -> dict[str, Any]:
    done = cli("winf", capture, "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("share", [0.1, 0.45, 0.75])
@pytest.mark.parametrize(
    "air", [Air("802.11b", 1), Air("802.11b", 5.5), B11, Air("802.11a", 6), Air("802.11a", 54)], ids=str
)
def test_a_simulated_link_is_measured_as_the_closed_forms_have_it(
    cli: Cli, tmp_path: Path, air: Air, share: float
) -> None:
    # So that exchanges take that share of the time.
    load_bps = round(share / air.exchange * 1e6 * 8000)
    found = measured(cli, captured(cli, tmp_path, load_bps, air=air))
    (link,) = found["links"]
    assert (link["from"], link["to"]) == ("02:6d:70:00:00:01", "02:6d:70:00:00:02")
    assert link["samples"] == pytest.approx(load_bps / 8000 * 10, abs=2)
    errors = {
        "capacity": link["capacity_bps"] / air.capacity - 1,
        "available": link["available_bps"] / (air.capacity * (1 - share)) - 1,
    }
    print(air, share, {name: f"{error:+.2%}" for name, error in errors.items()})
    # Up to 8 bytes of 1,056 more are in the file than were on the air, in whole symbols.
    assert 0 < errors["capacity"] < 0.008
    assert abs(errors["available"] - errors["capacity"]) < 0.001
    assert found["busy_share"] == pytest.approx(share, abs=0.001)
    assert (found["schema"], found["partial"], found["clock"]) == (1, None, "file")


def test_without_rts_the_capacity_is_the_same(cli: Cli, tmp_path: Path) -> None:
    (link,) = measured(cli, captured(cli, tmp_path, 400_000, rts="never"))["links"]
    assert link["capacity_bps"] == pytest.approx(B11.capacity, rel=0.003)


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
