"""What tests of the command line have in common."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Cli = Callable[..., subprocess.CompletedProcess[str]]

CHAIN = """\
[measure]
duration = "4s"
warmup = "1s"

[topology]
kind = "chain"
hops = 2

[routing]
protocol = "static"

[defaults]
scheme = "newreno"

[[flow]]
from = "n0"
to = "n2"
"""
