"""What is worked out from files, kept in the user's folder for such things under a hash of what it was made from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from meshpace.files import replacing


def cache_directory() -> Path:
    """``XDG_CACHE_HOME/meshpace``, ``~/.cache/meshpace`` by default."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "meshpace"


def hash_of(files: Iterable[Path]) -> str:
    """Over the names and contents of files, in their order.

    Raises:
        OSError: one cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def kept(kind: str, digest: str, make: Callable[[], Any]) -> Any:
    """What was made of what has that hash: as it is kept, or made now and kept; made, where nothing can be kept."""
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
