"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from meshpace.errors import MendableError


class SameFileError(MendableError):
    """A file would be written over what a command reads, or over another that it writes."""


def distinct(written: Mapping[str, Path | None], read: Iterable[Path]) -> None:
    """Looks whether every file that is written is another one, and none that is read.

    ``written`` has them by their options.

    Raises:
        SameFileError: two are the same file.
    """
    taken = {path.resolve(): "this command reads" for path in read}
    for option, path in written.items():
        if path is None:
            continue
        if (there := path.resolve()) in taken:
            raise SameFileError(f"{option}: found {path}, which {taken[there]}; allowed: another file")
        taken[there] = f"{option} writes"


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A path beside ``path`` to write to; takes its place at the end, vanishes on an error or interrupt.

    ``durable`` waits until the disk has it: after a power cut too the file is there whole or not at all.

    Raises:
        OSError: the file cannot be made; said at once, before what fills it is computed.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
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
