"""`make soak`: exact times on this machine, a gateway for an hour, then the suites again and again, every other time on
busy processors.

What `make test` leaves out because the machine's clock decides it: lateness, start-up, fail-over in seconds, bursts
(exact: tests/live, with MESHPACE_EXACT_TIMES=1; the machine should be quiet). What only time finds: leaks, connections
lost once in a thousand faults (gateway: tests/live/soak_gateway.py). And what only repetition finds: races (rounds).
Property tests draw new cases in every round. The last line counts as that of `make test` does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from everything import BIN, Outcome, Part, run, summary

PARTS = ("exact", "gateway", "rounds")


@contextmanager
def busy_processors() -> Iterator[None]:
    """Keeps every processor busy."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def rounds(count: int) -> Iterator[Outcome]:
    """What becomes of each suite in each round."""
    for number in range(1, count + 1):
        busy = number % 2 == 0
        which = f"{number}, busy" if busy else str(number)
        suites = (
            Part(f"cargo test {which}", ("cargo", "test", "--no-fail-fast", "--quiet")),
            Part(f"pytest {which}", (BIN / "pytest", "-rfE")),
        )
        for suite in suites:
            if busy:
                with busy_processors():
                    yield run(suite)
            else:
                yield run(suite)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests/soak.py", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=10, help="of both suites (default: 10)")
    parser.add_argument("--seconds", type=int, default=3600, help="of the gateway (default: 3600)")
    asked = parser.parse_args(arguments)
    for part in asked.parts:
        if part not in PARTS:
            parser.error(f"{part!r} is no part; allowed: {', '.join(PARTS)}")
    chosen = asked.parts or PARTS
    outcomes = []
    if "exact" in chosen:
        exact = Part("exact times", (BIN / "pytest", "-rfE", "tests/live"), environment={"MESHPACE_EXACT_TIMES": "1"})
        outcomes.append(run(exact))
    if "gateway" in chosen:
        gateway = (BIN / "python", "tests/live/soak_gateway.py", "--seconds", str(asked.seconds))
        outcomes.append(run(Part("gateway", gateway)))
    if "rounds" in chosen:
        outcomes += rounds(asked.rounds)
    print(summary(outcomes), flush=True)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
