"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Container, Iterable, Iterator, Mapping
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

    A symbolic link stays one, to a new file. A device or a pipe (``/dev/null``, ``/dev/stdout``, ``>(gzip)``) is
    written to at the end. ``durable`` waits until the disk has it: after a power cut too the file is there whole or not
    at all.

    Raises:
        OSError: the file cannot be made; said at once, before what fills it is computed. Or the disk is full.
    """
    with _named(path, _FULL):
        _refuse_folder(path)
        if _is_a_stream(path):
            # Imported here: both take longer than all else that most commands import.
            import shutil
            from tempfile import TemporaryDirectory

            with TemporaryDirectory() as folder:
                draft = Path(folder, path.name)
                draft.touch()
                yield draft
                with draft.open("rb") as whole, path.open("wb") as stream:
                    shutil.copyfileobj(whole, stream)
            return
        target = path.resolve()
        draft = _draft_beside(target, path)
        try:
            yield draft
            if durable:
                _flush(draft)
            draft.replace(target)
            if durable:
                _flush(target.parent)
        finally:
            draft.unlink(missing_ok=True)


def try_out(*paths: Path | None) -> None:
    """Looks whether files can be made that :func:`replacing` makes after what may take hours.

    Raises:
        OSError: one cannot.
    """
    for path in paths:
        if path is None:
            continue
        _refuse_folder(path)
        if not _is_a_stream(path):
            _draft_beside(path.resolve(), path).unlink()


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _draft_beside(target: Path, asked: Path) -> Path:
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    with _named(asked):
        draft.touch()
    return draft


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _named(path: Path, numbers: Container[int] | None = None) -> Iterator[None]:
    """Errors of the system name the file that was asked for: all, or those of some numbers that name none."""
    try:
        yield
    except OSError as error:
        other = numbers is not None and (error.errno not in numbers or error.filename is not None)
        if error.errno is None or other:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def _is_a_stream(path: Path) -> bool:
    """True of what cannot be replaced by a file: devices and pipes, and open files by their number."""
    # /dev/stdout may lead to a file, which is open and stays so.
    return path.exists() and (not path.is_file() or path.parent in _OPEN_FILES)


_OPEN_FILES = {Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd")}


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
