"""What each test takes of the processors, its commands and daemons included: `pytest --processor-time=30`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_NAME = "processor_s"


class ProcessorTime:
    """Notes it for every test, fixtures included, and shows the most at the end."""

    def __init__(self, most: int) -> None:
        self.most = most

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[_BEGAN] = processor_s(os.getpid())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "teardown":
            # The report of the teardown carries it to whoever shows it, from a process of xdist's, too.
            item.user_properties.append((_NAME, processor_s(os.getpid()) - item.stash[_BEGAN]))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        taken = Counter(dict(_taken(terminalreporter.stats.values())))
        terminalreporter.section(f"processor time: {sum(taken.values()):.1f} s")
        for name, seconds in taken.most_common(self.most):
            terminalreporter.line(f"{seconds:7.2f} s  {name}")


_BEGAN = pytest.StashKey[float]()


def _taken(reports: Any) -> Iterator[tuple[str, float]]:
    for several in reports:
        for report in several:
            if getattr(report, "when", None) == "teardown":
                yield from ((report.nodeid, value) for name, value in report.user_properties if name == _NAME)


def processor_s(pid: int) -> float:
    """User and system time of a process and of all that it has started, whether they run still or not."""
    children: dict[int, list[int]] = {}
    taken: dict[int, float] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        # proc(5): fields 4 (parent), 14 to 17 (user and system time, its own and that of those it waited for).
        number = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        taken[number] = sum(map(int, fields[11:15])) / tick
    found, left = 0.0, [pid]
    while left:
        one = left.pop()
        found += taken.get(one, 0.0)
        left += children.get(one, [])
    return found
