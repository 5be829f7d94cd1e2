"""Runs by which the compiler learns which branches the engine takes (rustc book, "Profile-guided Optimization").

`make trained` builds the engine so that it counts, runs this, and builds it again by the counts. The results stay the
same bytes: the counts move and inline code, no more. The runs are scenarios of the repository, over all that shares
the engine's time: chains, crosses, grids, random and moving nodes, three routing protocols, 802.11b, g and n, and the
senders that people use. `make bench` measures on networks of its own.
"""

from __future__ import annotations

from pathlib import Path

import meshpace

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"

RUNS: tuple[tuple[str, dict[str, object]], ...] = (
    ("demo-chain.toml", {"topology.hops": 1}),
    ("demo-chain.toml", {}),
    ("demo-chain.toml", {"topology.hops": 8}),
    ("demo-chain.toml", {"radio.standard": "802.11g", "radio.rate": "54Mbps", "radio.rts": "never"}),
    ("chain-adhoc.toml", {"radio.standard": "802.11n", "radio.mcs": 4}),
    ("gap-fig10-parallel-up.toml", {}),
    ("gap-fig11-parallel-down.toml", {}),
    ("gap-fig18-cross-up.toml", {}),
    ("gap-fig21-random.toml", {"routing.protocol": "static"}),
    ("gap-fig21-random.toml", {"routing.protocol": "aodv"}),
    ("llap-grid-tcp.toml", {}),
    ("we-adhoc.toml", {"topology.nodes": 64, "flow.0.count": 32}),
)
SCHEMES = ("newreno", "tcp-gap", "linux-cubic", "calm")
SECONDS = 20


def main() -> None:
    """Runs each scenario with each scheme."""
    for file, settings in RUNS:
        for scheme in SCHEMES:
            scenario = meshpace.Scenario.load(SCENARIOS / file)
            for key, value in (*settings.items(), ("measure.duration", f"{SECONDS}s"), ("measure.warmup", "0s")):
                scenario.set(key, value)
            found = meshpace.run(scenario, scheme=scheme, seed=1)
            print(f"{file} {scheme}: {found['events']} events")


if __name__ == "__main__":
    main()
