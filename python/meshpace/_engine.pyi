"""The engine, compiled from crates/python."""

from collections.abc import Callable

class ScenarioError(ValueError):
    """A scenario cannot be run; one message that names file, line, key, what was found and what is allowed."""

_Job = tuple[str, bytes, list[str], str | None, int]

def version() -> str: ...
def schemes() -> str: ...
def schema() -> str: ...
def resolve(name: str, text: bytes, overrides: list[str], scheme: str | None, seed: int) -> str: ...
def run(
    name: str,
    text: bytes,
    overrides: list[str],
    scheme: str | None,
    seed: int,
    trace: bool,
    pcap: str | None,
    progress: Callable[[int], None] | None,
) -> tuple[str, dict[str, bytes | list[str]] | None]: ...
def run_many(jobs: list[_Job], threads: int | None, progress: Callable[[int], None] | None) -> list[str]: ...
