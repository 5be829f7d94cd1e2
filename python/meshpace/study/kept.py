"""Results computed from files, kept in the user's cache folder under a digest of the files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from meshpace.files import replacing


def cache_directory() -> Path:
    """``XDG_CACHE_HOME/meshpace``, ``~/.cache/meshpace`` by default."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "meshpace"


def stamp_of(files: Iterable[Path]) -> str:
    """A digest of what the kernel knows of files, in their order: reading them would take longer than what it saves.

    Writing a file changes its time of change, which no tool sets back (stat(2), st_ctim). The hash of a tuple of
    numbers is the same in every process.

    Raises:
        OSError: one is not there.
    """
    found = (path.stat() for path in files)
    return f"{hash(tuple((stat.st_ino, stat.st_size, stat.st_ctime_ns) for stat in found)) % 2**64:016x}"


def kept(kind: str, digest: str, make: Callable[[], Any]) -> Any:
    """The result for that digest: the kept one, or one that is made now.

    A new result is kept where the folder can be written.
    """
    path = cache_directory() / kind / f"{digest}.json"
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        found = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft:
            draft.write_text(json.dumps(found), encoding="utf-8")
    except (OSError, ValueError, TypeError):
        pass  # it is made again next time
    return found
