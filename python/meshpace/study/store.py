"""The store: results by content. A folder of Parquet files, each written once, whole, and never changed.

A file's name is the SHA-256 of the keys in it. It is written beside its place, flushed to the disk and renamed, so that
after a power cut or ``kill -9`` a file is there whole or not at all. Opening a store passes over unfinished files and
deletes nothing; a file that cannot be read is reported and left where it is. Results of other engines stay as well:
their keys are others, so they are never taken for the running engine's (``fingerprint``; null in files from before
engines had one).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from meshpace.engine import Job
from meshpace.files import replacing
from meshpace.study.record import Maker, Record, question_of

RUNS = "runs"
_CLAIMS = ".claims"

_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("engine", pa.string()),
        ("fingerprint", pa.string()),
        ("scenario", pa.string()),
        ("scenario_text", pa.binary()),
        ("overrides", pa.list_(pa.string())),
        ("scheme", pa.string()),
        ("seed", pa.uint64()),
        ("emulated", pa.bool_()),
        ("formulas", pa.map_(pa.string(), pa.string())),
        ("command", pa.string()),
        ("result", pa.string()),
        ("series", pa.string()),
        ("wall_s", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A file of the store that cannot be read."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: not read, left as it is: {self.reason}"


class Store:
    """Results on disk. Several processes may read and write one store at a time."""

    def __init__(self, directory: Path) -> None:
        """Opens a store, which need not exist: it is made by the first :meth:`add`.

        Raises:
            OSError: the folder is there and cannot be read.
        """
        self.directory = directory
        self._runs = directory / RUNS
        self._where: dict[str, Path] = {}
        self._makers: Counter[Maker] = Counter()
        self._made: dict[Maker, set[Path]] = {}
        """Files with results of each engine."""
        self._seen: set[str] = set()
        self._claims: int | None = None
        self.problems: list[Problem] = []
        self.refresh()

    def __contains__(self, key: str) -> bool:
        return key in self._where

    def __len__(self) -> int:
        return len(self._where)

    def keys(self) -> Iterator[str]:
        """Every key, in no order that means anything."""
        return iter(self._where)

    def refresh(self) -> None:
        """Takes in what other processes have added."""
        if not self._runs.is_dir():
            if self.directory.exists() and not self.directory.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "a store is a folder", str(self.directory))
            return
        for name in sorted(set(os.listdir(self._runs)) - self._seen):  # noqa: PTH208 (names are all it needs)
            self._seen.add(name)
            if name.startswith(".") or not name.endswith(".parquet"):
                continue
            path = self._runs / name
            try:
                for key, maker in _heads(path):
                    self._take(key, maker, path)
            except (pa.ArrowException, OSError, KeyError) as error:
                self.problems.append(Problem(path, " ".join(str(error).splitlines())))

    def _take(self, key: str, maker: Maker, path: Path) -> None:
        if key not in self._where:
            self._where[key] = path
            self._makers[maker] += 1
            self._made.setdefault(maker, set()).add(path)

    def makers(self) -> dict[Maker, int]:
        """The engines that made what is there, and how many runs each."""
        return dict(self._makers)

    def scenarios(self, maker: Maker) -> set[bytes]:
        """The texts of the scenario files that an engine ran.

        Raises:
            OSError: a file has vanished or is damaged since the store was opened.
        """
        found: set[bytes] = set()
        for path in sorted(self._made.get(maker, ())):
            with _readable(path):
                column = pq.read_table(path, columns=["scenario_text"], page_checksum_verification=True)
            found.update(column["scenario_text"].unique().to_pylist())
        return found

    def answers(self, maker: Maker) -> dict[str, str]:
        """What an engine made: the key of its run by what was asked (:func:`question_of`).

        The keys of another engine cannot be computed: they hold its schemes' parameters.

        Raises:
            OSError: a file has vanished or is damaged since the store was opened.
        """
        found = {}
        for path in sorted(self._made.get(maker, ())):
            for record in _read(path):
                if record.maker == maker:
                    found[question_of(record.job, series=record.series is not None)] = record.key
        return found

    def add(self, records: Sequence[Record]) -> None:
        """Writes the records as one file; they are safe on the disk when this returns.

        Raises:
            OSError: the file cannot be written.
        """
        if not records:
            return
        rows = sorted(records, key=lambda record: record.key)
        name = hashlib.sha256("".join(record.key for record in rows).encode()).hexdigest()
        self._runs.mkdir(parents=True, exist_ok=True)
        path = self._runs / f"{name}.parquet"
        with replacing(path, durable=True) as draft:
            pq.write_table(_to_table(rows), draft, compression="zstd", write_page_checksum=True)
        self._seen.add(path.name)
        for record in rows:
            self._take(record.key, record.maker, path)

    def get(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records of those keys that are there.

        Raises:
            OSError: a file has vanished or is damaged since the store was opened.
        """
        wanted: dict[Path, set[str]] = {}
        for key in keys:
            if key in self._where:
                wanted.setdefault(self._where[key], set()).add(key)
        found = {}
        for path, mine in wanted.items():
            for record in _read(path):
                if record.key in mine:
                    found[record.key] = record
        return found

    def claim(self, key: str) -> bool:
        """Takes a run for this process; False if another process has it.

        A claim is a lock on one byte of a file, so it ends with the process however that ends. It spares work and
        guards nothing: two results of one key are the same.
        """
        return self._lock(key, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self, key: str) -> None:
        """Gives a claim back."""
        self._lock(key, fcntl.LOCK_UN)

    def _lock(self, key: str, operation: int) -> bool:
        if self._claims is None:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._claims = os.open(self.directory / _CLAIMS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.lockf(self._claims, operation, 1, int(key[:15], 16))
        except BlockingIOError:
            return False
        return True


def _to_table(rows: Sequence[Record]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "key": row.key,
                "engine": row.maker.version,
                "fingerprint": row.maker.fingerprint,
                "scenario": row.job.name,
                "scenario_text": row.job.text,
                "overrides": list(row.job.overrides),
                "scheme": row.job.scheme,
                "seed": row.job.seed,
                "emulated": row.job.emulated,
                "formulas": list(row.formulas),
                "command": row.job.command(),
                "result": row.result,
                "series": row.series,
                "wall_s": row.wall_s,
            }
            for row in rows
        ],
        schema=_SCHEMA,
    )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """A file's error in one line, with what to do."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).splitlines())
        raise OSError(errno.EIO, f"damaged ({reason}); delete it to have its runs made again", str(path)) from error


def _read(path: Path) -> Iterator[Record]:
    with _readable(path):
        rows = pq.read_table(path, page_checksum_verification=True).to_pylist()
    for row in rows:
        job = Job(
            row["scenario"], row["scenario_text"], tuple(row["overrides"]), row["scheme"], row["seed"],
            emulated=bool(row.get("emulated")),
        )  # fmt: skip
        maker = Maker(row["engine"], row.get("fingerprint"))
        formulas = tuple(map(tuple, row.get("formulas") or ()))
        yield Record(row["key"], job, maker, row["result"], row["series"], row["wall_s"], formulas)


def _heads(path: Path) -> list[tuple[str, Maker]]:
    """The key and the engine of every row, without reading what came out.

    Raises:
        KeyError: a column is missing that every store has.
    """
    with pq.ParquetFile(path) as file:
        there = set(file.schema_arrow.names)
        columns = file.read([name for name in ("key", "engine", "fingerprint") if name in there])
    keys, versions = columns["key"].to_pylist(), columns["engine"].to_pylist()
    prints = columns["fingerprint"].to_pylist() if "fingerprint" in there else [None] * len(keys)
    return [(key, Maker(*made)) for key, *made in zip(keys, versions, prints, strict=True)]
