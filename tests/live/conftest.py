"""What the live tests need: root, network namespaces, the built daemon and relay."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from net import Net

NEEDED = ("ip", "nft", "iptables", "sysctl")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without root or the tools nothing here can run, and a skipped test says why."""
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    why = None
    if os.geteuid() != 0:
        why = "needs root: network namespaces, firewall rules"
    elif missing:
        why = f"needs {', '.join(missing)} (Debian: iproute2 nftables iptables procps)"
    if why is None:
        return
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Net]:
    """A client, a gateway and a server."""
    with Net(tmp_path) as made:
        yield made
