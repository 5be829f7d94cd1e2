"""One question to a daemon's control socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from clock import PATIENCE_S


def ask(path: Path, command: str, **arguments: Any) -> dict[str, Any]:
    """The answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.settimeout(PATIENCE_S)
        control.connect(str(path))
        control.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            more = control.recv(1 << 20)
            if not more:
                raise ConnectionError(f"the daemon closed the connection after {answer!r}")
            answer += more
    return dict(json.loads(answer))
