"""Files as they are handed over: from standard input, through a pipe, with gzip around them, perhaps cut off."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from meshpace.cli.failure import InputError

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 14
# Unpacked at a time: of what comes before broken bytes no more than this is lost.
_PIECE = 1 << 12


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, str | None]]:
    """A file that can be read from its beginning, and what broke off around it.

    ``-`` is standard input. What is no plain file is copied to one.

    Raises:
        InputError: it has gzip around it, and nothing could be unpacked.
        OSError: it cannot be read.
    """
    if str(path) == "-":
        yield from _copied(sys.stdin.buffer, "standard input")
        return
    with path.open("rb") as file:
        # What can be read only once must not be looked into.
        if path.is_file() and file.peek(2)[:2] != _GZIP:
            yield path, None
        else:
            yield from _copied(file, str(path))


def _copied(source: BinaryIO, name: str) -> Iterator[tuple[Path, str | None]]:
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        with plain.open("wb") as target:
            broken = _unpack(source, target)
        if broken is not None and plain.stat().st_size == 0:
            raise InputError(f"{name}: found broken gzip ({broken}); allowed: a whole file")
        yield plain, broken and f"the gzip around it is broken ({broken})"


def _unpack(source: BinaryIO, target: BinaryIO) -> str | None:
    """Copies, without gzip if there is any, as far as that goes; what is broken about it."""
    chunk = source.read(_CHUNK)
    if chunk[:2] != _GZIP:
        while chunk:
            target.write(chunk)
            chunk = source.read(_CHUNK)
        return None
    member = None
    try:
        while chunk:
            # Several members may follow each other, and zeros the last one (RFC 1952, section 2.2; gzip(1)).
            if member is None and not (chunk := chunk.lstrip(b"\0")):
                chunk = source.read(_CHUNK)
                continue
            member = member or zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            target.write(member.decompress(chunk, _PIECE))
            chunk, member = (member.unused_data, None) if member.eof else (member.unconsumed_tail, member)
            chunk = chunk or source.read(_CHUNK)
        if member is not None:
            target.write(member.flush())
            member = None if member.eof else member
    except zlib.error as error:
        return str(error)
    return None if member is None else "it ends too early"
