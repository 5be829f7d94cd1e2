"""Files appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A path beside ``path`` to write to; takes its place at the end, vanishes on an error or interrupt.

    ``durable`` waits until the disk has it: after a power cut too the file is there whole or not at all.

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
        if durable:
            _flush(draft)
        draft.replace(path)
        if durable:
            _flush(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
