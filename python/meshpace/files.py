"""Files appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; takes its place at the end, vanishes on an error or interrupt.

    Raises:
        OSError: the file cannot be made; said at once, before what fills it is computed.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.touch()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
