"""What tests of `meshpace emulate` have in common: one that runs beside the test, and what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from net import run, wait_for

from meshpace.emulation import record

SERVER = """
[[node]]
id = "B"
role = "wired"

[[link]]
a = "n3"
b = "B"
rate = "10Mbps"
delay = "5ms"

[[emulate.host]]
node = "B"
"""
"""A host behind a gateway, the third hop of a chain."""

MESH = f"""\
[measure]
duration = "120s"
warmup = "0s"

[topology]
kind = "chain"
hops = 3

[routing]
protocol = "static"

[[emulate.host]]
node = "n0"
{SERVER}"""
"""Three hops, a gateway at their end, a host behind it."""


def emulate(*words: object) -> list[str]:
    return [sys.executable, "-m", "meshpace", "emulate", *map(str, words)]


def called(number: int) -> str:
    """A name for an emulation that no other test run has."""
    return f"t{os.getpid()}-{number}"


def left_behind(name: str) -> list[str]:
    """What there is of an emulation on this machine."""
    places = [Path("/run/meshpace/emulation", name), *Path("/run/netns").glob(f"mp-{name}-*")]
    places += Path("/etc/netns").glob(f"mp-{name}-*")
    found = [str(place) for place in places if place.exists()]
    links = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return found + [line for line in links.splitlines() if f"mp-{name}-" in line]


class Emulation:
    """An emulation that runs beside the test."""

    def __init__(self, folder: Path, name: str, text: str, *words: object) -> None:
        self.name = name
        scenario = folder / f"{name}.toml"
        scenario.write_text(text)
        self.process = subprocess.Popen(
            emulate(scenario, "--json", "--name", name, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_up(self) -> None:
        """Returns when hosts can talk. A Python a question would keep a processor busy: it asks what costs less."""

        def ended() -> bool:
            return self.process.poll() is not None

        def has_engine() -> bool:
            found = record.read(self.name)
            return found is not None and found.engine is not None

        def has_way() -> bool:
            return "default" in run("ip", "-n", f"mp-{self.name}-B", "-6", "route", check=False)

        wait_for(lambda: ended() or (has_engine() and has_way()), 60)
        assert not ended(), self.process.communicate()
        assert self.run("n0", "true").returncode == 0

    def run(self, host: str, *command: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """A command on a host, to its end."""
        return subprocess.run(
            self.words(host, *command), capture_output=True, text=True, timeout=100, check=False, **options
        )

    def words(self, host: str, *command: object) -> list[str]:
        return emulate("exec", "--name", self.name, host, "--", *command)

    @contextmanager
    def beside(self, host: str, *command: object) -> Iterator[subprocess.Popen[str]]:
        """A command on a host that runs beside the test."""
        with subprocess.Popen(self.words(host, *command), stdout=subprocess.PIPE, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    def result(self) -> dict[str, Any]:
        """Its result, when it has come to its end."""
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    def __enter__(self) -> Emulation:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.communicate(timeout=60)
        assert left_behind(self.name) == []
