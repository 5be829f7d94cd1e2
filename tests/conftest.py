"""The command line as a user calls it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commanding import CHAIN, Cli
from processor_time import ProcessorTime
from ready import Ready

if TYPE_CHECKING:
    from reported import Reported

# A shell that starts the tests in the background has SIGINT ignored in them, and in the commands that they interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--processor-time", type=int, metavar="N", help="show what tests took of the processors, the N that took most"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "takes(seconds): how long the test takes, where that is long")
    if most := config.getoption("processor_time"):
        config.pluginmanager.register(ProcessorTime(most))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the tests, the longest come first: none of them begins when all others are done."""
    if hasattr(config, "workerinput"):
        items.sort(key=seconds, reverse=True)


def seconds(item: pytest.Item) -> float:
    """How long a test says that it takes; 0 for nearly all."""
    mark = item.get_closest_marker("takes")
    return mark.args[0] if mark else 0.0


@pytest.fixture(scope="session")
def ready() -> Iterator[Ready]:
    forks = Ready()
    yield forks
    forks.end()


@pytest.fixture
def cli(tmp_path: Path, ready: Ready) -> Cli:
    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return ready.run(list(map(str, arguments)), tmp_path)

    return call


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Two hops, NewReno, four seconds."""
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN)
    return path


@pytest.fixture
def two_flows(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(CHAIN + '\n[[flow]]\nfrom = "n2"\nto = "n0"\n')
    return path


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Four short studies, run and reported."""
    from reported import make_report  # loads for a second: nine processes of the live tests do without

    return make_report(tmp_path_factory.mktemp("reported"))
