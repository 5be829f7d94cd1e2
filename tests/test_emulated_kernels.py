"""The benchmark of this kernel's senders over emulated meshes: what it keeps, what it reads, what it fetches."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import emulated_files
import emulated_kernels
import emulated_senders
import meshpace
from emulated_cells import Cell, scenario
from emulated_runs import Run, Store
from test_emulated_flow import free_port

SS = (
    "0 0 10.77.0.2:5301 10.77.0.6:40202 cubic wscale:7,7 rto:344 rtt:143.2/9.5 ato:40 mss:1448 pmtu:1500 rcvmss:536 "
    "advmss:1448 cwnd:52 ssthresh:41 bytes_sent:1998240 bytes_acked:1922945 segs_out:1382"
)
BBR = " bbr:(bw:912.4Kbps,mrtt:12.5,pacing_gain:1,cwnd_gain:2) send 3.1Mbps"


def result(share_late: float, valid: bool) -> dict[str, Any]:
    return {"lateness": {"share_late": share_late, "valid": valid}}


def test_what_a_folder_has_is_not_made_again_and_what_was_late_is(tmp_path: Path) -> None:
    made = []

    def run(name: str, *results: dict[str, Any] | str) -> Run:
        left = list(results)

        def make() -> dict[str, Any] | str:
            made.append(name)
            return left.pop(0)

        return Run(name, make, lambda found: f"{found['lateness']['share_late']}")

    runs = [
        run("timely", result(0.0, True)),
        run("late", result(0.1, False), result(0.2, False), result(0.3, False)),
        run("once", result(0.1, False), result(0.0, True)),
        run("broken", "no mesh", "no mesh", "no mesh"),
    ]
    store = Store(tmp_path / "runs", 3)
    store.make(runs, 1)
    assert [made.count(name) for name in ("timely", "late", "once", "broken")] == [1, 3, 2, 3]
    assert store.read("late") == result(0.3, False)
    assert store.read("once") == result(0.0, True)
    assert store.read("broken") is None
    assert store.account(runs) == "3 runs; 2 of them had been late and were made again, 1 still were."
    store.make(runs[:3], 1)
    assert len(made) == 9


def test_a_result_of_no_use_is_not_kept(tmp_path: Path) -> None:
    def useless(_: dict[str, Any]) -> str:
        raise ValueError("an end was late to begin")

    store = Store(tmp_path, 1)
    store.make([Run("useless", lambda: result(0.0, True), useless)], 1)
    assert store.read("useless") is None


def test_files_come_one_after_another_with_their_times(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    with ThreadPoolExecutor(2) as pool:
        pool.submit(emulated_files.serve, port, "reno", 3)
        pool.submit(emulated_files.fetch, "127.0.0.1", port, "reno", 3).result()
    files = emulated_files.fetched(capsys.readouterr().out + "7.000 20000")
    assert [file.size for file in files] == [20_000, 100_000, 20_000]
    assert all(0 < file.took_s < 5 for file in files)
    assert files[0].began_s <= files[1].began_s <= files[2].began_s


def test_what_ss_says_is_read() -> None:
    look = emulated_senders.parsed(1.5, SS)
    assert look == (1.5, 52, 41, 143.2, 9.5, 344.0, None, None)
    look = emulated_senders.parsed(0.0, SS.replace("ssthresh:41 ", "") + BBR)
    assert (look.ssthresh, look.bbr_bps, look.bbr_least_ms) == (None, 912_400.0, 12.5)
    assert [emulated_senders.bits(text) for text in ("850", "1.5K", "2M", "1G")] == [850, 1_500, 2e6, 1e9]


def test_a_sender_is_seen_from_its_first_look_on() -> None:
    count = dict.fromkeys(emulated_senders.COUNTERS, 0)
    lines = [[0.1, count, ""], [0.3, count, SS], [0.4, count | {"TCPLossProbes": 2}, SS]]
    said = "".join(f"{json.dumps(line)}\n" for line in lines) + "[0.5, {"
    seen, counts = emulated_senders.looks(said)
    assert [look.at_s for look in seen] == [0, pytest.approx(0.1)]
    assert counts["TCPLossProbes"] == 2
    assert emulated_senders.counters().keys() == count.keys()


@pytest.mark.parametrize("table", emulated_kernels.TABLES)
def test_every_mesh_of_a_table_can_be_read(table: str, tmp_path: Path) -> None:
    for cell in emulated_kernels.cells(table, ["cubic", "calm"]):
        text = scenario(cell, tmp_path, Path("meshpaced"))
        hosts = meshpace.Scenario(text).resolve(1)["emulated_hosts"]
        edges = [host for host in hosts if " edge --config " in (host["run"] or "")]
        assert bool(edges) == (cell.thin is not None), cell


def test_names_of_runs_tell_them_apart() -> None:
    all_ = [
        cell.name(1) for table in emulated_kernels.TABLES for cell in emulated_kernels.cells(table, ["reno", "calm"])
    ]
    distinct = {cell for table in emulated_kernels.TABLES for cell in emulated_kernels.cells(table, ["reno", "calm"])}
    assert len(set(all_)) == len(distinct)
    assert Cell("4 hops", ("calm", "cubic"), 16).name(2) == "4-hops-calm-cubic-thin-2"
