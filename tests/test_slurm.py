"""docs/howto/run-on-a-cluster.md on a SLURM of one node, by Debian's slurmctld, slurmd and slurm-client."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commanding import CHAIN, Cli
from documents import ROOT, blocks
from meshpace.study.store import RUNS

HOWTO = ROOT / "docs" / "howto" / "run-on-a-cluster.md"
RECIPE = next(block.text for block in blocks(HOWTO) if block.language == "slurm sweep.slurm")
CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
"""Four processors whatever the machine has: nothing binds to them, and ``slurmd`` takes the file's word."""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, ("slurmctld", "slurmd", "sbatch", "sinfo"))),
    reason="needs root and Debian's slurmctld, slurmd and slurm-client",
)


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment in which SLURM's commands reach a cluster of this machine."""
    folder, host = tmp_path / "slurm", socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1], other.getsockname()[1]]
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(folder=folder, host=host, ports=ports) + "SlurmdParameters=config_overrides\n")
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    log = (folder / "log").open("w")
    daemons = [
        subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        for words in (["slurmctld", "-D", "-f", str(conf)], ["slurmd", "-D", "-f", str(conf), "-N", host])
    ]
    try:
        until = time.monotonic() + 60
        while "idle" not in _said(environment, "sinfo", "--noheader", "--format=%T"):
            assert time.monotonic() < until, (folder / "log").read_text()
            time.sleep(0.2)
        yield environment
    finally:
        _said(environment, "scancel", "--user=root")
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(timeout=30)
        log.close()


def _said(environment: dict[str, str], *words: str) -> str:
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False).stdout


def test_an_array_shares_the_runs(slurm: dict[str, str], cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(CHAIN)
    (tmp_path / "sweep.slurm").write_text(RECIPE.replace("--seeds 10", "--seeds 10 --json"))
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "meshpace").write_text(f'#!/bin/sh\nexec {sys.executable} -m meshpace "$@"\n')
    (bin_folder / "meshpace").chmod(0o755)
    environment = {**slurm, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sbatch", "--wait", "sweep.slurm"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    printed = sorted(tmp_path.glob("slurm-*.out"))
    assert done.returncode == 0, (done.stderr, [path.read_text() for path in printed])
    assert len(printed) == 4
    keys = [
        key for path in (tmp_path / "store" / RUNS).glob("*.parquet") for key in pq.read_table(path)["key"].to_pylist()
    ]
    assert len(keys) == len(set(keys)) == 2 * 2 * 10, "each run is made by one task"
    line = RECIPE.splitlines()[-1].removeprefix("exec meshpace ").partition(" --threads")[0]
    words = [*line.split(), "--csv"]
    assert cli(*words, "cluster.csv").returncode == 0
    assert cli(*words, "here.csv", "--store", "here").returncode == 0
    assert (tmp_path / "cluster.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
