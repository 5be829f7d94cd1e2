"""The TCP-AP authors' ns-2 agent of 2005 beside ours: what it paces by, read in both as time goes.

    bench/ns2_agent.py SCENARIO --library libap.so [--seeds N] [--set KEY.PATH=VALUE ...]

The agent is no part of Debian's ns2 and none of this project's. Its source, tcp/tcp-ap.cc and tcp-ap.h, is public
(docs/schemes.md, section 20); `ns` loads it as a library that is compiled against the headers of ns-2.35 (Debian's
source package, with an autoconf.h from its configure) and of libtclcl1-dev, libotcl1-dev and tcl8.6-dev:

    printf '#include "tcp-ap.cc"\\nextern "C" int Ap_Init(Tcl_Interp*) { return TCL_OK; }\\n' > ap.cc
    g++ -O2 -fPIC -shared -fpermissive -w -DUSE_INTERP_RESULT -DTCP_DELAY_BIND_ALL -DTCLCL_CLASSINSTVAR -DNDEBUG \\
      -DHAVE_LIBTCLCL -DHAVE_TCLCL_H -DHAVE_LIBOTCL1_13 -DHAVE_OTCL_H \\
      -I. $(find ns-2.35 -maxdepth 2 -type d -printf '-I%p ') -I/usr/include/tclcl -I/usr/include/tcl8.6 \\
      ap.cc -o libap.so

Of each run and flow three numbers every 0.25 s of the measured part: the interval that the agent's timer was last armed
with, what its law says at that time, smoothed delay times (1 + 2 deviations), and that delay. Ours has the law's as a
time mean and the delay as a mean over acknowledgements.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from compare import markdown
from meshpace import engine
from meshpace.engine import Job
from meshpace.ns2.express import express
from meshpace.ns2.script import write_script

SCHEME = "tcp-ap-ns2-2005"
_SEED = "set seed [lindex $argv 0]"
_SAMPLED = "set ticks [$src($i) set rtt_]"


@dataclass(frozen=True, slots=True)
class Flow:
    """What a flow of one run came to; times in ms."""

    armed: float | None
    """The interval that its timer was armed with; None of ours, which tells the law's alone."""
    law: float
    delay: float
    """Smoothed, of the hops that packets keep apart."""
    goodput_kbps: float
    timeouts: float


def with_agent(script: str, library: Path, rate_bps: float) -> str:
    """A script of NewReno's with the authors' agent in its place, which prints what it paces by."""
    for there in ("Agent/TCP/Newreno]", _SEED, _SAMPLED):
        assert there in script, there
    defaults = {
        "n_factor_": 4, "rate_interval_": 0.05, "n_hop_delay_": 0.0, "avg_n_hop_delay_": 0.0, "coeff_var_": 0.0,
        "adev_": 0.0, "history_": 50, "delaybound_": 0.5, "alpha_": 0.7, "ll_bandwidth_": f"{rate_bps:.0f}",
    }  # fmt: skip
    loaded = [f"load {{{library}}}", *(f"Agent/TCP/Newreno/AP set {key} {value}" for key, value in defaults.items())]
    told = 'puts "paced $i [$src($i) set rate_interval_] [$src($i) set avg_n_hop_delay_] [$src($i) set adev_]"'
    script = script.replace("Agent/TCP/Newreno]", "Agent/TCP/Newreno/AP]")
    script = script.replace(_SEED, "\n".join([*loaded, _SEED]), 1)
    return script.replace(_SAMPLED, f"{told}\n        {_SAMPLED}", 1)


def flows_of(output: Iterable[str], segment: int, measured_s: float) -> list[Flow]:
    """The flows of a run of ns-2 by what it printed."""
    paced: dict[int, list[tuple[float, ...]]] = {}
    counted: dict[tuple[str, int], list[float]] = {}
    for line in output:
        word, *numbers = line.split() or [""]
        if word == "paced":
            paced.setdefault(int(numbers[0]), []).append(tuple(map(float, numbers[1:])))
        elif word in ("begin", "end"):
            counted[word, int(numbers[0])] = [float(one) for one in numbers[1:]]
    found = []
    for flow, samples in sorted(paced.items()):
        bytes_, _, _, timeouts = (b - a for a, b in zip(counted["begin", flow], counted["end", flow], strict=True))
        goodput = bytes_ * segment / (segment + 40) * 8 / measured_s / 1e3  # its sink counts headers of 40 bytes
        armed, delay = (1e3 * fmean(sample[at] for sample in samples) for at in (0, 1))
        law = 1e3 * fmean(delay_s * (1 + 2 * deviation) for _, delay_s, deviation in samples)
        found.append(Flow(armed, law, delay, goodput, timeouts))
    return found


def theirs(job: Job, library: Path) -> list[Flow]:
    """A run of the authors' agent in ns-2."""
    resolved = engine.resolve(job)
    script = write_script(express(job._replace(scheme="newreno")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.tcl"
        path.write_text(with_agent(script, library.resolve(), resolved["radio"]["rate_bps"]), encoding="utf-8")
        done = subprocess.run(["ns", path, str(job.seed)], capture_output=True, text=True, check=True)
    measured_s = resolved["measure"]["duration_s"] - resolved["measure"]["warmup_s"]
    return flows_of(done.stdout.splitlines(), resolved["flows"][0]["segment"], measured_s)


def ours(job: Job) -> list[Flow]:
    """A run of ours."""
    (run,) = engine.run_many([job], 1)
    found = []
    for flow in run["flows"]:
        law_s, delay_s = flow["pacing_interval_s"] or 0.0, flow["khd_acks_s"] or 0.0
        found.append(Flow(None, 1e3 * law_s, 1e3 * delay_s, flow["goodput_bps"] / 1e3, flow["timeouts"]))
    return found


def row(name: str, flows: Sequence[Flow]) -> list[str]:
    """The means over flows and runs."""
    armed = [flow.armed for flow in flows if flow.armed is not None]
    return [
        name, f"{fmean(armed):.1f}" if armed else "", *(
            f"{fmean(getattr(flow, key) for flow in flows):.1f}" for key in ("law", "delay", "goodput_kbps", "timeouts")
        ),
    ]  # fmt: skip


def main() -> None:
    """Runs both, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", type=Path)
    parser.add_argument("--library", type=Path, required=True, help="the agent, compiled")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--set", action="append", default=[], metavar="KEY.PATH=VALUE")
    given = parser.parse_args()
    if not given.library.is_file():
        parser.error(f"--library: found no {given.library}; see --help")
    job = Job(str(given.scenario), given.scenario.read_bytes(), tuple(given.set), SCHEME, 1)
    both: tuple[list[Flow], list[Flow]] = ([], [])
    for seed in range(1, given.seeds + 1):
        both[0].extend(theirs(job._replace(seed=seed), given.library))
        both[1].extend(ours(job._replace(seed=seed)))
        print(f"seed {seed}", file=sys.stderr, flush=True)
    heads = ["agent", "armed, ms", "law, ms", "delay, ms", "goodput, kbit/s", "timeouts"]
    print(markdown([heads, row("the authors', ns-2", both[0]), row("ours", both[1])]))


if __name__ == "__main__":
    main()
